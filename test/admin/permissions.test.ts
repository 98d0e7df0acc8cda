// Permissions of the admin API: every endpoint by role, and no caller can give, take or gain more than it has.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newKeyText } from '../../src/people/api-keys/api-keys.ts';
import { adminApi } from '../../src/people/rbac/built-in.ts';
import { type Application, anApplication, postAs } from '../oidc/support.ts';
import { aUser } from '../support/factories.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';
import { isLongRun } from '../support/long-run.ts';
import { pathsBelow } from './described.ts';
import { type BuiltIn, builtIn, permissionTable } from './role-tables.ts';
import { type ApiCaller, aPerson, aService, aTool, caller, described } from './support.ts';

type Role = BuiltIn | 'nobody';
const everyone: readonly Role[] = [...builtIn, 'nobody'];

/** An operation's alternatives -> the roles that contain every permission of one of them, by the table of docs/roles.md. */
function rolesFor(sets: readonly string[][]): Role[] {
  const table = permissionTable();
  const contains = (role: BuiltIn, permission: string) => table.get(permission)?.includes(role) ?? false;
  const everybody = sets.some((oauth) => oauth.length === 0);
  const named = builtIn.filter((role) => sets.some((oauth) => oauth.every((one) => contains(role, one))));
  return everybody ? [...builtIn, 'nobody'] : named;
}

let idp: TestIdp;
let tool: Application;
let people: Record<Role, ApiCaller>;
beforeAll(async () => {
  idp = await startIdp();
  tool = await aTool(idp);
  const nobody = await aPerson(idp, [], { tool });
  const staff = await Promise.all(builtIn.map(async (role) => [role, await aPerson(idp, [role], { tool })]));
  people = { ...Object.fromEntries(staff), nobody };
});
afterAll(() => idp?.stop());

const idOf = (person: ApiCaller) => person.user?.account.id ?? '';

describe('every endpoint', () => {
  /** In a long run each; else one who may and one who may not, by turns: what each role contains is in role-matrix.test.ts. */
  function actorsFor(allowed: readonly Role[], turn: number): readonly Role[] {
    if (isLongRun) return everyone;
    const others = everyone.filter((role) => !allowed.includes(role));
    return [allowed, others].flatMap((roles) => (roles.length > 0 ? [roles[turn % roles.length] as Role] : []));
  }

  it('permits a role what the role permits and no more', async () => {
    const { document } = await described(idp);
    let turn = 0;
    for (const [template, operations] of pathsBelow(document, '/api/admin')) {
      for (const [method, { operationId, security }] of Object.entries(operations)) {
        const path = template.replace('/api/admin', '').replaceAll(/\{\w+\}/g, 'nothing');
        const scopes = security.flatMap((one) => ('oauth' in one ? [one.oauth] : []));
        const keys = security.flatMap((one) => ('api_key' in one ? [one.api_key] : []));
        expect(keys).toEqual(scopes);
        if (operationId !== 'whoAmI') expect(scopes, operationId).not.toContainEqual([]);
        const allowed = rolesFor(scopes);
        turn += 1;
        for (const role of actorsFor(allowed, turn)) {
          const { status, headers } = await people[role].send(method.toUpperCase(), path);
          const context = `${role} ${operationId} ${status}`;
          if (allowed.includes(role)) expect([401, 403], context).not.toContain(status);
          else {
            expect(status, context).toBe(403);
            expect(headers['www-authenticate'], context).toContain('error="insufficient_scope"');
          }
        }
      }
    }
  });

  it('rejects calls without a valid token', async () => {
    const { document } = await described(idp);
    const unauthenticated = caller(idp, 'made-up', tool);
    for (const [template, operations] of pathsBelow(document, '/api/admin')) {
      // After 60 failures from one address every call from there is rejected.
      await idp.services.db.rateLimit.deleteMany();
      for (const method of Object.keys(operations)) {
        const path = template.replace('/api/admin', '').replaceAll(/\{\w+\}/g, 'nothing');
        expect((await unauthenticated.send(method.toUpperCase(), path)).status, `${method} ${path}`).toBe(401);
      }
    }
    const many: number[] = [];
    const wrongKey = caller(idp, newKeyText().text, tool);
    while (many.length < 60 && !many.includes(429))
      many.push((await (many.length % 2 ? wrongKey : unauthenticated).get('/me')).status);
    expect(many).toContain(429);
    await idp.services.db.rateLimit.deleteMany();
  });
});

describe('a caller without enough permissions', () => {
  const expectRejected = async (answer: Promise<{ status: number; json(): Record<string, unknown> }>) => {
    const { status, json } = await answer;
    expect([status, json().code]).toEqual([403, 'forbidden']);
  };
  const anyVersion = { 'if-match': '*' };

  /** A user who manages users and roles, and may read articles; not an administrator. */
  async function aManager() {
    const { roles } = idp.services;
    if (!(await roles.find('manager'))) {
      const permissions = ['users:read', 'users:write', 'roles:read', 'roles:write'].map((name) => `gatehouse.${name}`);
      await roles.create({ name: 'manager', permissions: [...permissions, 'articles:read'] });
      await roles.create({ name: 'reader', permissions: ['articles:read'] });
      await roles.create({ name: 'writer', permissions: ['articles:write'] });
    }
    return aPerson(idp, ['manager'], { tool });
  }

  it('cannot grant or take away a role with more permissions', async () => {
    const manager = await aManager();
    const { account } = await aUser(idp.services);
    const give = (roles: string[]) => manager.send('PUT', `/users/${account.id}/roles`, { roles }, anyVersion);
    // The manager has every permission of the role, and yet not the role.
    await expectRejected(give(['reader']));
    await idp.services.roles.assign(idOf(manager), 'reader');
    expect((await give(['reader'])).status).toBe(200);
    for (const role of ['writer', 'auditor', 'admin']) await expectRejected(give(['reader', role]));
    await expectRejected(manager.send('POST', '/users', { username: 'sneaky', roles: ['admin'] }));
    expect(await idp.services.accounts.findByLogin('sneaky')).toBeUndefined();
    await idp.services.roles.assign(account.id, 'writer');
    await expectRejected(give([]));
    expect((await manager.get(`/users/${account.id}`)).json()).toMatchObject({ roles: ['reader', 'writer'] });
  });

  it('cannot create or change a role with more permissions', async () => {
    const manager = await aManager();
    await expectRejected(manager.send('POST', '/roles', { name: 'x', permissions: ['gatehouse.keys:write'] }));
    await expectRejected(manager.send('POST', '/roles', { name: 'x', permissions: ['articles:write'] }));
    const reader = await idp.services.roles.find('reader');
    await expectRejected(
      manager.send('PATCH', `/roles/${reader?.id}`, { permissions: ['articles:write'] }, anyVersion),
    );
    const writer = await idp.services.roles.find('writer');
    await expectRejected(manager.send('PATCH', `/roles/${writer?.id}`, { permissions: [] }, anyVersion));
    await expectRejected(manager.send('DELETE', `/roles/${writer?.id}`, undefined, anyVersion));
    expect((await manager.send('POST', '/roles', { name: 'mine', permissions: ['articles:read'] })).status).toBe(201);
  });

  it('cannot become an administrator by holding every single permission', async () => {
    const { permissions } = (await idp.services.roles.find('admin')) ?? { permissions: [] };
    await idp.services.roles.create({ name: 'nearly', permissions: [...permissions, 'admin:*'] });
    const nearly = await aPerson(idp, ['nearly'], { tool });
    await expectRejected(
      nearly.send('PUT', `/users/${idOf(nearly)}/roles`, { roles: ['nearly', 'admin'] }, anyVersion),
    );
    const client = { redirect_uris: [], grant_types: ['client_credentials'], resources: [adminApi(idp.issuer)] };
    await expectRejected(nearly.send('POST', '/applications', { protocol: 'oidc', ...client, scope: 'admin:*' }));
    const service = await aService(idp, permissions.join(' '));
    await expectRejected(
      service.send('PUT', `/users/${idOf(nearly)}/roles`, { roles: ['nearly', 'admin'] }, anyVersion),
    );
  });

  it('cannot manage a user with more permissions, not even a disabled one', async () => {
    const manager = await aManager();
    const admin = await aPerson(idp, ['admin'], { tool });
    await idp.services.accounts.setActive(idOf(admin), false);
    for (const who of [idOf(people.admin), idOf(people.auditor), idOf(admin)]) {
      await expectRejected(manager.send('PATCH', `/users/${who}`, { email: 'mine@example.com' }, anyVersion));
      await expectRejected(manager.send('POST', `/users/${who}/password`, { password: 'a pass phrase that I know' }));
      await expectRejected(manager.send('POST', `/users/${who}/disable`));
      await expectRejected(manager.send('POST', `/users/${who}/enable`));
      await expectRejected(manager.send('POST', `/users/${who}/invite`));
      await expectRejected(manager.send('DELETE', `/users/${who}`, undefined, anyVersion));
      if (who === idOf(people.auditor)) continue;
      await expectRejected(people.support.send('POST', `/users/${who}/password-reset`));
      await expectRejected(people.support.send('POST', `/users/${who}/reset-factors`));
    }
  });

  it('cannot take over an application with more permissions', async () => {
    await idp.services.roles.create({
      name: 'app-manager',
      permissions: ['gatehouse.applications:read', 'gatehouse.applications:write'],
    });
    const manager = await aPerson(idp, ['app-manager'], { tool });
    const strong = await anApplication(idp, {
      redirect_uris: [],
      grant_types: ['client_credentials'],
      resources: [adminApi(idp.issuer)],
      scope: 'gatehouse.users:write',
    });
    const path = `/applications/${strong.applicationId}`;
    await expectRejected(manager.send('POST', `${path}/secrets`, {}));
    await expectRejected(manager.send('PATCH', path, { client_name: 'Mine' }, anyVersion));
    await expectRejected(manager.send('DELETE', path, undefined, anyVersion));
    await expectRejected(manager.send('POST', `${path}/disable`));
    const weak = await anApplication(idp, { redirect_uris: [], grant_types: ['client_credentials'] });
    const grown = { resources: [adminApi(idp.issuer)], scope: 'gatehouse.users:write' };
    await expectRejected(manager.send('PATCH', `/applications/${weak.applicationId}`, grown, anyVersion));
    const answer = await postAs(idp, weak, '/token', {
      grant_type: 'client_credentials',
      resource: adminApi(idp.issuer),
      scope: 'gatehouse.users:write',
    });
    expect(answer.json().error).toBe('invalid_target');
  });

  it('cannot plan a configuration without the right to read every section', async () => {
    const sections = ['settings', 'applications', 'connections', 'roles', 'users'].map(
      (name) => `gatehouse.${name}:read`,
    );
    const plan = async (scopes: string[]) => {
      const { send } = await aService(idp, ['gatehouse.settings:write', ...scopes].join(' '));
      return send('POST', '/configuration/plan', 'users: []\n', { 'content-type': 'application/yaml' });
    };
    for (const missing of sections) {
      const answer = await plan(sections.filter((name) => name !== missing));
      expect([answer.status, answer.headers['www-authenticate']]).toEqual([403, expect.stringContaining(missing)]);
    }
    expect((await plan(sections)).status).toBe(200);
  });

  it('cannot export the configuration without the right to read every section', async () => {
    const sections = ['settings', 'applications', 'roles', 'connections', 'users'].map(
      (name) => `gatehouse.${name}:read`,
    );
    for (const missing of sections) {
      const reader = await aService(idp, sections.filter((name) => name !== missing).join(' '));
      const answer = await reader.get('/configuration');
      expect([answer.status, answer.headers['www-authenticate']]).toEqual([403, expect.stringContaining(missing)]);
    }
    expect((await (await aService(idp, sections.join(' '))).get('/configuration')).status).toBe(200);
  });

  it('cannot remove the last administrator in any way', async () => {
    const { db, roles } = idp.services;
    const service = await aService(idp);
    const admin = await aUser(idp.services);
    await roles.setRoles(admin.account.id, ['admin']);
    const others = { id: { not: admin.account.id }, roles: { some: { role: { name: 'admin' } } } };
    for (const { id } of await db.asStored.user.findMany({ where: others, select: { id: true } }))
      expect((await service.send('DELETE', `/users/${id}`, undefined, anyVersion)).status).toBe(204);
    const path = `/users/${admin.account.id}`;
    for (const answer of [
      await service.send('PUT', `${path}/roles`, { roles: [] }, anyVersion),
      await service.send('POST', `${path}/disable`),
      await service.send('DELETE', path, undefined, anyVersion),
    ])
      expect([answer.status, answer.json().code]).toEqual([409, 'last_admin']);
    const { id } = (await roles.find('admin')) ?? {};
    expect((await service.send('DELETE', `/roles/${id}`, undefined, anyVersion)).status).toBe(409);
    expect((await service.send('PATCH', `/roles/${id}`, { permissions: [] }, anyVersion)).status).toBe(409);

    // Two administrators that disable each other at the same time.
    const second = await aUser(idp.services);
    await roles.setRoles(second.account.id, ['admin']);
    const both = [admin, second].map(({ account }) => service.send('POST', `/users/${account.id}/disable`));
    expect((await Promise.all(both)).map(({ status }) => status).sort()).toEqual([200, 409]);
  });
});
