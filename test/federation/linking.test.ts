// Connecting and disconnecting an identity on the account page.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { consoleOf, staff } from '../admin/console/support.ts';
import { aUser } from '../support/factories.ts';
import { type HttpClient, httpClient } from '../support/http.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';
import { signedIn } from '../support/pages/account.ts';

import { accountOf, anUpstream, type Connected, callbackOf } from './support.ts';

const PAGE = '/account/connections';
let idp: TestIdp;
let corp: Connected;
let count = 0;

beforeAll(async () => {
  idp = await startIdp();
  corp = await anUpstream(idp);
});
beforeEach(() => {
  count += 1;
  corp.upstream.user = { sub: `link-${count}`, email: `link-${count}@corp.example`, email_verified: true };
});
afterAll(async () => {
  await corp?.remove();
  await idp?.stop();
});

const startLink = async (browser: HttpClient) =>
  browser.submit(await browser.get(PAGE), {}, { form: `/${corp.connection}/link` });

describe('connected sign-ins', () => {
  it('are connected after a recent proof, whatever address they have, and signs in from then on', async () => {
    const user = await aUser(idp.services);
    const browser = await signedIn(idp, user);
    const page = await browser.follow(await startLink(browser));
    expect(page.text).toContain('You can now sign in with Example Corp.');
    expect(page.text).toContain(`link-${count}@corp.example`);
    expect((await accountOf(idp, corp.connection, `link-${count}`))?.id).toBe(user.account.id);
    const again = httpClient(idp.issuer);
    const home = await again.follow(await again.get(`/login?connection=${corp.connection}&return_to=/account`));
    expect(home.text).toContain(`link-${count}@corp.example`);
  });

  it('are not connected in another session, also of the same user', async () => {
    const user = await aUser(idp.services);
    const [mine, thief] = [await signedIn(idp, user), await signedIn(idp, await aUser(idp.services))];
    const sent = await mine.follow(await startLink(mine), (url) => url.startsWith(callbackOf(idp, corp.connection)));
    const stored = await thief.get(sent.location ?? '');
    const page = await thief.get(stored.location ?? '');
    expect(page.status).toBe(400);
    expect(await accountOf(idp, corp.connection, `link-${count}`)).toBeUndefined();
  });

  it('reject an identity that another user has', async () => {
    const first = await signedIn(idp, await aUser(idp.services));
    await first.follow(await startLink(first));
    const owner = await accountOf(idp, corp.connection, `link-${count}`);
    const second = await signedIn(idp, await aUser(idp.services));
    const page = await second.follow(await startLink(second));
    expect(page.status).toBe(409);
    expect((await accountOf(idp, corp.connection, `link-${count}`))?.id).toBe(owner?.id);
  });

  it('are begun by no form of another site, and by none without its token', async () => {
    const browser = await signedIn(idp, await aUser(idp.services));
    const forged = { origin: 'https://attacker.example', 'sec-fetch-site': 'cross-site' };
    const sent = await browser.post(`${PAGE}/${corp.connection}/link`, { form: {}, headers: forged });
    expect(sent.status).toBe(403);
    expect((await browser.get(`${PAGE}/${corp.connection}/link`)).status).toBe(405);
  });

  it('are disconnected, but not the last way into the account', async () => {
    const browser = httpClient(idp.issuer);
    await browser.follow(await browser.get(`/login?connection=${corp.connection}&return_to=${PAGE}`));
    const account = await accountOf(idp, corp.connection, `link-${count}`);
    corp.upstream.quirks = { idToken: { auth_time: Math.floor(Date.now() / 1000) } };
    const recent = `/login?connection=${corp.connection}&prompt=login&return_to=${PAGE}`;
    const page = await browser.follow(await browser.get(recent));
    const rejected = await browser.submit(page, {}, { form: '/unlink' });
    expect(rejected.status).toBe(409);
    expect(rejected.text).toContain('can’t remove your only way to sign in');
    if (account) await idp.services.credentials.setPassword(account, 'a password of fifteen', {});
    const done = await browser.follow(await browser.submit(page, {}, { form: '/unlink' }));
    expect(done.text).toContain('Sign-in service disconnected.');
    expect(await accountOf(idp, corp.connection, `link-${count}`)).toBeUndefined();
    corp.upstream.quirks = {};
  });

  it('take the roles by groups with them when they are disconnected, and leave those that were granted directly', async () => {
    const { connections, roles, accounts } = idp.services;
    for (const name of ['by-group', 'both']) await roles.create({ name });
    const crew = await anUpstream(idp, {
      groups_claim: 'groups',
      role_mappings: { staff: ['by-group', 'both'] },
    });
    crew.upstream.user = { sub: `staff-${count}`, groups: ['staff'] };
    const user = await aUser(idp.services);
    await roles.assign(user.account.id, 'both');
    const rolesNow = async () => (await accounts.find(user.account.id))?.roles;
    const browser = await signedIn(idp, user);
    const link = async () => {
      const sent = await browser.submit(await browser.get(PAGE), {}, { form: `/${crew.connection}/link` });
      return browser.follow(sent);
    };
    const linked = await link();
    expect(await rolesNow()).toEqual(['both', 'by-group']);
    await browser.submit(linked, {}, { form: '/unlink' });
    expect(await rolesNow()).toEqual(['both']);
    // The same when the connection is deleted.
    await link();
    expect(await rolesNow()).toEqual(['both', 'by-group']);
    await connections.remove(crew.connection);
    expect(await rolesNow()).toEqual(['both']);
    await crew.upstream.stop();
  });
});

describe('the sessions of a connection', () => {
  it.each(['disable', 'delete'])(
    'end with it where the administrator chooses so (%s), and go on otherwise',
    async (what) => {
      const admin = await consoleOf(idp, await staff(idp, 'admin'));
      const gone = await anUpstream(idp);
      const subjects = ['one', 'two'];
      const browsers: HttpClient[] = [];
      for (const sub of subjects) {
        gone.upstream.user = { sub };
        const browser = httpClient(idp.issuer);
        await browser.follow(await browser.get(`/login?connection=${gone.connection}&return_to=/account`));
        browsers.push(browser);
      }
      const account = async () => Promise.all(browsers.map(async (one) => (await one.get('/account')).status));
      expect(await account()).toEqual([200, 200]);
      const at = `/admin/connections/${gone.connection}`;
      const form = await admin.get(`${at}/${what}`);
      expect(form.text).toContain('2 now.');
      if (what === 'disable') {
        await admin.submit(form, {}, { form: '/disable' });
        expect(await account()).toEqual([200, 200]);
        await admin.submit(await admin.get(`${at}/${what}`), { end_sessions: 'on' }, { form: '/disable' });
      } else await admin.submit(form, { end_sessions: 'on', typed_name: gone.connection }, { form: '/delete' });
      expect(await account()).toEqual([303, 303]);
      if (what === 'disable') await idp.services.connections.remove(gone.connection);
      await gone.upstream.stop();
    },
  );
});
