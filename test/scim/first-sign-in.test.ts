// How a person whom a directory created signs in for the first time: the account has no password. As docs/scim.md says.
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { aService } from '../admin/support.ts';
import { accountOf, anUpstream, type Connected, signInOver } from '../federation/support.ts';
import { anApplication, completeSignIn } from '../oidc/support.ts';
import { linkIn, NEW_PASSWORD, open, redeem, resetLink } from '../recovery/support.ts';
import { httpClient } from '../support/http.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';
import { type Mailbox, mailbox } from '../support/mailbox.ts';
import { signedIn } from '../support/pages/account.ts';
import { expectNotSignedIn, expectSignedIn } from '../support/pages/enter.ts';
import { textOf } from '../support/pages/html.ts';
import { aConnection, type Connection, USER } from './support.ts';

let box: Mailbox;
let idp: TestIdp;
let hr: Connection;
let count = 0;
let email: string;
let id: string;
beforeAll(async () => {
  box = await mailbox();
  idp = await startIdp({ environment: { SMTP_URL: box.url } });
  hr = await aConnection(idp);
});
afterAll(async () => {
  await idp?.stop();
  await box?.close();
});
beforeEach(async () => {
  count += 1;
  email = `first${count}@corp.example`;
  const emails = [{ value: email, type: 'work', primary: true }];
  id = String((await hr.ok('POST', '/Users', { schemas: [USER], userName: email, externalId: email, emails })).id);
});

/** A sign-in at the same directory. */
async function atDirectory(fields: Record<string, unknown>, work: (directory: Connected) => Promise<void>) {
  const directory = await anUpstream(idp, fields, { proven: true });
  directory.upstream.user = { sub: `sub-${count}`, email, email_verified: true };
  try {
    await work(directory);
  } finally {
    await directory.remove();
  }
}

it.each([
  ['which says that it proved the address', { email_verified: true }, {}],
  ['which says nothing of the address, as Entra ID', {}, { trusted_email: 'domains' }],
])('at once at a connection with the same directory, %s', (_what, said, trust) => {
  const fields = { link: 'trusted', domains: ['corp.example'], create_users: false, ...trust };
  return atDirectory(fields, async ({ connection, upstream }) => {
    upstream.user = { sub: `sub-${count}`, email, ...said };
    expectSignedIn((await signInOver(idp, connection)).page);
    expect((await accountOf(idp, connection, `sub-${count}`))?.id).toBe(id);
    upstream.user = { sub: 'nobody', email: 'nobody@corp.example', ...said };
    expectNotSignedIn((await signInOver(idp, connection)).page);
  });
});

it('at once at a connection that knows other names, which the directory keeps', () => {
  const fields = { link: 'trusted', domains: ['corp.example'], create_users: false };
  return atDirectory(fields, async ({ connection, upstream }) => {
    const claims = {
      name: 'Ann M. Example',
      given_name: 'Ann',
      phone_number: '+41791234567',
      zoneinfo: 'Europe/Zurich',
    };
    upstream.user = { sub: `sub-${count}`, email, email_verified: true, ...claims };
    for (const _turn of ['first', 'second']) expectSignedIn((await signInOver(idp, connection)).page);
    const account = await accountOf(idp, connection, `sub-${count}`);
    // The directory manages no time zone.
    expect(account).toMatchObject({
      id,
      email,
      name: null,
      givenName: null,
      phoneNumber: null,
      zoneinfo: claims.zoneinfo,
    });
  });
});

it('without a question for an own field that the directory fills, also where it sends none', async () => {
  const { accounts, credentials, settings } = idp.services;
  const badge = { type: 'string', visible_to: ['person', 'desk'], editable_by: ['person'], ask: true };
  await settings.set('user_attributes', { type: 'object', required: ['badge'], properties: { badge } });
  await settings.reload();
  const filling = await aConnection(idp, { mappings: { attributes: { badge: 'title' }, groups: {} } });
  for (const client of [filling, hr]) {
    const username = `asked${count}-${client === hr}`;
    const user = await client.ok('POST', '/Users', { userName: username });
    const account = await accounts.find(String(user.id));
    if (!account) throw new Error('no account');
    await credentials.setPassword(account, NEW_PASSWORD, {});
    const app = await anApplication(idp);
    const answered = await completeSignIn(httpClient(idp.issuer), (await app.rp.start()).url, {
      user: { account, username, password: NEW_PASSWORD },
    });
    expect([client === hr, answered.location?.includes('code=') ?? false]).toEqual([client === hr, client !== hr]);
  }
  await settings.unset('user_attributes');
  await settings.reload();
});

it('not without link: trusted, as there is nothing with which the account could be proven', () =>
  atDirectory({ domains: ['corp.example'] }, async ({ connection }) => {
    const { page } = await signInOver(idp, connection);
    expectNotSignedIn(page);
    expect(textOf(page.text)).toContain('Is this your account?');
  }));

it('at a connection with the subject that the account has in advance', () =>
  atDirectory({}, async ({ connection }) => {
    const { send } = await aService(idp);
    const fields = { sso_connection: connection, sso_id: `sub-${count}` };
    const set = await send('PATCH', `/users/${id}`, fields, { 'if-match': '*' });
    expect(set.status, set.text).toBe(200);
    expectSignedIn((await signInOver(idp, connection)).page);
  }));

it('with an invitation, by a password', async () => {
  const { send } = await aService(idp);
  expect((await send('POST', `/users/${id}/invite`)).status).toBe(202);
  const mail = await box.waitForMail(email);
  const { browser, page } = await open(idp, linkIn(mail));
  expect(textOf(page.text)).toContain('Create passkey');
  await browser.submit(page, { password: NEW_PASSWORD });
  await signedIn(idp, { username: email, password: NEW_PASSWORD });
});

it('with the link of a forgotten password', async () => {
  await redeem(idp, await resetLink(idp, box, email, email));
  await signedIn(idp, { username: email, password: NEW_PASSWORD });
});
