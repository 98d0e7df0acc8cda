// Which account an identity of an upstream signs in to, and what has to be proven before it is linked.
import { generateSync } from 'otplib';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { parseCsv } from '../../src/base/platform/csv.ts';
import { consoleOf, staff, startedImport, triedImport } from '../admin/console/support.ts';
import { type ApiCaller, aPerson, aService, aTool } from '../admin/support.ts';
import { authorizeUrl, outcome } from '../oidc/support.ts';
import { databaseKind } from '../support/database/database.ts';
import { itOnSqlite } from '../support/database/it-on-sqlite.ts';
import { aUser, PASSWORD } from '../support/factories.ts';
import type { TestIdp } from '../support/idp.ts';
import { expectNotSignedIn, expectSignedIn } from '../support/pages/enter.ts';
import { actionsOf, textOf } from '../support/pages/html.ts';
import { sharedIdpWithConnections } from '../support/shared-idp.ts';
import { accountOf, anUpstream, type Connected, isAtApplication, signInOver } from './support.ts';

let idp: TestIdp;
let corp: Connected;
let trusting: Connected;
let count = 0;
/** Managers of users: without the role `by-group`, and with it. */
let manager: ApiCaller;
let holder: ApiCaller;

beforeAll(async () => {
  idp = await sharedIdpWithConnections();
  // Before the domains of a connection make the sign-in page ask for the address first.
  await idp.services.roles.create({ name: 'by-group', permissions: [] });
  const tool = await aTool(idp);
  manager = await aPerson(idp, ['user-manager'], { tool });
  holder = await aPerson(idp, ['user-manager', 'by-group'], { tool });
  corp = await anUpstream(idp);
  trusting = await anUpstream(
    idp,
    { link: 'trusted', trusted_email: 'verified', domains: ['trusted.example'] },
    { proven: true },
  );
  await idp.services.settings.set('username_domains', ['trusted.example']);
  await idp.services.settings.reload();
});
beforeEach(() => {
  corp.upstream.quirks = {};
  count += 1;
});
afterAll(async () => {
  await corp.remove();
  await trusting.remove();
  await idp.services.settings.unset('username_domains');
  await idp.services.settings.reload();
});

const aSubject = () => `match-${count}`;

describe('an identity with the address of an account', () => {
  it('is linked only after that account was proven with its password', async () => {
    const { account, username } = await aUser(idp.services);
    corp.upstream.user = { sub: aSubject(), email: account.email, email_verified: true };
    const { page, browser } = await signInOver(idp, corp.connection);
    expect(page.text).toContain('Is this your account?');
    expect(page.text).not.toContain(username);
    expect(await accountOf(idp, corp.connection, aSubject())).toBeUndefined();
    const done = await browser.follow(await browser.submit(page, { username, password: PASSWORD }), isAtApplication);
    expectSignedIn(done);
    expect((await accountOf(idp, corp.connection, aSubject()))?.id).toBe(account.id);
    // From now on without a proof.
    expectSignedIn((await signInOver(idp, corp.connection)).page);
  });

  itOnSqlite('is not linked when another account is proven instead', async () => {
    const owner = await aUser(idp.services);
    const other = await aUser(idp.services);
    corp.upstream.user = { sub: aSubject(), email: owner.account.email, email_verified: true };
    const { page, browser } = await signInOver(idp, corp.connection);
    const rejected = await browser.submit(page, { username: other.username, password: other.password });
    expect(rejected.status).toBe(409);
    expect(rejected.text).toContain('a different account');
    expect(await accountOf(idp, corp.connection, aSubject())).toBeUndefined();
  });

  itOnSqlite('demands the second factor of that account, whatever the upstream vouches for', async () => {
    const vouching = await anUpstream(idp, { trusted_amr: { mfa: ['mfa'] } });
    const { account, username } = await aUser(idp.services);
    const { totp } = idp.services.mfa;
    const { secret, sealed } = totp.begin(account);
    await totp.confirm(account, sealed, generateSync({ secret }));
    vouching.upstream.user = { sub: aSubject(), email: account.email, email_verified: true, amr: ['mfa'] };
    const { page, browser } = await signInOver(idp, vouching.connection);
    await vouching.remove();
    const next = await browser.follow(await browser.submit(page, { username, password: PASSWORD }), isAtApplication);
    expectNotSignedIn(next);
    expect(actionsOf(next)).toContainEqual(expect.stringMatching(/\/code$/));
    expect(await accountOf(idp, vouching.connection, aSubject())).toBeUndefined();
  });

  itOnSqlite(
    'is not linked by an address that the upstream does not prove, as another tenant could state it',
    async () => {
      const { account } = await aUser(idp.services);
      corp.upstream.user = { sub: aSubject(), email: account.email, email_verified: false };
      const { page } = await signInOver(idp, corp.connection);
      expect(page.text).toContain('Is this your account?');
      expect(await accountOf(idp, corp.connection, aSubject())).toBeUndefined();
    },
  );

  itOnSqlite(
    'is linked without a proof only in a proven domain, verified on both sides, and where nothing else could prove it',
    async () => {
      const { accounts } = idp.services;
      const email = `silent-${count}@trusted.example`;
      const account = await accounts.create({ username: `silent-${count}`, email, emailVerified: true });
      trusting.upstream.user = { sub: aSubject(), email, email_verified: true };
      expectSignedIn((await signInOver(idp, trusting.connection)).page);
      expect((await accountOf(idp, trusting.connection, aSubject()))?.id).toBe(account.id);
    },
  );

  itOnSqlite('ends the sessions that the account had before, such as that of the manager who made it', async () => {
    const { accounts, identities } = idp.services;
    const email = `early-${count}@trusted.example`;
    const account = await accounts.create({ username: `early-${count}`, email, emailVerified: true });
    await identities.link({ connectionId: corp.connection, subject: aSubject(), userId: account.id, label: 'x' }, {});
    corp.upstream.user = { sub: aSubject() };
    const { browser, clientId } = await signInOver(idp, corp.connection);
    const [own] = await identities.ofUser(account.id);
    await identities.unlink(account.id, own?.id ?? '', {});
    trusting.upstream.user = { sub: aSubject(), email, email_verified: true };
    expectSignedIn((await signInOver(idp, trusting.connection)).page);
    expect((await accountOf(idp, trusting.connection, aSubject()))?.id).toBe(account.id);
    const before = await outcome(browser, authorizeUrl(idp, clientId, { prompt: 'none' }));
    expect(before.get('error')).toBe('login_required');
  });

  itOnSqlite.each([
    ['a password here', { password: true }],
    ['an identity of another connection', { linked: true }],
    ['a right in Gatehouse', { admin: true }],
    ['an address in another domain', { domain: 'other.example' }],
    ['an address that the upstream does not prove', { verified: false }],
    ['another address that looks the same', { stated: (email: string) => email.replace('o', 'о') }], // Cyrillic
    ['another address and this username', { own: 'owner@other.example' }],
    ['no address and this username', { own: null }],
  ])(
    'is not linked silently to an account with %s',
    async (
      _what,
      {
        password,
        admin,
        linked,
        domain = 'trusted.example',
        verified = true,
        stated = (email) => email,
        own,
      }: {
        password?: boolean;
        admin?: boolean;
        linked?: boolean;
        domain?: string;
        verified?: boolean;
        stated?: (email: string) => string;
        own?: string | null;
      },
    ) => {
      const { accounts, identities, roles } = idp.services;
      const email = `loud-${count}@${domain}`;
      const usual = { username: `loud-${count}`, email, emailVerified: true };
      const profile = own === undefined ? usual : { username: email, email: own, emailVerified: own !== null };
      const account = password ? (await aUser(idp.services, profile)).account : await accounts.create(profile);
      if (admin) await roles.assign(account.id, 'admin');
      const identity = { connectionId: corp.connection, subject: aSubject(), userId: account.id, label: email };
      if (linked) await identities.link(identity, {});
      trusting.upstream.user = { sub: aSubject(), email: stated(email), email_verified: verified };
      const { page } = await signInOver(idp, trusting.connection);
      expect(page.text).toContain('Is this your account?');
      expect(await accountOf(idp, trusting.connection, aSubject())).toBeUndefined();
      expect((await accounts.find(account.id))?.email).toBe(profile.email);
    },
  );

  itOnSqlite(
    'takes a proven address from an account that never verified it, and nothing else of that account',
    async () => {
      const { accounts } = idp.services;
      const email = `squatted-${count}@known.example`;
      const squatter = await aUser(idp.services, { username: email, email, emailVerified: false });
      corp.upstream.user = { sub: aSubject(), email, email_verified: true };
      expectSignedIn((await signInOver(idp, corp.connection)).page);
      const owner = await accountOf(idp, corp.connection, aSubject());
      expect(owner).toMatchObject({ email, emailVerified: true });
      expect(owner?.id).not.toBe(squatter.account.id);
      expect(await accounts.find(squatter.account.id)).toMatchObject({ email: null, emailVerified: false });
      expect((await accounts.findByLogin(email))?.id).toBe(owner?.id);
    },
  );

  itOnSqlite(
    'makes an account without an address that the upstream does not prove, and asks its owner by mail',
    async () => {
      const email = `unproven-${count}@known.example`;
      corp.upstream.user = { sub: aSubject(), email };
      expectSignedIn((await signInOver(idp, corp.connection)).page);
      const account = await accountOf(idp, corp.connection, aSubject());
      expect(account).toMatchObject({ email: null, emailVerified: false });
      const links = await idp.services.db.asStored.mailToken.findMany({ where: { userId: account?.id ?? '' } });
      expect(links).toMatchObject([{ purpose: 'change-email', data: expect.stringContaining(email) }]);
    },
  );

  it('makes one account for six first sign-ins at the same moment', async () => {
    const email = `together-${count}@known.example`;
    corp.upstream.user = { sub: aSubject(), email, email_verified: true };
    const pages = await Promise.all(Array.from({ length: 6 }, () => signInOver(idp, corp.connection)));
    for (const { page } of pages) {
      expect(page.status).toBe(303);
      expectSignedIn(page);
    }
    expect(await idp.services.db.externalIdentity.count({ where: { subject: aSubject() } })).toBe(1);
    expect(await idp.services.db.user.count({ where: { ssoId: aSubject() } })).toBe(1);
  });

  it.runIf(databaseKind() === 'postgresql')(
    'signs in to the account that another browser has made since the identity was looked up',
    async () => {
      const { identities, db } = idp.services;
      corp.upstream.user = { sub: aSubject(), email: `meanwhile-${count}@known.example`, email_verified: true };
      const { find } = identities;
      vi.spyOn(identities, 'find').mockImplementationOnce(async (...call) => {
        const found = await find(...call);
        expectSignedIn((await signInOver(idp, corp.connection)).page);
        return found;
      });
      expectSignedIn((await signInOver(idp, corp.connection)).page);
      expect(await db.externalIdentity.count({ where: { subject: aSubject() } })).toBe(1);
    },
  );

  itOnSqlite('makes usernames, and never finds an account by one', async () => {
    const { account } = await aUser(idp.services, { username: `taken-${count}` });
    corp.upstream.user = { sub: aSubject(), preferred_username: account.username };
    await signInOver(idp, corp.connection);
    const made = await accountOf(idp, corp.connection, aSubject());
    expect(made?.id).not.toBe(account.id);
    expect(made?.username).toBe(`taken-${count}-2`);
  });

  itOnSqlite('does not sign in a disabled user', async () => {
    corp.upstream.user = { sub: aSubject() };
    await signInOver(idp, corp.connection);
    const account = await accountOf(idp, corp.connection, aSubject());
    await idp.services.accounts.setActive(account?.id ?? '', false);
    const { page } = await signInOver(idp, corp.connection);
    expect(page.status).toBe(403);
    expect(page.text).toContain('This account can’t be used now');
  });
});

describe('sso_id with its connection', () => {
  itOnSqlite(
    'leads a sign-in with this subject to the account, which an administrator declared over the API',
    async () => {
      const api = await aService(idp);
      const { account } = await aUser(idp.services);
      const path = `/users/${account.id}`;
      const patch = (body: object) => api.send('PATCH', path, body, { 'if-match': '*' });
      const connected = async () => (await accountOf(idp, corp.connection, aSubject()))?.id;
      expect((await patch({ sso_connection: corp.connection })).status).toBe(400); // without sso_id
      expect((await patch({ sso_id: aSubject(), sso_connection: 'nowhere' })).status).toBe(400);
      expect((await patch({ sso_id: aSubject() })).status).toBe(200);
      expect(await connected()).toBeUndefined();
      expect((await patch({ sso_connection: corp.connection })).status).toBe(200);
      const { etag } = (await api.get(path)).headers;
      expect((await api.get(path)).json()).toMatchObject({ sso_id: aSubject(), sso_connection: corp.connection });
      const exported = await (await consoleOf(idp, await staff(idp, 'auditor'))).get('/admin/import/export');
      const [header = [], ...rows] = (await parseCsv(exported.text)).map(({ cells }) => cells);
      const row = rows.find(([name]) => name === account.username) ?? [];
      expect(['sso_id', 'sso_connection'].map((name) => row[header.indexOf(name)])).toEqual([
        aSubject(),
        corp.connection,
      ]);
      // The same subject of another connection is another person.
      trusting.upstream.user = { sub: aSubject() };
      expectSignedIn((await signInOver(idp, trusting.connection)).page);
      expect((await accountOf(idp, trusting.connection, aSubject()))?.id).not.toBe(account.id);
      corp.upstream.user = { sub: aSubject(), name: 'From Upstream', email: `sso-${count}@corp.example` };
      expectSignedIn((await signInOver(idp, corp.connection)).page);
      expect(await accountOf(idp, corp.connection, aSubject())).toMatchObject({
        id: account.id,
        name: 'From Upstream',
      });

      const taken = await api.send('POST', '/users', {
        username: `second-${count}`,
        invite: false,
        sso_id: aSubject(),
        sso_connection: corp.connection,
      });
      expect([taken.status, taken.json().code]).toEqual([409, 'identity_taken']);
      expect(await idp.services.accounts.findByLogin(`second-${count}`)).toBeUndefined();
      expect((await patch({ sso_connection: null })).status).toBe(200);
      expect(await connected()).toBeUndefined();
      // The version covers it: what was read before is not changed by accident.
      const late = await api.send('PATCH', path, { sso_connection: corp.connection }, { 'if-match': String(etag) });
      expect(late.status).toBe(412);
    },
  );

  itOnSqlite('takes the right to give roles at a connection that gives these roles by group', async () => {
    const role = 'by-group';
    const giving = await anUpstream(idp, { groups_claim: 'groups', role_mappings: { staff: role, root: 'admin' } });
    const plain = await anUpstream(idp, { groups_claim: 'groups', role_mappings: { staff: role } });
    const { account: peer } = await aUser(idp.services);
    const at = ({ connection }: Connected) => ({ sso_id: aSubject(), sso_connection: connection });
    const created = (by: ApiCaller, where: Connected, username = `victim-${count}`) =>
      by.send('POST', '/users', { username, password: PASSWORD, ...at(where) });
    const patched = (id: string, where: Connected) =>
      manager.send('PATCH', `/users/${id}`, at(where), { 'if-match': '*' });
    for (const where of [giving, plain])
      for (const answer of [
        await created(manager, where),
        await patched(peer.id, where),
        await patched(manager.user?.account.id ?? '', where),
      ])
        expect([answer.status, answer.json().code], answer.text).toEqual([403, 'forbidden']);
    expect((await created(holder, giving)).status).toBe(403);
    const page = await consoleOf(idp, await staff(idp, 'user-manager'));
    const csv = `username,sso_id,sso_connection\r\nvictim-${count},${aSubject()},${plain.connection}`;
    const tried = await triedImport(page, csv);
    expect(textOf(tried.text)).toContain('Only someone who has or manages the roles');
    expect(await idp.services.accounts.findByLogin(`victim-${count}`)).toBeUndefined();
    expect(await accountOf(idp, plain.connection, aSubject())).toBeUndefined();

    expect((await created(holder, plain, `hired-${count}`)).status).toBe(201);
    expect((await patched(peer.id, corp)).status).toBe(200); // gives no role
    plain.upstream.user = { sub: aSubject(), groups: ['staff'] };
    expectSignedIn((await signInOver(idp, plain.connection)).page);
    expect(await accountOf(idp, plain.connection, aSubject())).toMatchObject({
      username: `hired-${count}`,
      roles: [role],
    });
    await giving.remove();
    await plain.remove();
  });

  itOnSqlite('is declared by an import, which names a wrong row', async () => {
    const admin = await consoleOf(idp, await staff(idp, 'admin'));
    const row = (name: string, connection: string) => `${name}-${count},${aSubject()},${connection}`;
    // As the export writes a subject that begins like a formula.
    const dashed = `dashed-${count},'-${aSubject()},${corp.connection}`;
    const rows = [row('imported', corp.connection), row('nowhere', 'no-such'), dashed];
    const csv = ['username,sso_id,sso_connection', ...rows].join('\r\n');
    const tried = await triedImport(admin, csv);
    expect(textOf(tried.text)).toContain('There is no connection no-such.');
    await startedImport(admin, tried);
    expect((await accountOf(idp, corp.connection, aSubject()))?.username).toBe(`imported-${count}`);
    expect((await accountOf(idp, corp.connection, `-${aSubject()}`))?.username).toBe(`dashed-${count}`);
    corp.upstream.user = { sub: aSubject() };
    expectSignedIn((await signInOver(idp, corp.connection)).page);
  });
});
