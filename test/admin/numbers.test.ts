// The numbers of two pages agree: the overview, the lists, the pages of one user or application, the API, the exports, the command line and
// doctor count the same things in the same way, on a server with odd data.
import { parse } from 'csv-parse/sync';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { limits } from '../../src/base/limits.ts';
import { DEFERRED_RECIPIENT } from '../../src/core/mail/outbox.ts';
import { checkConnection } from '../../src/federation/connections/schema.ts';
import { createApiKeys } from '../../src/people/api-keys/api-keys.ts';
import { commandLine } from '../cli/support.ts';
import { type Application, anApplication, authorizeUrl, completeSignIn, outcome, signIn } from '../oidc/support.ts';
import { aSamlUser, type SamlUser } from '../saml/sign-in-steps.ts';
import { aServiceProvider } from '../support/applications/sp.ts';
import { itOnSqlite } from '../support/database/it-on-sqlite.ts';
import { aClient, aUser, type TestUser } from '../support/factories.ts';
import { failSignIn } from '../support/failed-sign-in.ts';
import { type HttpClient, httpClient } from '../support/http.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';
import { linksOf, textOf } from '../support/pages/html.ts';
import { consoleOf, staff } from './console/support.ts';
import { type ApiCaller, aService } from './support.ts';

const DAY_MS = 86_400_000;
/** No mail server listens here, so email waits. */
const SMTP_URL = 'smtp://127.0.0.1:9';

let idp: TestIdp;
let cli: Awaited<ReturnType<typeof commandLine>>;
let api: ApiCaller;
let admin: TestUser;
let desk: HttpClient;
let shop: Application;
let wiki: Awaited<ReturnType<typeof aServiceProvider>>;
let reader: TestUser;
const people = new Map<string, TestUser>();

beforeAll(async () => {
  idp = await startIdp({ environment: { SMTP_URL } });
  cli = await commandLine();
  admin = await staff(idp, 'admin');
  desk = await consoleOf(idp, admin);
  api = await aService(idp);
  await seedPeople();
  await seedApplications();
  await seedSessions();
  await seedMail();
  await seedCodesAndKeys();
}, 120_000);
afterAll(async () => {
  await idp?.stop();
  await cli?.close();
});

/** Users with each kind of factor, without one, disabled, invited and locked. */
async function seedPeople(): Promise<void> {
  const { services } = idp;
  const { accounts, db, mfa, roles } = services;
  const add = async (name: string, profile: Parameters<typeof aUser>[1] = {}) => {
    const user = await aUser(services, { name, ...profile });
    people.set(name, user);
    return user;
  };
  const withApp = async (profile: NonNullable<Parameters<typeof aSamlUser>[1]>) => {
    const user: SamlUser = await aSamlUser(services, profile);
    if (!profile.passkey) await user.addApp();
    people.set(profile.name ?? '', user);
    return user;
  };
  await withApp({ name: 'App' });
  await withApp({ name: 'Passkey', passkey: true });
  const both = await withApp({ name: 'Both', passkey: true });
  await both.addApp();
  const phone = await add('Phone');
  const phoneToo = await withApp({ name: 'App and phone' });
  for (const { account } of [phone, phoneToo]) {
    const number = '+15550100';
    await db.phoneFactor.create({ data: { userId: account.id, number, confirmedAt: new Date() } });
  }
  const unconfirmed = await add('Unconfirmed app');
  await mfa.totp.begin(unconfirmed.account);
  const codes = await add('Recovery codes alone');
  await mfa.recoveryCodes.create(codes.account.id);
  const off = await withApp({ name: 'Disabled with app' });
  await accounts.setActive(off.account.id, false);
  await accounts.create({ username: 'invited', email: 'invited@example.com', emailVerified: false, name: 'Invited' });
  await add('Unverified', { emailVerified: false });

  // The same role twice: directly and from a connection.
  await roles.create({ name: 'editors', description: '' });
  for (const name of ['App', 'Phone', 'Disabled with app']) await roles.assign(idOf(name), 'editors');
  const role = await db.role.findUniqueOrThrow({ where: { name: 'editors' } });
  const twice = { userId: idOf('Phone'), roleId: role.id, via: 'connection:corp', since: null, until: null };
  await db.userRole.create({ data: twice });
  const formerAdmin = await add('Former administrator');
  await roles.assign(formerAdmin.account.id, 'admin');
  await accounts.setActive(formerAdmin.account.id, false);
}

/** One wrong password on the sign-in page, and so many others that the account is locked. */
async function lock(name: string): Promise<void> {
  const { lockout } = idp.services;
  const { account, username } = userOf(name);
  const browser = httpClient(idp.issuer);
  await browser.submit(await browser.follow(await browser.get('/account')), { username, password: 'a wrong phrase' });
  const attempt = { login: username, accountId: account.id };
  for (let tries = 0; tries < 12; tries += 1) await failSignIn(lockout, { ...attempt, address: `192.0.2.${tries}` });
  expect(await lockout.lockedSeconds(account), name).toBeGreaterThan(0);
}

/** Applications of both protocols, disabled ones, and sign-ins with and without a session that exists. */
async function seedApplications(): Promise<void> {
  const { services } = idp;
  shop = await anApplication(idp, { client_name: 'Shop' });
  const unused = await aClient(services, {
    client_name: 'Closed shop',
    redirect_uris: ['https://closed.example/cb'],
  });
  await services.applications.setEnabled(unused.applicationId, false);
  await aClient(services, {
    client_name: 'Public',
    token_endpoint_auth_method: 'none',
    redirect_uris: ['https://spa.example/cb'],
  });
  const legacy = await aClient(services, {
    client_name: 'Legacy',
    require_pkce: false,
    redirect_uris: ['https://legacy.example/cb'],
  });
  expect(legacy.clientId).not.toBe('');
  wiki = await aServiceProvider(services);
  await services.applications.createProxied({ name: 'Intranet', url: 'https://intranet.example.com', proxy: 'caddy' });

  reader = await aUser(services, { name: 'Reader' });
  const browser = httpClient(idp.issuer);
  await signIn(browser, shop, reader);
  // The session exists: each is a sign-in to the application, and none of the user.
  for (let times = 0; times < 3; times += 1) await signIn(browser, shop, reader);
  await samlSignIn(browser, reader);
  await samlSignIn(browser, reader);
  // Equal rejected requests, which the audit log counts together.
  for (let times = 0; times < 5; times += 1)
    await outcome(browser, authorizeUrl(idp, shop.clientId, { scope: 'openid', response_type: 'nonsense' }));
  // One that another program wrote about a deleted application stays out of every list.
  await services.repeatedEntries.flush();
}

async function samlSignIn(browser: HttpClient, user: TestUser): Promise<void> {
  const url = await wiki.saml.getAuthorizeUrlAsync('', undefined, {});
  let page = await completeSignIn(browser, url, { user, redirectUri: wiki.acsUrl });
  for (let steps = 0; steps < 4 && page.forms[0]?.action !== wiki.acsUrl; steps += 1)
    page = await browser.follow(await browser.submit(page), (target) => target.startsWith(wiki.acsUrl));
  expect(page.forms[0]?.action).toBe(wiki.acsUrl);
}

/** Sessions that live, have expired, were ended, and belong to a user who was disabled on the command line. */
async function seedSessions(): Promise<void> {
  const { db, upstreamSessions } = idp.services;
  const expired = await aUser(idp.services, { name: 'Expired' });
  await signIn(httpClient(idp.issuer), shop, expired);
  await db.oidcArtifact.updateMany({
    where: { model: 'Session', accountId: expired.account.id },
    data: { expiresAt: BigInt(Math.floor(Date.now() / 1000) - 60) },
  });
  const ended = await aUser(idp.services, { name: 'Ended' });
  await signIn(httpClient(idp.issuer), shop, ended);
  const { items } = (await api.get(`/users/${ended.account.id}/sessions`)).json() as { items: { uid: string }[] };
  expect((await api.send('DELETE', `/sessions/${items[0]?.uid}`)).status).toBe(204);
  const gone = await aUser(idp.services, { name: 'Gone' });
  await signIn(httpClient(idp.issuer), shop, gone);
  expect((await cliOf('user', 'disable', gone.username)).code).toBe(0);

  // Sessions of a connection: one lives, one has ended.
  const checked = checkConnection({
    id: 'corp',
    kind: 'oidc',
    name: 'Corp',
    issuer: 'https://corp.example.com',
    client_id: 'gatehouse',
    client_secret: 'a secret of the upstream',
  });
  if (!checked.ok) throw new Error('not a connection');
  await idp.services.connections.create(checked.value);
  const live = await db.oidcArtifact.findFirstOrThrow({ where: { model: 'Session', accountId: reader.account.id } });
  for (const sessionUid of [live.uid ?? '', 'a-session-that-ended'])
    await upstreamSessions.attach(
      await upstreamSessions.begin({
        connectionId: 'corp',
        userId: reader.account.id,
        subject: sessionUid,
        handle: undefined,
      }),
      { uid: sessionUid, accountId: reader.account.id, endsAt: new Date(Date.now() + DAY_MS) },
    );
}

/** Email that waits, was sent, was given up; and a draft that was given up. */
async function seedMail(): Promise<void> {
  const { db, outbox } = idp.services;
  const to = (email: string) => ({ email, userId: admin.account.id });
  for (const name of ['waits', 'waits-too', 'sent', 'given-up', 'given-up-too'])
    await outbox.send({ kind: 'test', to: to(`${name}@example.com`), at: new Date() } as never);
  await db.mailMessage.updateMany({ where: { recipient: 'sent@example.com' }, data: { sentAt: new Date() } });
  await db.mailMessage.updateMany({
    where: { recipient: { startsWith: 'given-up' } },
    data: { failedAt: new Date(), lastError: '550 No such user' },
  });
  const draft = {
    recipient: DEFERRED_RECIPIENT,
    subject: 'deferred: registration',
    kind: 'registration',
    bodySealed: '',
  };
  const at = new Date();
  await db.mailMessage.create({ data: { ...draft, id: 'draft-given-up', nextTryAt: at, failedAt: at } });
  await db.mailMessage.create({ data: { ...draft, id: 'draft', nextTryAt: new Date(at.getTime() + DAY_MS) } });
}

/** Sign-up codes and API keys of each state. */
async function seedCodesAndKeys(): Promise<void> {
  const { apiKeys, db, signUpCodes } = idp.services;
  const used = await signUpCodes.create({ name: 'Used up', maxUses: 1, days: 1 }, {});
  await idp.services.db.$transaction((tx) => signUpCodes.use(used.code.id, tx as never));
  const partly = await signUpCodes.create({ name: 'Partners', maxUses: 3, days: 1 }, {});
  await idp.services.db.$transaction((tx) => signUpCodes.use(partly.code.id, tx as never));
  for (const name of ['Live', 'Revoked']) {
    const answer = await cliOf(
      'api-key',
      'create',
      admin.username,
      '--name',
      name,
      '--permission',
      'gatehouse.users:read',
    );
    expect(answer.code, answer.err).toBe(0);
  }
  const revoked = await db.asStored.apiKey.findFirstOrThrow({ where: { name: 'Revoked' } });
  await apiKeys.revoke(revoked.id, {});
  // Created two days ago for a day, as its sealed row says.
  const before = new Date(Date.now() - 2 * DAY_MS);
  await createApiKeys({ ...idp.services, now: () => before }).create(
    { name: 'Expired', ownerId: admin.account.id, permissions: ['gatehouse.users:read'], days: 1 },
    {},
  );

  // The keys of ID tokens are rotated, and a SAML certificate waits for its activation.
  for (const argv of [['--now'], ['--saml']]) {
    const answer = await cliOf('keys', 'rotate', ...argv);
    expect(answer.code, answer.err).toBe(0);
  }
}

const userOf = (name: string) => people.get(name) ?? expect.fail(`no user ${name}`);
const idOf = (name: string) => userOf(name).account.id;

/** The command line on the database of the server. */
function cliOf(...argv: string[]) {
  const { DATABASE_URL = '', GATEHOUSE_SECRET = '', DATA_DIR = '' } = idp.environment as Record<string, string>;
  return cli.gatehouse(argv, { env: { DATABASE_URL, GATEHOUSE_SECRET, DATA_DIR, ISSUER: idp.issuer } });
}
async function cliJson<Item>(...argv: string[]): Promise<Item[]> {
  const { code, out, err } = await cliOf(...argv, '--json');
  expect(code, err).toBe(0);
  const value = JSON.parse(out) as Item[] | { items: Item[] };
  return Array.isArray(value) ? value : value.items;
}

/** Every item of a list of the API, over its pages. */
async function all<Item>(path: string): Promise<Item[]> {
  const found: Item[] = [];
  for (let cursor = ''; ; ) {
    const separator = path.includes('?') ? '&' : '?';
    const answer = await api.get(`${path}${separator}limit=5${cursor && `&cursor=${encodeURIComponent(cursor)}`}`);
    expect(answer.status, answer.text).toBe(200);
    const { items, next } = answer.json() as { items: Item[]; next?: string | null };
    found.push(...items);
    if (!next) return found;
    cursor = next;
  }
}

const textAt = async (path: string) => textOf((await desk.get(path)).text);
async function numberAt(path: string, pattern: RegExp): Promise<number> {
  const text = await textAt(path);
  const found = pattern.exec(text)?.[1];
  if (found === undefined) throw new Error(`${path} has no ${pattern}:\n${text.slice(0, 3000)}`);
  return Number(found);
}
/** The rows of the table of a page of the console, over its pages. */
async function rowsAt(path: string): Promise<string[]> {
  const rows: string[] = [];
  for (let address: string | undefined = path; address; ) {
    const page = await desk.get(address);
    expect(page.status, address).toBe(200);
    const body = /<tbody role="rowgroup">([\s\S]*?)<\/tbody>/.exec(page.text)?.[1] ?? '';
    rows.push(...(body.match(/<tr[\s\S]*?<\/tr>/g) ?? []).map(textOf));
    address = linksOf(page.text, page.url).find(({ label }) => label === 'Next')?.href;
  }
  return rows;
}

interface Statistics {
  users: { total: number; disabled: number; with_second_factor: number };
  applications: { oidc: number; saml: number; proxy: number; disabled: number };
  sessions: number;
  mail: { waiting: number; failed: number };
  days: { sign_ins: number; failures: number }[];
  by_application: { client: string; sign_ins: number }[];
}
const statistics = async () => (await api.get('/statistics')).json() as unknown as Statistics;

describe('users', () => {
  it('are as many on the overview, in the list with each filter, in the API and on the command line', async () => {
    const { users } = await statistics();
    const inApi = await all<{ active: boolean }>('/users');
    expect(users.total).toBe(inApi.length);
    expect(users.disabled).toBe(inApi.filter(({ active }) => !active).length);
    expect(await numberAt('/admin', /Users (\d+) Users with two-step/)).toBe(users.total);
    expect(await numberAt('/admin/users', /(\d+) users/)).toBe(users.total);
    expect(await rowsAt('/admin/users')).toHaveLength(users.total);
    expect(await rowsAt('/admin/users?state=disabled')).toHaveLength(users.disabled);
    expect(await numberAt('/admin/users?state=disabled', /(\d+) users/)).toBe(users.disabled);
    expect(await rowsAt('/admin/users?state=active')).toHaveLength(users.total - users.disabled);
    expect(await cliJson('user', 'list')).toHaveLength(users.total);
  });

  itOnSqlite('with two-step verification are those whose pages list a factor', async () => {
    const { users } = await statistics();
    const details = await Promise.all(
      (await all<{ id: string }>('/users')).map(async ({ id }) => {
        const { second_factors: own, username } = (await api.get(`/users/${id}`)).json() as {
          second_factors: { totp: boolean; passkeys: number; phone: string | null };
          username: string;
        };
        return { id, username, isEnrolled: own.totp || own.passkeys > 0 || own.phone !== null };
      }),
    );
    const enrolled = details.filter(({ isEnrolled }) => isEnrolled).length;
    expect(enrolled).toBe(6);
    expect(users.with_second_factor).toBe(enrolled);
    expect(await textAt('/admin')).toContain(`Users with two-step verification ${enrolled} of ${users.total}`);
    for (const { id, username, isEnrolled } of details) {
      const page = await textAt(`/admin/users/${id}/security`);
      expect(/Remove : (?!Recovery codes)/.test(page), page.slice(0, 1500)).toBe(isEnrolled);
      const { out } = await cliOf('user', 'show', username);
      const line = out.split('\n').find((one) => one.startsWith('two-step')) ?? '';
      expect(/authenticator app|passkey|text messages/.test(line), `${username}: ${line}`).toBe(isEnrolled);
    }
  });

  itOnSqlite('who are locked are active ones, on the overview and in the list', async () => {
    for (const name of ['Unverified', 'Disabled with app']) await lock(name);
    const [onOverview, inList] = await Promise.all([
      numberAt('/admin', /Locked now (\d+)/),
      rowsAt('/admin/users?state=locked'),
    ]);
    expect([onOverview, inList.length]).toEqual([1, 1]);
    expect((await rowsAt('/admin/users?q=Unverified')).filter((row) => row.endsWith('Locked'))).toHaveLength(1);
  });

  it('who have a role are as many in the list of roles, among its members, in the API, and in the filter of users', async () => {
    for (const { name, id } of await all<{ name: string; id: string }>('/roles')) {
      const row = (await rowsAt('/admin/roles')).find((one) => one.startsWith(name)) ?? '';
      const members = await rowsAt(`/admin/roles/${id}/members`);
      const inApi = (await all<{ roles: string[] }>('/users')).filter(({ roles }) => roles.includes(name)).length;
      const counted = [...row.matchAll(/ (\d+)/g)].map(([, number]) => Number(number));
      expect(counted, `${name}: ${row}`).toContain(inApi);
      expect(
        members.filter((one) => !one.startsWith('No members')),
        name,
      ).toHaveLength(inApi);
      expect(await all(`/users?role=${name}`), name).toHaveLength(inApi);
    }
    const { out } = await cliOf('doctor');
    const active = (await all<{ active: boolean; roles: string[] }>('/users?role=admin')).filter(
      ({ active: is }) => is,
    );
    expect(out).toContain(`${active.length} active users with the role admin`);
  });
});

describe('applications', () => {
  it('are as many on the overview, in the list with each filter, in the API and on the command line', async () => {
    const { applications } = await statistics();
    const total = applications.oidc + applications.saml + applications.proxy;
    expect(applications.proxy).toBe(1);
    const inApi = await all<{ protocol: string; enabled: boolean }>('/applications');
    expect(inApi).toHaveLength(total);
    expect(inApi.filter(({ protocol }) => protocol === 'saml')).toHaveLength(applications.saml);
    expect(inApi.filter(({ enabled }) => !enabled)).toHaveLength(applications.disabled);
    expect(await numberAt('/admin', /Applications (\d+) Active sessions/)).toBe(total);
    expect(await rowsAt('/admin/applications')).toHaveLength(total);
    expect(await rowsAt('/admin/applications?state=disabled')).toHaveLength(applications.disabled);
    expect(await rowsAt('/admin/applications?protocol=saml')).toHaveLength(applications.saml);
    expect(await textAt('/admin/applications')).toMatch(
      new RegExp(
        `All ${total} .*OpenID Connect ${applications.oidc} .*SAML ${applications.saml} .*Website ${applications.proxy}`,
      ),
    );
    expect(await cliJson('app', 'list')).toHaveLength(total);
  });

  it('have as many sign-ins on the overview as in their list, on their own page and in the API', async () => {
    const { by_application: counted } = await statistics();
    const signInsOf = (client: string) => counted.find((one) => one.client === client)?.sign_ins;
    // The use of a session counts once an hour for each user; sign-ins of users who were disabled since then stay.
    expect([signInsOf(shop.clientId), signInsOf(wiki.entityId)]).toEqual([5, 2]);
    for (const { id, identifier: client, name } of await all<{ id: string; identifier: string; name: string }>(
      '/applications',
    )) {
      const signIns = signInsOf(client) ?? 0;
      expect(await numberAt(`/admin/applications/${id}`, /(\d+) sign-ins?\b/), name).toBe(signIns);
      const row = (await rowsAt('/admin/applications')).find((one) => one.includes(client)) ?? '';
      if (signIns > 0) expect(row, name).toMatch(new RegExp(`\\b${signIns}\\b`));
    }
    const entries = await all<{ type: string; outcome: string; client: string | null }>(
      '/audit?type=sign-in.completed',
    );
    const { days } = await statistics();
    expect(days.reduce((sum, { sign_ins: one }) => sum + one, 0)).toBe(
      entries.filter(({ outcome: how }) => how === 'success').length,
    );
  });

  itOnSqlite(
    'have as many rejected requests on their page as in the list of rejections and in the exports',
    async () => {
      const { items } = (await api.get(`/applications?search=Shop`)).json() as {
        items: { id: string; identifier: string }[];
      };
      const id = items.find(({ identifier }) => identifier === shop.clientId)?.id;
      const rejected = await numberAt(`/admin/applications/${id}`, /(\d+) rejected/);
      expect(rejected).toBe(5);
      expect(await rowsAt(`/admin/rejections?client=${encodeURIComponent(shop.clientId)}`)).toHaveLength(rejected);
      const query = new URLSearchParams({ format: 'csv', type: 'authorization.rejected' });
      const csv: Record<string, string>[] = parse((await desk.get(`/admin/audit/export?${query}`)).text, {
        columns: true,
      });
      const times = csv.map(({ data = '{}' }) => (JSON.parse(data) as { repeated?: number }).repeated ?? 1);
      expect(times.reduce((sum, one) => sum + one, 0)).toBe(rejected);
      expect(await textAt('/admin/audit?type=authorization.rejected')).toContain('4 times');
    },
  );

  itOnSqlite('that sign people in without PKCE are as many on the overview as doctor finds', async () => {
    const { out } = await cliOf('doctor');
    const found = out.split('\n').filter((line) => line.includes('without PKCE')).length;
    expect(found).toBe(1);
    expect(await numberAt('/admin', /(\d+) applications? without PKCE/)).toBe(found);
  });
});

it('counts as many sessions on the overview, in the list, in the API, on the pages of their users and on the command line', async () => {
  const { sessions } = await statistics();
  const inApi = await all<{ user: string }>('/sessions');
  expect(sessions).toBe(inApi.length);
  expect(await numberAt('/admin', /Active sessions (\d+)/)).toBe(sessions);
  expect(await rowsAt('/admin/sessions')).toHaveLength(sessions);
  let ofUsers = 0;
  for (const { id, username } of await all<{ id: string; username: string }>('/users')) {
    const { items } = (await api.get(`/users/${id}/sessions`)).json() as { items: unknown[] };
    ofUsers += items.length;
    if (items.length === 0 && username !== 'invited') continue;
    const { out } = await cliOf('user', 'show', username);
    expect(out).toMatch(new RegExp(`^sessions +${items.length}$`, 'm'));
  }
  expect(ofUsers).toBe(sessions);
  expect(await textAt('/admin/connections/corp/disable')).toContain('1 now');
});

it('counts as many emails on the overview, in their list with each state, in the API and in doctor', async () => {
  const { mail } = await statistics();
  const inApi = await all<{ state: string }>('/mail');
  const of = (state: string) => inApi.filter((one) => one.state === state).length;
  expect(mail).toEqual({ waiting: of('waiting'), failed: of('failed') });
  expect(mail.failed).toBe(2);
  expect(await numberAt('/admin', /Undelivered email (\d+)/)).toBe(mail.failed);
  expect(await numberAt('/admin', /Email (\d+) not delivered/)).toBe(mail.failed);
  for (const state of ['waiting', 'sent', 'failed'])
    expect(await rowsAt(`/admin/mail?state=${state}`), state).toHaveLength(of(state));
  expect((await cliOf('doctor')).out).toContain(`${mail.failed} failed after ${limits.delivery.maxTries} tries`);
});

itOnSqlite('counts in the navigation the rejected requests that the list has, at once', async () => {
  const badge = () => numberAt('/admin/rejections', /Rejected requests (\d+) in the last 24 hours/);
  const before = await rowsAt('/admin/rejections');
  expect(await badge()).toBe(before.length);
  await outcome(httpClient(idp.issuer), authorizeUrl(idp, shop.clientId, { response_type: 'nonsense' }));
  expect(await rowsAt('/admin/rejections')).toHaveLength(before.length + 1);
  expect(await badge()).toBe(before.length + 1);
});

itOnSqlite('shows sign-up codes with the same uses in the console, in the API and on the command line', async () => {
  const { items } = (await api.get('/sign-up-codes')).json() as unknown as {
    items: { name: string; uses: number; max_uses: number; state: string }[];
  };
  const listed = await cliJson<{ name: string; uses: number; maxUses: number; state: string }>('sign-up-code', 'list');
  expect(listed.map(({ name, uses, maxUses, state }) => [name, uses, maxUses, state])).toEqual(
    items.map(({ name, uses, max_uses: most, state }) => [name, uses, most, state]),
  );
  const rows = await rowsAt('/admin/security/sign-up-codes');
  expect(rows).toHaveLength(items.length);
  for (const { name, uses, max_uses: most } of items)
    expect(rows.find((row) => row.startsWith(name))).toContain(`${uses} of ${most}`);
});

itOnSqlite('has as many API keys of each state in the console, in the API and on the command line', async () => {
  const [active, ended] = await Promise.all([all('/api-keys'), all('/api-keys?state=ended')]);
  expect([active.length, ended.length]).toEqual([1, 2]);
  expect(await rowsAt('/admin/api-keys')).toHaveLength(active.length);
  expect(await rowsAt('/admin/api-keys?state=ended')).toHaveLength(ended.length);
  expect(await cliJson('api-key', 'list')).toHaveLength(active.length);
});

itOnSqlite(
  'has as many signing keys of each state on the overview, on their page, in the API and on the command line, during rotations',
  async () => {
    const { items } = (await api.get('/keys')).json() as unknown as { items: { state: string }[] };
    const listed = await cliJson<{ state: string }>('keys', 'list');
    expect(new Set(items.map(({ state }) => state))).toEqual(new Set(['active', 'next', 'retired']));
    expect(listed.map(({ state }) => state).sort()).toEqual(items.map(({ state }) => state).sort());
    const text = await textAt('/admin/keys');
    for (const { kid } of items as unknown as { kid: string }[]) expect(text).toContain(kid);
    const active = items.filter(({ state }) => state === 'active').length;
    expect(await numberAt('/admin', /Signing keys (\d+) active/)).toBe(active);
    expect((await cliJson<{ state: string }>('keys', 'list')).filter(({ state }) => state === 'active')).toHaveLength(
      active,
    );
  },
);
