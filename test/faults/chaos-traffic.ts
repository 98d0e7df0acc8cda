// What people, clients and administrators do during the faults of chaos.ts; each acknowledged result is remembered.
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { adminApi } from '../../src/people/rbac/built-in.ts';
import { type Application, anApplication, authorizeUrl, basic, completeSignIn, postAs } from '../oidc/support.ts';
import { aLiveSp, answerIn, type LiveSp, redirect } from '../saml/live.ts';
import { aUser, type TestUser } from '../support/factories.ts';
import { httpClient, type Page } from '../support/http.ts';
import type { TestIdp } from '../support/idp.ts';
import { fromAnywhere, type Life, newTally, refreshUntil, signInSomehow, untilAnswered, type World } from './person.ts';

const CHAINS = 3;

export interface Acknowledged {
  users: string[];
  tokens: { token: string; at: number }[];
  signedOut: Life[];
  assertions: number;
}

export interface Traffic {
  world: World;
  acknowledged: Acknowledged;
  /** What failed and was not answered by a repetition. */
  broken: string[];
  end(): Promise<void>;
  /** What was acknowledged and is not there. */
  lost(): Promise<string[]>;
}

/** Registers what the traffic needs, signs people in, and goes on until `end`. */
export async function startTraffic(idp: TestIdp): Promise<Traffic> {
  const { services } = idp;
  const app = await anApplication(idp);
  const resource = adminApi(idp.issuer);
  const service = await anApplication(idp, {
    redirect_uris: [],
    grant_types: ['client_credentials'],
    resources: [resource],
    scope: 'admin:*',
  });
  const sp = await aLiveSp(idp);
  const world: World = { idp, app, tally: newTally() };
  const acknowledged: Acknowledged = { users: [], tokens: [], signedOut: [], assertions: 0 };
  const { broken } = world.tally;
  let isOver = false;
  const until = (what: string, send: () => Promise<Page>) => untilAnswered(world.tally, what, send);
  const adminToken = async () => {
    const form = { grant_type: 'client_credentials', resource, scope: 'admin:*' };
    const page = await until('admin token', () => postAs(idp, service, '/token', form));
    if (page.status !== 200) throw new Error(`admin token: ${page.status} ${page.text}`);
    return { authorization: `Bearer ${page.json().access_token}` };
  };
  const people: TestUser[] = [];
  for (let count = 0; count < CHAINS + 3; count += 1) people.push(await aUser(services));
  const lives = await Promise.all(people.slice(0, CHAINS).map((user) => signInSomehow(world, user)));
  const [one, another, samlUser] = people.slice(CHAINS) as [TestUser, TestUser, TestUser];

  /** Repeats `work` until the end; an error that is not an outage is reported, and the lane goes on. */
  const lane = async (name: string, work: () => Promise<void>) => {
    while (!isOver) {
      await work().catch(
        (error: unknown) => void broken.push(`${name}: ${error instanceof Error ? error.message : error}`),
      );
      await sleep(100);
    }
  };
  const running = Promise.all([
    ...lives.map((life) => refreshUntil(world, life, () => isOver)),
    lane('sign-in', async () => void (await signInSomehow(world, one))),
    lane('token', async () => {
      const page = await until('token', () => postAs(idp, service, '/token', { grant_type: 'client_credentials' }));
      if (page.status !== 200) throw new Error(`${page.status} ${page.text}`);
      acknowledged.tokens.push({ token: String(page.json().access_token), at: performance.now() });
      await sleep(500);
    }),
    lane('user', async () => {
      const headers = await adminToken();
      for (let count = 0; count < 10 && !isOver; count += 1) {
        const username = `u-${randomUUID()}`;
        const send = () =>
          httpClient(idp.issuer).post('/api/admin/users', {
            json: { username },
            headers: { ...headers, accept: '*/*', 'idempotency-key': username },
          });
        const page = await until('user', send);
        // A first try whose answer was lost may be at work still (409), or the token may have expired (401).
        if (page.status === 201) acknowledged.users.push(String(page.json().id));
        else if (page.status !== 409 && page.status !== 401) throw new Error(`${page.status} ${page.text}`);
        await sleep(300);
      }
    }),
    lane('sign-out', async () => {
      const life = await signInSomehow(world, another);
      const headers = await adminToken();
      const address = `/api/admin/users/${another.account.id}/sessions`;
      const page = await until('sign-out', () => httpClient(idp.issuer).request('DELETE', address, { headers }));
      if (page.status < 300) acknowledged.signedOut.push(life);
      else if (page.status !== 401) throw new Error(`${page.status} ${page.text}`);
      await sleep(1000);
    }),
    lane('saml', async () => void (await assertion(idp, app, sp, samlUser, acknowledged, () => isOver))),
  ]);

  return {
    world,
    acknowledged,
    broken,
    async end() {
      isOver = true;
      await running;
    },
    async lost() {
      const lost: string[] = [];
      const headers = await adminToken();
      for (const id of acknowledged.users) {
        const page = await until('read', () => httpClient(idp.issuer).get(`/api/admin/users/${id}`, { headers }));
        if (page.status !== 200) lost.push(`user ${id}: ${page.status}`);
      }
      const introspection = (token: string) => {
        const asApp = { authorization: basic(service.clientId, service.clientSecret) };
        return until('introspect', () =>
          httpClient(idp.issuer).post('/introspect', { form: { token }, headers: asApp }),
        );
      };
      const young = acknowledged.tokens.filter(({ at }) => performance.now() - at < 5 * 60_000);
      for (const { token } of young) {
        const page = await introspection(token);
        if (page.json().active !== true) lost.push(`a token: ${page.status} ${page.text}`);
      }
      for (const { refreshToken } of acknowledged.signedOut) {
        const form = { grant_type: 'refresh_token', refresh_token: refreshToken };
        const page = await until('refresh', () => postAs(idp, app, '/token', form));
        if (page.json().error !== 'invalid_grant') lost.push(`a sign-out: ${page.status} ${page.text}`);
      }
      for (const { refreshToken } of lives) {
        const form = { grant_type: 'refresh_token', refresh_token: refreshToken };
        const page = await until('refresh', () => postAs(idp, app, '/token', form));
        if (page.status !== 200) lost.push(`a chain of refresh tokens: ${page.text}`);
      }
      return lost;
    },
  };
}

/** A few SAML sign-ins of a person with a session. */
async function assertion(
  idp: TestIdp,
  app: Application,
  sp: LiveSp,
  user: TestUser,
  acknowledged: Acknowledged,
  isOver: () => boolean,
): Promise<void> {
  const browser = httpClient(idp.issuer, { headers: fromAnywhere() });
  await completeSignIn(browser, authorizeUrl(idp, app.clientId), { user }).catch(() => undefined);
  for (let count = 0; count < 10 && !isOver(); count += 1) {
    const page = await redirect(browser, sp.request(), { key: sp.credential })
      .then((begun) => browser.follow(begun))
      .catch(() => undefined);
    if (page && answerIn(page)?.includes('status:Success')) acknowledged.assertions += 1;
    else if (count === 0) await sleep(500);
    await sleep(300);
  }
}
