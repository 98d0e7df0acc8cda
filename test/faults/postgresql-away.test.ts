// Two nodes on a PostgreSQL of its own that is frozen (SIGSTOP), killed and out of reach for one of them, with the time limits of production.
// The drivers of this folder do the same for longer and under load.
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { limits } from '../../src/base/limits.ts';
import { type Application, anApplication, authorizeUrl, postAs, signIn } from '../oidc/support.ts';
import { databaseKind } from '../support/database/database.ts';
import { aUser } from '../support/factories.ts';
import { type HttpClient, httpClient } from '../support/http.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';
import { openWebsite, type Website, website } from '../support/website.ts';
import { type PostgresProcess, postgresProcess } from './postgres-process.ts';
import { type TcpProxy, tcpProxy } from './tcp-proxy.ts';

const ANSWER_MS = 10_000;
const RECOVERY_MS = 15_000;
const FROZEN_MS = 6000;

interface Node {
  idp: TestIdp;
  app: Application;
  browser: HttpClient;
  /** Behind a proxy that asks this node; the browser is signed in there. */
  site: Website;
  accessToken: string;
  refreshToken: string;
}
interface Answer {
  name: string;
  status: number;
  hasRetryAfter: boolean;
  ms: number;
}

describe.runIf(databaseKind() === 'postgresql')('PostgreSQL', () => {
  let postgres: PostgresProcess;
  let proxy: TcpProxy;
  let near: Node;
  /** Its way to the database is the proxy. */
  let far: Node;

  beforeAll(async () => {
    postgres = await postgresProcess();
    await postgres.start();
    proxy = await tcpProxy(postgres.port);
    near = await aNode(postgres.url(postgres.port));
    far = await aNode(postgres.url(proxy.port));
  });
  afterAll(async () => {
    await Promise.all([near, far].flatMap((node) => [node?.site.close(), node?.idp.stop()]));
    await proxy?.close();
    await postgres?.remove();
  });

  async function aNode(DATABASE_URL: string): Promise<Node> {
    const idp = await startIdp({ environment: { DATABASE_URL }, databaseLimits: limits.database });
    const app = await anApplication(idp);
    const browser = httpClient(idp.issuer);
    const scope = { scope: 'openid offline_access', prompt: 'consent' };
    const user = await aUser(idp.services);
    const { tokens } = await signIn(browser, app, user, scope);
    const site = await website('caddy', () => idp.issuer, ['Remote-User']);
    const paths = [{ path: '/public/', rule: 'public' as const }];
    await idp.services.applications.createProxied({ name: site.origin, url: site.origin, proxy: 'caddy', paths });
    expect((await openWebsite(browser, site.origin, '/', user)).status).toBe(200);
    return { idp, app, browser, site, accessToken: tokens.access_token, refreshToken: String(tokens.refresh_token) };
  }

  /** One request of each kind, at the same time. */
  function ask(node: Node): Promise<Answer[]> {
    const { idp, app, browser, site, accessToken, refreshToken } = node;
    const client = httpClient(idp.issuer);
    const requests = {
      website: () => browser.get(`${site.origin}/`),
      publicPage: () => client.get(`${site.origin}/public/`),
      visitor: () => client.get(`${site.origin}/`),
      readyz: () => client.get('/readyz'),
      userinfo: () => client.get('/userinfo', { headers: { authorization: `Bearer ${accessToken}`, accept: '*/*' } }),
      introspection: () => postAs(idp, app, '/introspect', { token: accessToken }),
      refresh: async () => {
        const page = await postAs(idp, app, '/token', { grant_type: 'refresh_token', refresh_token: refreshToken });
        if (page.status === 200) node.refreshToken = String(page.json().refresh_token);
        return page;
      },
      // A page: the browser has a session.
      authorize: () =>
        browser.get(authorizeUrl(idp, app.clientId, { prompt: 'login' }), { headers: { accept: 'text/html' } }),
    };
    return Promise.all(
      Object.entries(requests).map(async ([name, send]) => {
        const began = performance.now();
        const { status, headers } = await send();
        return { name, status, hasRetryAfter: headers['retry-after'] !== undefined, ms: performance.now() - began };
      }),
    );
  }

  const statuses = (answers: Answer[]) => Object.fromEntries(answers.map(({ name, status }) => [name, status]));
  function expectAway(answers: Answer[]): void {
    expect(answers.filter(({ status, hasRetryAfter }) => status !== 503 || !hasRetryAfter)).toEqual([]);
    expect(answers.filter(({ ms }) => ms >= ANSWER_MS)).toEqual([]);
  }
  async function expectService(node: Node): Promise<void> {
    const isServed = async () => statuses(await ask(node));
    const websites = { website: 200, publicPage: 200, visitor: 302 };
    const served = { ...websites, readyz: 200, userinfo: 200, introspection: 200, refresh: 200, authorize: 303 };
    await expect.poll(isServed, { timeout: RECOVERY_MS, interval: 200 }).toEqual(served);
  }
  /** How many requests came through to the website of each node. */
  const isReached = () => [near, far].map(({ site }) => site.received.length);
  const expectNormal = () => Promise.all([near, far].map(expectService));

  it('frozen: every request gets 503 with Retry-After in time, and service returns by itself', async () => {
    await expectNormal();
    const before = isReached();
    postgres.freeze();
    const first = Promise.all([ask(near), ask(far)]);
    await sleep(FROZEN_MS);
    const later = await Promise.all([ask(near), ask(far)]);
    const answers = [...(await first), ...later].flat();
    const after = isReached();
    postgres.thaw();
    expectAway(answers);
    // Nobody gets through to a website, not even to a public page.
    expect(after).toEqual(before);
    await expectNormal();
  });

  it('killed: every request gets 503 with Retry-After in time, and service returns by itself', async () => {
    const before = isReached();
    await postgres.end('SIGKILL');
    const answers = [...(await ask(near)), ...(await ask(far)), ...(await ask(near))];
    const after = isReached();
    await postgres.start();
    expectAway(answers);
    expect(after).toEqual(before);
    await expectNormal();
  });

  it('out of reach for one node: that one says so and the other one serves', async () => {
    proxy.silenceAll();
    const [cutOff, served] = await Promise.all([ask(far), ask(near)]);
    const reasons = (await httpClient(far.idp.issuer).get('/readyz')).json<{ reasons: unknown }>().reasons;
    await proxy.serve();
    expectAway(cutOff);
    expect(statuses(served)).toMatchObject({
      website: 200,
      readyz: 200,
      userinfo: 200,
      introspection: 200,
      refresh: 200,
    });
    expect(reasons).toEqual({ database: 'no answer', schema: 'no answer' });
    await expectNormal();
  });
});
