// API keys: what a program does with one, who may create, see and revoke them, and what an attacker gains with one: nothing more than
// its owner has at this moment, and nothing outside of the admin API.
import { crc32 } from 'node:zlib';
import { beforeAll, describe, expect, it } from 'vitest';
import { idInKey, newKeyText } from '../../src/people/api-keys/api-keys.ts';
import { adminApi } from '../../src/people/rbac/built-in.ts';
import { anApplication, basic } from '../oidc/support.ts';
import { signRows } from '../support/database/row-macs.ts';
import { aUser } from '../support/factories.ts';
import { httpClient } from '../support/http.ts';
import type { TestIdp } from '../support/idp.ts';
import { sharedIdp } from '../support/shared-idp.ts';
import { type ApiCaller, aPerson, aTool, caller, tokenOfLongAgo } from './support.ts';

let idp: TestIdp;
let admin: ApiCaller;
/** May create keys and manage users; no administrator. */
let manager: ApiCaller;
beforeAll(async () => {
  idp = await sharedIdp();
  admin = await aPerson(idp, ['admin'], { tool: await aTool(idp) });
  manager = await aPerson(idp, [], { tool: admin.app });
  await holds(idOf(manager), ...MANAGER);
});

const MANAGER = [
  ...['gatehouse.api-keys:read', 'gatehouse.api-keys:write', 'gatehouse.audit:read'],
  ...['gatehouse.users:read', 'gatehouse.users:write'],
];
const idOf = ({ user }: ApiCaller) => user?.account.id ?? '';
const anyVersion = { 'if-match': '*' };

/** A program with this key. */
const program = (key: string) => caller(idp, key, admin.app);

/** A new key of this person, by the API. */
async function aKey(person: ApiCaller, permissions: string[], more: Record<string, unknown> = {}) {
  const made = await person.send('POST', '/api-keys', { name: 'Backup', permissions, ...more });
  expect(made.status, made.text).toBe(201);
  return made.json<{ id: string; api_key: string; expires_at: string; state: string }>();
}

/** A key of a user who does not sign in here. */
async function keyOf(ownerId: string, permissions: string[]) {
  const { key, text } = await idp.services.apiKeys.create({ ownerId, name: 'Script', permissions, days: 30 }, {});
  return { id: key.id, api_key: text };
}

/** Gives the user a role of these permissions instead of all others, and returns its name. */
async function holds(userId: string, ...permissions: string[]): Promise<string> {
  const { roles } = idp.services;
  const { name } = await roles.create({ name: `role-${newKeyText().id}`, permissions });
  await roles.setRoles(userId, [name]);
  return name;
}

const eventsOf = (actorId: string, type: string) =>
  idp.services.audit.list({ actorId }).then((all) => all.filter((one) => one.type === type));

/** The response to a wrong token, and the reason that only the log has. */
async function expectRejected(key: string, reason?: string): Promise<void> {
  const page = await program(key).get('/me');
  const { requestId: _id, ...wrong } = page.json();
  const { requestId: _other, ...unknown } = (await program('made-up').get('/me')).json();
  expect(wrong).toEqual(unknown);
  expect([page.status, wrong.code]).toEqual([401, 'invalid_token']);
  expect(page.headers['www-authenticate']).toBe(`Bearer realm="${adminApi(idp.issuer)}", error="invalid_token"`);
  if (reason !== undefined) {
    const [event] = await idp.services.audit.list({ types: ['api-key.used'], outcome: 'failure', limit: 1 });
    expect(event).toMatchObject({ reason, data: { keyId: idInKey(key) } });
  }
}

/** CRC-32 in base 62, as docs/decisions/0045-api-keys.md describes it for secret scanners. */
function checksum(body: string): string {
  let rest = crc32(body);
  let text = '';
  for (; text.length < 6; rest = Math.floor(rest / 62))
    text = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'.charAt(rest % 62) + text;
  return text;
}

describe('an API key', () => {
  it('lets a program call the admin API for its owner, with the permissions of the key', async () => {
    const {
      id,
      api_key: key,
      state,
      expires_at,
    } = await aKey(admin, ['gatehouse.users:read', 'gatehouse.users:write']);
    expect(key).toMatch(/^gh_[0-9A-Za-z]{60}$/);
    expect(state).toBe('active');
    expect(Math.round((Date.parse(expires_at) - Date.now()) / 86_400_000)).toBe(90);
    const me = (await program(key).get('/me')).json();
    expect(me).toEqual({
      application: null,
      api_key: { id, name: 'Backup' },
      user: { id: idOf(admin), username: admin.user?.username },
      permissions: ['gatehouse.users:read', 'gatehouse.users:write'],
    });
    const made = await program(key).send('POST', '/users', { username: `by-${id}` });
    expect(made.status).toBe(201);
    const roles = await program(key).get('/roles');
    expect([roles.status, roles.headers['www-authenticate']]).toEqual([
      403,
      'Bearer error="insufficient_scope", scope="gatehouse.roles:read"',
    ]);
    const [created] = await eventsOf(idOf(admin), 'account.created');
    expect(created).toMatchObject({ actorApp: null, data: { apiKey: { id, name: 'Backup' } } });
  });

  it('is stored as a keyed hash, and listed with its end, its last characters and its last use', async () => {
    const { id, api_key: key } = await aKey(admin, ['gatehouse.audit:read'], { expires_in_days: 7 });
    const { db } = idp.services;
    const stored = JSON.stringify(await db.asStored.apiKey.findMany({ where: { id } }));
    for (const secret of [key, key.slice(14, 57)]) expect(stored).not.toContain(secret);
    await program(key).get('/audit');
    await program(key).get('/audit');
    await expect
      .poll(async () => (await db.asStored.apiKey.findUnique({ where: { id } }))?.lastUsedAt)
      .toBeInstanceOf(Date);
    await expect
      .poll(() =>
        eventsOf(idOf(admin), 'api-key.used').then((all) => all.filter(({ data }) => data.keyId === id).length),
      )
      .toBe(1);
    const page = (await admin.get(`/api-keys?owner=${idOf(admin)}`)).json<{ items: Record<string, unknown>[] }>();
    expect(page.items.find((one) => one.id === id)).toMatchObject({
      name: 'Backup',
      owner: { username: admin.user?.username },
      last_four: key.slice(-4),
      created_by: idOf(admin),
      state: 'active',
      last_used_at: expect.any(String),
    });
    expect(JSON.stringify(page)).not.toContain(key);
  });

  it('is a wrong token to the caller once it expired or was revoked, and the log says why', async () => {
    const revoked = await aKey(admin, ['gatehouse.users:read']);
    expect((await admin.send('DELETE', `/api-keys/${revoked.id}`)).status).toBe(204);
    await expectRejected(revoked.api_key, 'revoked');
    expect((await admin.get(`/api-keys/${revoked.id}`)).json()).toMatchObject({ state: 'revoked' });
    expect(await eventsOf(idOf(admin), 'api-key.revoked')).toMatchObject([{ data: { keyId: revoked.id } }]);

    const expired = await aKey(admin, ['gatehouse.users:read']);
    const expiresAt = new Date(Date.now() - 1000);
    await idp.services.db.asStored.apiKey.update({ where: { id: expired.id }, data: { expiresAt, mac: '' } });
    await signRows(idp.services);
    await expectRejected(expired.api_key, 'expired');
    const ended = (await admin.get('/api-keys?state=ended')).json<{ items: { id: string; state: string }[] }>().items;
    expect(ended.filter(({ id }) => [revoked.id, expired.id].includes(id)).map(({ state }) => state)).toEqual([
      'expired',
      'revoked',
    ]);
  });

  it('is rejected when it is cut, mistyped or made up', async () => {
    const { api_key: key } = await aKey(admin, ['gatehouse.users:read']);
    const other = key.endsWith('0') ? '1' : '0';
    for (const wrong of [key.slice(0, -1), key.slice(0, -1) + other, `${key}0`, key.slice(3), newKeyText().text])
      await expectRejected(wrong);
    // The id of this key, with another secret and the right checksum.
    const body = key.slice(0, 14) + newKeyText().text.slice(14, 57);
    await expectRejected(body + checksum(body));
    expect((await program(key).get('/me')).status).toBe(200);
  });

  it('cannot make a change that needs a fresh sign-in, not even another key', async () => {
    const { id, api_key: key } = await aKey(admin, [
      'gatehouse.users:write',
      'gatehouse.roles:write',
      'gatehouse.roles:manage',
      'gatehouse.api-keys:read',
      'gatehouse.api-keys:write',
      'gatehouse.settings:write',
      'gatehouse.settings:write-security',
    ]);
    const { account } = await aUser(idp.services);
    const other = await keyOf(account.id, ['gatehouse.api-keys:read']);
    const script = program(key);
    for (const page of [
      await script.send('POST', '/api-keys', { name: 'More', permissions: ['gatehouse.users:write'] }),
      await script.send('POST', `/users/${account.id}/disable`),
      await script.send('POST', '/roles', { name: `r-${id}`, permissions: [] }),
      await script.send('PATCH', '/settings', { session_hours: 11 }, anyVersion),
    ]) {
      expect([page.status, page.json().code], page.text).toEqual([401, 'proof_needed']);
      expect(page.headers['www-authenticate']).toContain('error="insufficient_user_authentication"');
      expect(page.text).toContain('an API key can’t prove');
    }
    expect((await script.send('DELETE', `/api-keys/${other.id}`)).json().code).toBe('proof_needed');
    // It may end itself: a script that leaked its key stops it.
    expect((await script.send('DELETE', `/api-keys/${id}`)).status).toBe(204);
    await expectRejected(key);
  });

  it('is worth nothing outside of the admin API', async () => {
    const { api_key: key } = await aKey(admin, ['gatehouse.users:read']);
    const client = httpClient(idp.issuer);
    const headers = { authorization: `Bearer ${key}` };
    expect((await client.get('/userinfo', { headers })).status).toBe(401);
    expect((await client.request('POST', '/access/v1/evaluation', { headers, json: {} })).status).toBe(401);
    expect(
      (await client.request('POST', '/register', { headers, json: { redirect_uris: ['https://x.example/cb'] } }))
        .status,
    ).toBe(401);
    expect((await client.get(`/admin/users`, { headers })).status).not.toBe(200);
    const app = await anApplication(idp);
    const introspected = await client.request('POST', '/introspect', {
      headers: { authorization: basic(app.clientId, app.clientSecret) },
      form: { token: key },
    });
    expect(introspected.json()).toEqual({ active: false });
    const revocation = await client.request('POST', '/revoke', {
      headers: { authorization: basic(app.clientId, app.clientSecret) },
      form: { token: key },
    });
    expect(revocation.status).toBe(200);
    expect((await program(key).get('/users')).status).toBe(200);
  });
});

describe('the rights of an API key', () => {
  it('are at most those of its creator: no more can be put into it', async () => {
    const limited = 'gatehouse.users[role:students]:read';
    await holds(idOf(manager), ...MANAGER.slice(0, 3), limited);
    for (const permissions of [
      ['gatehouse.users:read'],
      [limited.replace('students', 'teachers')],
      ['gatehouse.settings:read'],
    ]) {
      const page = await manager.send('POST', '/api-keys', { name: 'More', permissions });
      expect([page.status, page.json().code], page.text).toEqual([403, 'forbidden']);
    }
    const { api_key: key } = await aKey(manager, [limited]);
    expect((await program(key).get('/me')).json()).toMatchObject({ permissions: [limited] });
    for (const body of [
      { name: 'All', permissions: ['admin:*'] },
      { name: 'Other', permissions: ['articles:write'] },
      { name: 'Broken', permissions: ['gatehouse.users[role:]:read'] },
      { name: 'None', permissions: [] },
      { name: '', permissions: ['gatehouse.api-keys:read'] },
      { name: 'Long', permissions: ['gatehouse.api-keys:read'], expires_in_days: 366 },
    ]) {
      const page = await manager.send('POST', '/api-keys', body);
      expect([page.status, page.json().code], page.text).toEqual([400, 'invalid_input']);
    }
  });

  it('are at most those that its owner has at each use', async () => {
    const { id: owner } = (await aUser(idp.services)).account;
    await holds(owner, 'gatehouse.users:read', 'gatehouse.audit:read');
    const { api_key: key } = await keyOf(owner, ['gatehouse.users:read', 'gatehouse.audit:read']);
    expect((await program(key).get('/users')).status).toBe(200);
    const { accounts, roles } = idp.services;
    await holds(owner, 'gatehouse.users[role:students]:read');
    expect((await program(key).get('/me')).json()).toMatchObject({
      permissions: ['gatehouse.users[role:students]:read'],
    });
    expect((await program(key).get('/users')).json()).toMatchObject({ items: [] });
    await roles.setRoles(owner, []);
    expect((await program(key).get('/me')).json()).toMatchObject({ permissions: [] });
    expect((await program(key).get('/users')).status).toBe(403);
    await accounts.setActive(owner, false);
    await expectRejected(key, 'disabled_account');
  });

  it('end with the account: a new one of the same name has none of them', async () => {
    const { username, account } = await aUser(idp.services);
    const { id, api_key: key } = await keyOf(account.id, ['gatehouse.users:read']);
    const { accounts, db, roles } = idp.services;
    expect((await admin.send('DELETE', `/users/${account.id}`, undefined, anyVersion)).status).toBe(204);
    const again = await accounts.create({ username });
    await roles.assign(again.id, 'admin');
    await expectRejected(key);
    expect(await db.apiKey.count({ where: { OR: [{ id }, { userId: again.id }] } })).toBe(0);
  });
});

describe('the API keys of others', () => {
  it('can be seen and revoked only by users who could change their owners', async () => {
    const role = await holds(idOf(manager), ...MANAGER);
    const { id: peer } = (await aUser(idp.services)).account;
    await idp.services.roles.setRoles(peer, [role]);
    const mine = await aKey(admin, ['gatehouse.users:read']);
    const theirs = await keyOf(peer, ['gatehouse.users:read']);
    const own = await aKey(manager, ['gatehouse.users:read']);

    const visible = async (person: ApiCaller, { id }: { id: string }) => {
      const { items } = (await person.get('/api-keys?limit=200')).json<{ items: { id: string }[] }>();
      const isListed = items.some((one) => one.id === id);
      expect((await person.get(`/api-keys/${id}`)).status).toBe(isListed ? 200 : 404);
      return isListed;
    };
    const seenBy = async (person: ApiCaller) => {
      const seen: string[] = [];
      for (const [name, key] of Object.entries({ mine, theirs, own })) if (await visible(person, key)) seen.push(name);
      return seen;
    };
    expect(await seenBy(manager)).toEqual(['theirs', 'own']);
    expect(await seenBy(admin)).toEqual(['mine', 'theirs', 'own']);
    const auditor = await aPerson(idp, ['auditor'], { tool: admin.app });
    expect(await seenBy(auditor)).toEqual([]);
    expect((await manager.get(`/api-keys?owner=${idOf(admin)}`)).json()).toMatchObject({ items: [] });
    expect((await manager.send('DELETE', `/api-keys/${mine.id}`)).status).toBe(404);
    expect((await auditor.send('DELETE', `/api-keys/${own.id}`)).status).toBe(403);

    // A permission and a fresh sign-in: to create one, and to revoke one of another user.
    const input = { name: 'Audit', permissions: ['gatehouse.audit:read'] };
    expect((await auditor.send('POST', '/api-keys', input)).status).toBe(403);
    await tokenOfLongAgo(idp, manager);
    expect((await manager.send('POST', '/api-keys', input)).json().code).toBe('proof_needed');
    expect((await manager.send('DELETE', `/api-keys/${theirs.id}`)).json().code).toBe('proof_needed');
    expect((await manager.send('DELETE', `/api-keys/${own.id}`)).status).toBe(204);
    expect((await admin.send('DELETE', `/api-keys/${theirs.id}`)).status).toBe(204);
    await expectRejected(theirs.api_key, 'revoked');
  });
});
