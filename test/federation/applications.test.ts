// What applications demand of a sign-in over a connection: which connections, whether a local sign-in, how recent.

import { generateSync } from 'otplib';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { authorizeUrl, outcome, redirectUri } from '../oidc/support.ts';
import { aClient, aUser, PASSWORD } from '../support/factories.ts';
import { httpClient } from '../support/http.ts';
import type { TestIdp } from '../support/idp.ts';
import { enter, expectNotSignedIn, expectSignedIn } from '../support/pages/enter.ts';
import { actionsOf, fieldsOf, textOf } from '../support/pages/html.ts';
import { sharedIdpWithConnections } from '../support/shared-idp.ts';
import {
  accountOf,
  anUpstream,
  type Connected,
  isAtApplication,
  openSignIn,
  pressConnection,
  signInOver,
} from './support.ts';

let idp: TestIdp;
let corp: Connected;
let social: Connected;
let count = 0;

beforeAll(async () => {
  idp = await sharedIdpWithConnections();
  corp = await anUpstream(idp);
  social = await anUpstream(idp, { name: 'Social' });
});
beforeEach(() => {
  count += 1;
  for (const { upstream } of [corp, social]) {
    upstream.quirks = {};
    upstream.user = { sub: `app-${count}` };
  }
});
afterAll(async () => {
  await corp.remove();
  await social.remove();
});

const anApplicationWith = (fields: Record<string, unknown>) =>
  aClient(idp.services, { redirect_uris: [redirectUri], ...fields });

describe('an application that accepts only one connection', () => {
  it('offers that one alone, and neither a password nor a passkey', async () => {
    const { clientId } = await anApplicationWith({ connections: [corp.connection], local_sign_in: false });
    const page = await openSignIn(idp, { clientId });
    expect(page.text).toContain(`/connections/${corp.connection}"`);
    expect(page.text).not.toContain(`/connections/${social.connection}"`);
    expect(fieldsOf(page)).not.toContain('password');
    expect(fieldsOf(page)).not.toContain('response');
  });

  it('accepts no password that is sent all the same, and no other connection', async () => {
    const { clientId } = await anApplicationWith({ connections: [corp.connection], local_sign_in: false });
    const { username } = await aUser(idp.services);
    const browser = httpClient(idp.issuer);
    const page = await openSignIn(idp, { clientId, browser });
    const [form] = page.forms;
    const uid = new URL(page.url).pathname;
    const headers = { origin: idp.issuer, 'sec-fetch-site': 'same-origin' };
    const _csrf = form?.fields._csrf ?? '';
    const password = await browser.post(`${uid}/password`, { form: { _csrf, username, password: PASSWORD }, headers });
    expect(password.status).toBe(403);
    const other = await browser.post(`${uid}/connections/${social.connection}`, { form: { _csrf }, headers });
    expect(other.status).toBe(403);
    expect((await openSignIn(idp, { clientId, connection: social.connection })).status).toBe(403);
  });

  it('does not accept a session that began with a password, or at another connection', async () => {
    const { clientId } = await anApplicationWith({ connections: [corp.connection], local_sign_in: false });
    const open = await anApplicationWith({});
    const user = await aUser(idp.services);
    const local = httpClient(idp.issuer);
    expectSignedIn(await enter(idp, { clientId: open.clientId, ...user }, local));
    const { browser: fromSocial } = await signInOver(idp, social.connection);
    for (const browser of [local, fromSocial]) {
      const silent = await outcome(browser, authorizeUrl(idp, clientId, { prompt: 'none' }));
      expect(silent.get('error')).toBe('login_required');
      const page = await openSignIn(idp, { clientId, browser });
      expect(page.text).toContain(`/connections/${corp.connection}"`);
    }
    const { browser } = await signInOver(idp, corp.connection);
    const accepted = await outcome(browser, authorizeUrl(idp, clientId, { prompt: 'none' }));
    expect(accepted.get('code')).toBeTruthy();
  });

  it('does not accept a session at a connection whose record a database writer changed', async () => {
    const { clientId } = await anApplicationWith({ connections: [corp.connection], local_sign_in: false });
    const { browser } = await signInOver(idp, social.connection);
    await idp.services.db.asStored.upstreamSession.updateMany({
      where: { connectionId: social.connection, subject: `app-${count}` },
      data: { connectionId: corp.connection },
    });
    const silent = await outcome(browser, authorizeUrl(idp, clientId, { prompt: 'none' }));
    expect(silent.get('error')).toBe('login_required');
  });
});

describe('a request for a recent sign-in', () => {
  const seconds = () => Math.floor(Date.now() / 1000);

  it('is passed on, and met when the upstream says that the user authenticated now', async () => {
    corp.upstream.quirks = { idToken: { auth_time: seconds() } };
    const { page } = await signInOver(idp, corp.connection, { prompt: 'login' });
    expectSignedIn(page);
    expect(corp.upstream.lastRequest.get('prompt')).toBe('login');
    expect(corp.upstream.lastRequest.get('max_age')).toBe('0');
  });

  it.each([
    ['an old time with prompt=login', { prompt: 'login' }, 600],
    ['an old time with max_age', { max_age: '60' }, 600],
    ['no time with prompt=login', { prompt: 'login' }, undefined],
    ['no time with max_age', { max_age: '3600' }, undefined],
  ])(
    'ends in login_required when the upstream states %s and there is no factor here',
    async (_what, parameters, age) => {
      corp.upstream.quirks = { idToken: { auth_time: age === undefined ? undefined : seconds() - age } };
      const { page } = await signInOver(idp, corp.connection, parameters);
      expect(new URL(page.location ?? '').searchParams.get('error')).toBe('login_required');
    },
  );

  it('is met by a second factor of this server when the upstream states no time', async () => {
    await signInOver(idp, corp.connection);
    const account = await accountOf(idp, corp.connection, `app-${count}`);
    if (!account) throw new Error('no account');
    const { totp } = idp.services.mfa;
    const { secret, sealed } = totp.begin(account);
    await totp.confirm(account, sealed, generateSync({ secret }));
    corp.upstream.quirks = { idToken: { auth_time: undefined } };
    const { page, browser } = await signInOver(idp, corp.connection, { prompt: 'login' });
    expect(actionsOf(page)).toContainEqual(expect.stringMatching(/\/code$/));
    const code = generateSync({ secret, epoch: seconds() + 30 });
    const done = await browser.follow(await browser.submit(page, { code }, { form: '/code' }), isAtApplication);
    expectSignedIn(done);
  });

  it('is not met by a session whose upstream stated no time, however new it is', async () => {
    corp.upstream.quirks = { idToken: { auth_time: undefined } };
    const { browser, clientId } = await signInOver(idp, corp.connection);
    const silent = await outcome(browser, authorizeUrl(idp, clientId, { prompt: 'none', max_age: '3600' }));
    expect(silent.get('error')).toBe('login_required');
  });

  it('never goes to the upstream with prompt=none', async () => {
    const { clientId } = await anApplicationWith({});
    corp.upstream.lastRequest = new URLSearchParams();
    const silent = await outcome(
      httpClient(idp.issuer),
      authorizeUrl(idp, clientId, { prompt: 'none', connection: corp.connection }),
    );
    expect(silent.get('error')).toBe('login_required');
    expect(corp.upstream.lastRequest.size).toBe(0);
  });
});

describe('the address of a proven domain', () => {
  it('leads to its connection, and any other address to the password, known or not', async () => {
    const routed = await anUpstream(idp, { domains: [`d${process.pid}.example`] }, { proven: true });
    routed.upstream.user = { sub: `app-${count}` };
    const { clientId } = await anApplicationWith({});
    const known = await aUser(idp.services);
    const browser = httpClient(idp.issuer);
    const page = await openSignIn(idp, { clientId, browser });
    expect(fieldsOf(page)).not.toContain('password');
    const sent = await browser.submit(page, { username: `Ann@D${process.pid}.example` }, { form: '/identifier' });
    expectSignedIn(await browser.follow(sent, isAtApplication));
    expect(routed.upstream.lastRequest.get('login_hint')).toBe(`Ann@D${process.pid}.example`);
    const answers = [];
    for (const username of [known.username, 'unknown@nowhere.example']) {
      const client = httpClient(idp.issuer);
      const form = await openSignIn(idp, { clientId, browser: client });
      const next = await client.follow(await client.submit(form, { username }, { form: '/identifier' }));
      expect(next.forms.map(({ fields }) => fields)).toContainEqual(
        expect.objectContaining({ username, password: expect.any(String) }),
      );
      answers.push(next.text.replaceAll(username, '').replace(/[\w-]{20,}/g, ''));
    }
    expect(answers[0]).toBe(answers[1]);
    const hinted = await openSignIn(idp, { clientId, login_hint: `bob@d${process.pid}.example` });
    expectSignedIn(hinted);
    await routed.remove();
  });
});

describe('a connection that is required for its domains', () => {
  it('shuts the passwords of their users out, but not those of administrators', async () => {
    const domain = `required${process.pid}.example`;
    const fields = { domains: [domain], required_for_domains: true, trusted_email: 'domains' };
    const required = await anUpstream(idp, fields, { proven: true });
    const { clientId } = await anApplicationWith({});
    const [user, admin] = [
      await aUser(idp.services, { email: `user@${domain}` }),
      await aUser(idp.services, { email: `admin@${domain}` }),
    ];
    await idp.services.roles.assign(admin.account.id, 'admin');
    for (const { username } of [user, admin]) {
      const browser = httpClient(idp.issuer);
      const form = await openSignIn(idp, { clientId, browser });
      const next = await browser.follow(await browser.submit(form, { username }, { form: '/identifier' }));
      const page = await browser.follow(await browser.submit(next, { username, password: PASSWORD }), isAtApplication);
      if (username === admin.username) {
        expect(page.status).toBe(303);
        expectSignedIn(page, 'the administrator');
        continue;
      }
      expect(page.status).toBe(403);
      expectNotSignedIn(page);
      expect(textOf(page.text)).toContain('You can sign in to this account only with Example Corp.');
      expect(page.text).toContain(`/login?connection=${required.connection}"`);
    }
    await required.remove();
  });

  it('links no account of its domains to another connection by the password', async () => {
    const domain = `strict${process.pid}.example`;
    const email = `user@${domain}`;
    const required = await anUpstream(idp, { domains: [domain], required_for_domains: true }, { proven: true });
    const user = await aUser(idp.services, { email });
    // Its own connection may link it: the sign-in there comes first.
    for (const [{ connection, upstream }, isAccepted] of [
      [social, false],
      [required, true],
    ] as const) {
      upstream.user = { sub: `strict-${count}`, email, email_verified: true };
      const { page, browser } = await signInOver(idp, connection);
      const proof = { username: user.username, password: PASSWORD };
      const sent = await browser.follow(await browser.submit(page, proof, { form: '/password' }), isAtApplication);
      expect(sent.status, connection).toBe(isAccepted ? 303 : 403);
      if (isAccepted) expectSignedIn(sent, connection);
      else expectNotSignedIn(sent, connection);
      expect((await accountOf(idp, connection, `strict-${count}`))?.id).toBe(isAccepted ? user.account.id : undefined);
    }
    await required.remove();
  });
});

describe('a second factor', () => {
  it('follows the upstream when the application demands it, and counts together with it', async () => {
    await signInOver(idp, corp.connection);
    const account = await accountOf(idp, corp.connection, `app-${count}`);
    if (!account) throw new Error('no account');
    const { totp } = idp.services.mfa;
    const { secret, sealed } = totp.begin(account);
    await totp.confirm(account, sealed, generateSync({ secret }));
    const { clientId } = await anApplicationWith({ mfa: 'required' });
    const browser = httpClient(idp.issuer);
    const form = await openSignIn(idp, { clientId, browser });
    const page = await pressConnection(browser, form, corp.connection);
    expect(actionsOf(page)).toContainEqual(expect.stringMatching(/\/code$/));
    const code = generateSync({ secret, epoch: seconds30() });
    const done = await browser.follow(await browser.submit(page, { code }, { form: '/code' }), isAtApplication);
    expectSignedIn(done);
  });
});

const seconds30 = () => Math.floor(Date.now() / 1000) + 30;
