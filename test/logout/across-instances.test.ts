// A sign-out lives in the database: begun on one instance it ends on another, and a restart in the middle loses nothing.
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { databaseKind } from '../support/database/database.ts';
import { itOnSqlite } from '../support/database/it-on-sqlite.ts';
import { aUser, type TestUser } from '../support/factories.ts';
import type { HttpClient } from '../support/http.ts';
import { shortLogoutWaits } from '../support/waits.ts';
import type { App } from './support/app.ts';
import { browserWith, leave, resultsOf } from './support/browser-steps.ts';
import { followLogout } from './support/follow.ts';
import { type LoadBalancer, loadBalancer } from './support/load-balancer.ts';
import { oidcApp } from './support/oidc-app.ts';
import { nodeSamlApp, samlifyApp } from './support/saml-apps.ts';

shortLogoutWaits();
let board: LoadBalancer;
let user: TestUser;
let wiki: App;
let chat: App;
let payroll: App;
let library: App;
let dead: App;
let browser: HttpClient;
// Each starts several servers.
vi.setConfig({ testTimeout: 120_000 });

const live = () => [wiki, chat, payroll, library].map((app) => app.sessions());

beforeEach(async () => {
  board = await loadBalancer();
  const [idp] = board.instances;
  if (!idp) throw new Error('no instance');
  user = await aUser(idp.services);
  wiki = await oidcApp(idp, 'back', 'Wiki');
  chat = await oidcApp(idp, 'front', 'Chat');
  payroll = await nodeSamlApp(idp, 'Payroll');
  library = await samlifyApp(idp, 'Library');
  dead = await nodeSamlApp(idp, 'Archive');
  browser = await browserWith([wiki, chat, payroll, library, dead], user);
  await dead.goDown();
  return async () => {
    await board.close();
    await Promise.all([wiki, chat, payroll, library].map((app) => app.close()));
  };
});
afterEach(() => board?.close().catch(() => undefined));

const expectedResults = {
  Wiki: 'Signed out.',
  Chat: 'Notified in this browser. This app doesn’t confirm.',
  Payroll: 'Signed out.',
  Library: 'Signed out.',
  Archive: 'The app didn’t respond. Sign out of the app, or close your browser.',
};

it.runIf(databaseKind() === 'postgresql')('the server continues a logout run on another instance', async () => {
  const second = await board.another();
  // The browser is at the first service provider when the balancer changes its mind.
  const there = await followLogout(browser, await leave(browser, wiki), {
    until: ({ url }) => url.startsWith(payroll.origin),
  });
  expect(there.page.url).toContain('/slo?SAMLRequest');
  board.use(second);
  const { page } = await followLogout(browser, there.page);
  expect(resultsOf(page)).toEqual(expectedResults);
  await expect.poll(live).toEqual([0, 0, 0, 0]);
  expect(second.log.join('\n')).toContain('/signout/');
});

itOnSqlite('the server continues a logout run after a restart, and answers its initiator', async () => {
  const there = await followLogout(browser, await leave(browser, library), {
    until: ({ url }) => url.startsWith(payroll.origin),
  });
  expect(live()[3]).toBe(0);
  board.use(undefined);
  await board.instances[0]?.stop();
  board.use(await board.another());
  const { page } = await followLogout(browser, there.page);
  expect(page.url).toBe(`${library.origin}/`);
  expect(library.answers).toEqual([{ codes: ['Success', 'PartialLogout'], relayState: 'relay-2' }]);
  await expect.poll(live).toEqual([0, 0, 0, 0]);
  expect(wiki.heard).toEqual(['back']);
});
