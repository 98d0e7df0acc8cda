// Sessions that end through the doors that people and operators use: a reset by mail, the command line, the list of one's
// own sessions. The applications of both protocols hear of each.
import { afterAll, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { run } from '../../src/cli/run.ts';
import { mailOf, redeem, resetLink } from '../recovery/support.ts';
import { aUser, type TestUser } from '../support/factories.ts';
import { type HttpClient, httpClient } from '../support/http.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';
import { type Mailbox, mailbox } from '../support/mailbox.ts';
import type { App } from './support/app.ts';
import { browserWith } from './support/browser-steps.ts';
import { oidcApp } from './support/oidc-app.ts';
import { nodeSamlApp } from './support/saml-apps.ts';

let box: Mailbox;
let idp: TestIdp;
let user: TestUser;
let wiki: App;
let board: App;

beforeAll(async () => {
  box = await mailbox();
  idp = await startIdp({ environment: { SMTP_URL: box.url } });
  wiki = await oidcApp(idp, 'back', 'Wiki');
  board = await nodeSamlApp(idp, 'Board', { binding: 'soap' });
});
afterAll(async () => {
  await idp?.stop();
  await Promise.all([wiki, board, box].map((one) => one?.close()));
});
beforeEach(async () => {
  user = await aUser(idp.services);
  await browserWith([wiki, board], user);
});

/** Signed in to the pages of one's own account, in another browser. */
async function elsewhere(): Promise<HttpClient> {
  const browser = httpClient(idp.issuer);
  const page = await browser.follow(await browser.get('/account/sessions'));
  await browser.follow(await browser.submit(page, { username: user.username, password: user.password }));
  return browser;
}

/** As an operator types it, beside the running server. */
async function gatehouse(...args: string[]): Promise<void> {
  const { environment } = idp;
  for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value);
  vi.stubEnv('GATEHOUSE_CONFIG', '');
  const said: string[] = [];
  const say = (line: unknown) => void said.push(JSON.stringify(line));
  const stdin = async () => 'nine yellow bicycles in the rain';
  const code = await run(args, { out: say, err: say, json: say, table: say, stdin });
  if (code !== 0) throw new Error(said.join('\n'));
}

const doors: Record<string, () => Promise<unknown>> = {
  'a new password by a mailed link': async () => {
    const { username, account } = user;
    await redeem(idp, await resetLink(idp, box, username, account.email ?? ''));
    await mailOf(box, account.email ?? '', 'Your password was changed');
  },
  'gatehouse user disable': () => gatehouse('user', 'disable', user.username),
  'gatehouse user set-password': () => gatehouse('user', 'set-password', user.username, '--password-stdin'),
  'one button in the list of one’s sessions': async () => {
    const browser = await elsewhere();
    const list = await browser.get('/account/sessions');
    const there = list.forms.find(({ fields }) => 'uid' in fields)?.fields.uid ?? '';
    const page = await browser.follow(await browser.submit(list, { uid: there }));
    expect(page.text).toContain('Session signed out.');
  },
  'the button for all other sessions': async () => {
    const browser = await elsewhere();
    const list = await browser.get('/account/sessions');
    const page = await browser.follow(await browser.submit(list, {}, { form: '/end-others' }));
    expect(page.text).toContain('Signed out everywhere else.');
  },
};

it.each(Object.keys(doors))('%s ends the session and notifies both applications', async (door) => {
  const { db, sessions } = idp.services;
  const [session] = await sessions.list(user.account.id);
  await doors[door]?.();
  expect(await sessions.find(session?.uid ?? '')).toBeUndefined();
  await expect.poll(() => [wiki.sessions(), board.sessions()]).toEqual([0, 0]);
  const deliveredEvents = () =>
    db.auditEvent.count({ where: { subjectId: user.account.id, type: 'logout.delivered' } });
  await expect.poll(deliveredEvents).toBe(2);
});
