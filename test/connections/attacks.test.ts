// Attacks on the registry of upstream identity providers: who controls one of them can be any of its users.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { exportConfiguration } from '../../src/config-file/export.ts';
import { type ApiCaller, aPerson, aService, aTool } from '../admin/support.ts';
import { itOnSqlite } from '../support/database/it-on-sqlite.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';

const anyVersion = { 'if-match': '*' };
const READ = 'openid gatehouse.connections:read';
const SECRET = 'a-secret-that-nobody-reads-back';
const upstream = (id: string) => ({
  id,
  kind: 'oidc',
  name: 'Upstream',
  issuer: 'https://sso.example.com',
  client_id: 'x',
  client_secret: SECRET,
});

let idp: TestIdp;
let admin: ApiCaller;
let directory: string;
beforeAll(async () => {
  idp = await startIdp();
  admin = await aPerson(idp, ['admin']);
  await idp.services.roles.create({ name: 'attack-writer', permissions: ['gatehouse.connections:write'] });
  await idp.services.roles.create({ name: 'attack-mapped', permissions: [] });
  expect((await admin.send('POST', '/connections', upstream('attacked'))).status).toBe(201);
  directory = (await admin.send('POST', '/scim-connections', { name: 'Attacked' })).json<{ id: string }>().id;
});
afterAll(() => idp?.stop());

describe('a connection', () => {
  itOnSqlite('is changed by nobody but a full administrator, whatever permission or scope the caller has', async () => {
    const tool = await aTool(idp);
    const callers = [
      ...(await Promise.all(
        [['user-manager'], ['application-manager'], ['support'], ['auditor'], ['attack-writer'], []].map((roles) =>
          aPerson(idp, roles, { tool }),
        ),
      )),
      await aService(idp, 'gatehouse.connections:write'),
      await aPerson(idp, ['admin'], { tool: await aTool(idp, { scope: READ }), scope: READ }),
    ];
    const before = await idp.services.connections.get('attacked');
    for (const one of callers) {
      for (const [method, path, body] of [
        ['POST', '/connections', upstream('attacker')],
        ['PATCH', '/connections/attacked', { issuer: 'https://evil.example' }],
        ['DELETE', '/connections/attacked', undefined],
        ['POST', '/connections/attacked/secrets', { purpose: 'client-secret', value: 'x' }],
        ['POST', '/connections/attacked/sessions/end', undefined],
        ['POST', '/connections/attacked/documents/refresh', undefined],
        ['POST', '/connections/attacked/domains/example.com/check', undefined],
        ['POST', '/scim-connections', { name: 'Attacker', adopt: 'owned_domains' }],
        ['PATCH', `/scim-connections/${directory}`, { owned_domains: ['example.com'] }],
        ['DELETE', `/scim-connections/${directory}`, undefined],
        ['POST', `/scim-connections/${directory}/tokens`, {}],
        ['DELETE', `/scim-connections/${directory}/tokens/none`, undefined],
      ] as const) {
        const { status, text } = await one.send(method, path, body, anyVersion);
        expect(status, `${method} ${path}: ${text}`).toBe(403);
      }
    }
    expect(await idp.services.connections.get('attacked')).toEqual(before);
    expect(await idp.services.connections.find('attacker')).toBeUndefined();
  });

  itOnSqlite('is covered by no right that is limited to the users with a role', async () => {
    const create = (permission: string) =>
      admin.send('POST', '/roles', { name: 'attack-limited', permissions: [permission] });
    for (const action of ['read', 'write'])
      expect((await create(`gatehouse.connections[role:attack-mapped]:${action}`)).status).toBe(400);
    expect((await create('gatehouse.users[role:attack-mapped]:write')).status).toBe(201);
    const limited = await aPerson(idp, ['attack-limited']);
    expect((await limited.get('/connections')).status).toBe(403);
    await admin.send('PATCH', '/connections/attacked', { role_mappings: { staff: 'admin' } }, anyVersion);
    const connected = { sso_id: 'victim', sso_connection: 'attacked' };
    const plain = await limited.send('POST', '/users', { username: 'limited-0', roles: ['attack-mapped'] });
    expect(plain.status, plain.text).toBe(201);
    const made = await limited.send('POST', '/users', {
      username: 'limited-1',
      roles: ['attack-mapped'],
      ...connected,
    });
    expect([made.status, await idp.services.accounts.findByLogin('limited-1')]).toEqual([403, undefined]);
    await admin.send('PATCH', '/connections/attacked', { role_mappings: {} }, anyVersion);
  });

  itOnSqlite('is read by an auditor, and by no manager of users or applications', async () => {
    const tool = await aTool(idp);
    const status = async (role: string) => (await (await aPerson(idp, [role], { tool })).get('/connections')).status;
    expect(await Promise.all(['auditor', 'user-manager', 'application-manager', 'support'].map(status))).toEqual([
      200, 403, 403, 403,
    ]);
  });

  itOnSqlite('maps a group to no role that the actor does not hold', async () => {
    // The right to change connections, without the right to give the role.
    const tool = await aTool(idp, { scope: 'openid gatehouse.connections:read gatehouse.connections:write' });
    const scope = 'openid gatehouse.connections:read gatehouse.connections:write';
    const narrow = await aPerson(idp, ['admin'], { tool, scope });
    for (const role of ['attack-mapped', 'admin']) {
      const body = { role_mappings: { staff: role } };
      const { status } = await narrow.send('PATCH', '/connections/attacked', body, anyVersion);
      expect(status, JSON.stringify(role)).toBe(403);
    }
    expect((await idp.services.connections.mappings('attacked')).roleMappings).toEqual([]);
    const allowed = { role_mappings: { staff: 'attack-mapped' } };
    expect((await admin.send('PATCH', '/connections/attacked', allowed, anyVersion)).status).toBe(200);
    expect((await idp.services.connections.mappings('attacked')).roleMappings).toMatchObject([
      { name: 'attack-mapped' },
    ]);
  });

  itOnSqlite('has its secret in no response, export, log line or audit entry', async () => {
    const key = { 'idempotency-key': 'attack-secret' };
    await admin.send('POST', '/connections', upstream('attack-secret'), key);
    const responses = await Promise.all([
      admin.send('POST', '/connections', upstream('attack-secret'), key),
      admin.get('/connections'),
      admin.get('/connections/attack-secret'),
      admin.send('PATCH', '/connections/attack-secret', { client_secret: `${SECRET}-2` }, anyVersion),
      admin.get('/configuration'),
      admin.send('POST', '/connections', { ...upstream('attack-broken'), issuer: 'nonsense' }),
      admin.send('POST', '/configuration/plan', `connections: [${JSON.stringify(upstream('attack-secret'))}]`, {
        'content-type': 'application/yaml',
      }),
    ]);
    const entries = await idp.services.audit.list({ limit: 500 });
    const stored = await idp.services.db.connectionSecret.findMany();
    const all = [
      ...responses.map(({ text }) => text),
      ...idp.log,
      JSON.stringify([entries, stored]),
      await exportConfiguration(idp.services),
    ];
    expect(all.filter((text) => text.includes(SECRET))).toEqual([]);
    expect(responses.map(({ status }) => status)).toEqual([201, 200, 200, 200, 200, 400, 200]);
    const found = await idp.services.connections.decryptedSecrets('attack-secret', 'client-secret');
    expect(found.map(({ value }) => value)).toEqual([`${SECRET}-2`]);
  });

  it('sends the secret that is valid, whatever end a database writer gives it', async () => {
    const { connections, db } = idp.services;
    await admin.send('POST', '/connections', upstream('attack-ends'));
    const second = { purpose: 'client-secret', value: 'the next secret', expires_at: '2000-01-01T00:00:00Z' };
    expect((await admin.send('POST', '/connections/attack-ends/secrets', second)).status).toBe(201);
    const where = { connectionId: 'attack-ends' };
    const before = await connections.secretInfos('attack-ends');
    await db.connectionSecret.updateMany({ where, data: { expiresAt: new Date(0) } });
    await db.connectionSecret.updateMany({
      where: { ...where, expiresAt: new Date(0), id: before.find(({ expiresAt }) => expiresAt)?.id ?? '' },
      data: { expiresAt: null },
    });
    const [used] = await connections.decryptedSecrets('attack-ends', 'client-secret');
    expect(used).toMatchObject({ value: SECRET, expiresAt: null });
    expect(await connections.secretInfos('attack-ends')).toEqual(before);
    await connections.remove('attack-ends');
  });

  it('is used by nobody and raises an alarm when a database writer changes its issuer', async () => {
    await admin.send('POST', '/connections', upstream('attack-row'));
    const row = await idp.services.db.asStored.connection.findUniqueOrThrow({ where: { id: 'attack-row' } });
    const settings = row.settings.replace('sso.example.com', 'evil.example');
    await idp.services.db.asStored.connection.update({ where: { id: 'attack-row' }, data: { settings } });
    expect(await idp.services.connections.findEnabled('attack-row')).toBeUndefined();
    expect((await admin.get('/connections/attack-row')).status).toBe(404);
    const patched = await admin.send('PATCH', '/connections/attack-row', { name: 'Confirmed' }, anyVersion);
    expect(patched.status).toBe(404);
    const alarms = await idp.services.audit.list({ types: ['integrity.alarm'], limit: 50 });
    expect(JSON.stringify(alarms)).toContain('attack-row');
    await idp.services.connections.remove('attack-row');
  });

  itOnSqlite('names no file of this server as its metadata over the API', async () => {
    const saml = { id: 'attack-file', kind: 'saml', name: 'S', metadata_file: '/etc/passwd' };
    const created = await admin.send('POST', '/connections', saml);
    expect([created.status, created.text]).toEqual([400, expect.stringContaining('can’t be a file here')]);
    const text = `connections: [${JSON.stringify(saml)}]`;
    const planned = await admin.send('POST', '/configuration/plan', text, { 'content-type': 'application/yaml' });
    expect([planned.status, planned.text]).toEqual([400, expect.stringContaining('can’t be a file here')]);
  });
});
