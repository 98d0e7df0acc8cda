// Whom the directory disables is out at once, wherever they were signed in and with whatever a program has of them; whom it enables again is
// the same person for every application.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { adminApi } from '../../src/people/rbac/built-in.ts';
import { browserWith, openApp } from '../logout/support/browser-steps.ts';
import { oidcApp } from '../logout/support/oidc-app.ts';
import { nodeSamlApp } from '../logout/support/saml-apps.ts';
import { type Application, anApplication, completeSignIn } from '../oidc/support.ts';
import { itOnBothInLongRun } from '../support/database/it-on-sqlite.ts';
import { PASSWORD, type TestUser } from '../support/factories.ts';
import { type HttpClient, httpClient } from '../support/http.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';
import { type Website, website } from '../support/website.ts';
import { aConnection, type Connection, USER } from './support.ts';

let idp: TestIdp;
let hr: Connection;
let wiki: Awaited<ReturnType<typeof oidcApp>>;
let board: Awaited<ReturnType<typeof nodeSamlApp>>;
let mail: Application;
let files: Website;
beforeAll(async () => {
  idp = await startIdp();
  hr = await aConnection(idp);
  wiki = await oidcApp(idp, 'back', 'Wiki');
  board = await nodeSamlApp(idp, 'Board', { binding: 'soap' });
  mail = await anApplication(idp, {});
  files = await website('caddy', () => idp.issuer, ['Remote-User']);
  const declared = { name: 'Files', url: files.origin, proxy: 'caddy', app_passwords: true } as const;
  await idp.services.applications.createProxied(declared);
});
afterAll(async () => {
  await idp?.stop();
  for (const app of [wiki, board, files]) await app?.close();
});

let count = 0;
/** A person of the directory who is signed in everywhere, and what programs have of them. */
async function aPersonAtWork() {
  count += 1;
  const username = `leaver${count}`;
  const user = await hr.ok('POST', '/Users', { schemas: [USER], userName: username, externalId: username });
  const id = String(user.id);
  const account = await idp.services.accounts.find(id);
  if (!account) throw new Error('no account');
  await idp.services.credentials.setPassword(account, PASSWORD, {});
  const person: TestUser = { account, username, password: PASSWORD };
  const browser = await browserWith([wiki, board], person);

  const device = httpClient(idp.issuer);
  const started = await mail.rp.start({ scope: 'openid offline_access' });
  const tokens = await mail.rp.finish(
    (await completeSignIn(device, started.url, { user: person })).location ?? '',
    started,
  );
  const { text: key } = await idp.services.apiKeys.create(
    { ownerId: id, name: 'Script', permissions: ['gatehouse.users:read'], days: 30 },
    {},
  );
  const site = await idp.services.applications.find(files.origin);
  const appPassword = await idp.services.appPasswords.create(
    account,
    { applicationId: site?.id ?? '', name: 'Phone' },
    {},
  );
  const isIn = async (one: HttpClient) =>
    !(await one.follow(await one.get(`${idp.issuer}/account`))).text.includes('name="username"');
  const statusOf = async (url: string, authorization: string) =>
    (await httpClient().get(url, { headers: { authorization, accept: 'application/json' } })).status;
  return {
    id,
    path: `/Users/${id}`,
    person,
    browser,
    tokens,
    /** What each of the ways in says: 200 or `true` where the person is let in. */
    ways: async () => ({
      session: await isIn(browser),
      device: await isIn(device),
      userinfo: await statusOf(`${idp.issuer}/userinfo`, `Bearer ${tokens.access_token}`),
      introspection: (await mail.rp.introspect(tokens.access_token)).active,
      refresh: (await mail.rp.introspect(tokens.refresh_token ?? '')).active,
      key: await statusOf(`${adminApi(idp.issuer)}/users/${id}`, `Bearer ${key}`),
      appPassword: await statusOf(
        files.origin,
        `Basic ${Buffer.from(`${username}:${appPassword}`).toString('base64')}`,
      ),
    }),
  };
}

/** How the applications of the last logout run were told. */
const outcomes = async (userId: string) => {
  const where = { run: { userId } };
  const rows = await idp.services.db.logoutParticipant.findMany({ where, select: { name: true, state: true } });
  return Object.fromEntries(rows.map(({ name, state }) => [name, state]));
};

const IN = {
  session: true,
  device: true,
  userinfo: 200,
  introspection: true,
  refresh: true,
  key: 403,
  appPassword: 200,
};
const OUT = {
  session: false,
  device: false,
  userinfo: 401,
  introspection: false,
  refresh: false,
  key: 401,
  appPassword: 401,
};

it.each([
  ['active: false', (path: string) => hr.patch(path, { op: 'replace', path: 'active', value: false })],
  ['DELETE', (path: string) => hr.send('DELETE', path)],
])('%s ends every session and every token at once, and signs out of the applications', async (_how, leave) => {
  const one = await aPersonAtWork();
  expect(await one.ways()).toEqual(IN);
  const before = { wiki: wiki.heard.length, board: board.heard.length, sessions: [wiki.sessions(), board.sessions()] };
  expect((await leave(one.path)).status).toBeLessThan(300);
  expect(await one.ways()).toEqual(OUT);
  await expect(mail.rp.refresh(one.tokens.refresh_token ?? '')).rejects.toMatchObject({ error: 'invalid_grant' });
  await expect.poll(() => [wiki.sessions(), board.sessions()]).toEqual(before.sessions.map((held) => held - 1));
  expect([wiki.heard.slice(before.wiki), board.heard.slice(before.board)]).toEqual([['back'], ['soap']]);
  await expect
    .poll(() => outcomes(one.id))
    .toEqual({
      Wiki: 'done',
      Board: 'done',
      // It has no address for sign-outs.
      'Test application': 'unsupported',
    });
  expect(await idp.services.sessions.list(one.id)).toEqual([]);
  const page = await one.browser.follow(await one.browser.get(`${wiki.origin}/sign-in`));
  expect(page.text).toContain('name="username"');
});

itOnBothInLongRun('whom the directory enables again has the same sub and NameID, and has to sign in', async () => {
  const one = await aPersonAtWork();
  const shown = async (app: { origin: string }, browser = one.browser) =>
    /data-user="([^"]*)"/.exec((await browser.get(`${app.origin}/`)).text)?.[1];
  const before = [await shown(wiki), await shown(board)];
  expect(before[0]).toBe(one.id);
  for (const leave of [
    () => hr.patch(one.path, { op: 'replace', path: 'active', value: false }),
    () => hr.send('DELETE', one.path),
  ]) {
    await leave();
    const body = { schemas: [USER], userName: one.person.username, externalId: one.person.username, active: true };
    const isDeleted = (await hr.send('GET', one.path)).status === 404;
    const back = isDeleted ? await hr.ok('POST', '/Users', body) : await hr.ok('PUT', one.path, body);
    expect(back).toMatchObject({ id: one.id, active: true });
    // What a program had of the person is theirs again; what a sign-in gave is not.
    expect(await one.ways()).toEqual({ ...OUT, key: IN.key, appPassword: IN.appPassword });
    const browser = httpClient();
    for (const app of [wiki, board]) await openApp(browser, app, one.person);
    expect([await shown(wiki, browser), await shown(board, browser)]).toEqual(before);
  }
});
