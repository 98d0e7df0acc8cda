// The built-in roles do what the tables of docs/roles.md say: every cell over HTTP, by a user with that role.
import { beforeAll, describe, expect, it } from 'vitest';
import { adminApi, ownPermissions } from '../../src/people/rbac/built-in.ts';
import type { TestIdp } from '../support/idp.ts';
import { sharedIdp } from '../support/shared-idp.ts';
import { actionsOnUsers, type BuiltIn, builtIn, otherActions, permissionTable } from './role-tables.ts';
import { type ApiCaller, aPerson, aTool } from './support.ts';

const ROLES = { own: 'matrix-own', other: 'matrix-other' };
const anyVersion = { 'if-match': '*' };

let idp: TestIdp;
let actors: Record<BuiltIn, ApiCaller>;
let count = 0;
beforeAll(async () => {
  idp = await sharedIdp();
  const { roles } = idp.services;
  for (const name of Object.values(ROLES)) await roles.create({ name, permissions: [] });
  const tool = await aTool(idp);
  const people = await Promise.all(builtIn.map((role) => aPerson(idp, [role, ROLES.own], { tool })));
  actors = Object.fromEntries(builtIn.map((role, index) => [role, people[index]])) as typeof actors;
});

const fresh = (what: string) => {
  count += 1;
  return `matrix-${what}-${count}`;
};

/** Whether a call was allowed; one that was rejected says so with 403 or 404. */
async function isAllowed(answer: ReturnType<ApiCaller['send']>): Promise<boolean> {
  const { status, text } = await answer;
  if (status < 300) return true;
  expect([403, 404], text).toContain(status);
  return false;
}

describe('a role', () => {
  it.each(builtIn)('has the permissions of the table: %s', async (role) => {
    const table = permissionTable();
    expect([...table.keys()].sort()).toEqual(ownPermissions);
    const { permissions } = (await actors[role].get('/me')).json<{ permissions: 'everything' | string[] }>();
    const listed = [...table].flatMap(([permission, holders]) => (holders.includes(role) ? [permission] : []));
    expect(permissions === 'everything' ? ownPermissions : permissions).toEqual(listed.sort());
  });
});

type UserAction = (actor: ApiCaller, path: string, roles: string[]) => ReturnType<ApiCaller['send']>;
const give =
  (role: string): UserAction =>
  (actor, path, roles) =>
    actor.send('PUT', `${path}/roles`, { roles: [...new Set([...roles, role])] }, anyVersion);
const post =
  (action: string, body?: unknown): UserAction =>
  (actor, path) =>
    actor.send('POST', `${path}/${action}`, body);

const userActions: Record<string, UserAction> = {
  'see a user': (actor, path) => actor.get(path),
  'change the profile or email address': (actor, path) =>
    actor.send('PATCH', path, { email: `${fresh('mail')}@example.com` }, anyVersion),
  'set a password': post('password', { password: 'a pass phrase that I know' }),
  'require a password change': post('password-change'),
  'send a password reset link': post('password-reset'),
  'reset second factors': post('reset-factors'),
  'allow the first second factor': post('allow-factor'),
  unlock: post('unlock'),
  disable: post('disable'),
  enable: post('enable'),
  delete: (actor, path) => actor.send('DELETE', path, undefined, anyVersion),
  'give an own role': give(ROLES.own),
  'give another role': give(ROLES.other),
  'give the role `auditor`': give('auditor'),
  'sign out everywhere': (actor, path) => actor.send('DELETE', `${path}/sessions`),
};

const targets = ['plain', 'own', 'other', 'auditor', 'admin'] as const;
const covered: Record<string, readonly string[]> = {
  everybody: targets,
  peers: ['plain', 'own'],
  colleagues: ['plain', 'own', 'other'],
  nobody: [],
};
const rolesOf = { plain: [], own: [ROLES.own], other: [ROLES.other], auditor: ['auditor'], admin: ['admin'] };

describe('the actions on other users', () => {
  const table = [...actionsOnUsers()];

  it('are all in the table', () => {
    expect(table.map(([action]) => action).sort()).toEqual(Object.keys(userActions).sort());
  });

  it.each(builtIn)('are permitted to %s as in the table', async (role) => {
    const { accounts, roles, credentials } = idp.services;
    const password = await credentialsOf();
    const aTarget = async (target: (typeof targets)[number]) => {
      const username = fresh(target);
      const { id } = await accounts.create({ username, email: `${username}@example.com`, emailVerified: true });
      await credentials.importHash(id, password, {});
      await roles.setRoles(id, rolesOf[target]);
      return id;
    };
    for (const target of targets) {
      let id: string | undefined;
      for (const [action, cells] of table) {
        id ??= await aTarget(target);
        const allowed = await isAllowed(userActions[action]?.(actors[role], `/users/${id}`, rolesOf[target]) as never);
        expect(allowed, `${role}: ${action}: ${target}`).toBe(covered[cells[role]]?.includes(target));
        // Who was changed is not the same person for the next action.
        if (allowed) id = undefined;
        else expect((await accounts.find(id))?.roles, `${role}: ${action}: ${target}`).toEqual(rolesOf[target]);
      }
    }
  });

  async function credentialsOf(): Promise<string> {
    return idp.services.passwords.hash('a pass phrase of the user');
  }
});

const client = (access: unknown) => ({
  protocol: 'oidc',
  client_id: fresh('client'),
  redirect_uris: ['https://app.example/cb'],
  access,
});
async function anApplicationOf(role: string): Promise<string> {
  const { protocol: _oidc, ...declared } = client({ roles: [role] });
  const { application } = await idp.services.applications.createOidc(declared as never);
  return `/applications/${application.id}`;
}
async function roleNamed(name: string): Promise<string> {
  return `/roles/${(await idp.services.roles.find(name))?.id}`;
}

const calls: Record<string, (actor: ApiCaller) => Promise<boolean>> = {
  // The import of the console creates users by the same action as this endpoint; test/attacks/role-rights.test.ts posts a CSV file.
  'import a user with another role': (actor) =>
    isAllowed(actor.send('POST', '/users', { username: fresh('import'), roles: [ROLES.other] })),
  'create a role': (actor) => isAllowed(actor.send('POST', '/roles', { name: fresh('role'), permissions: [] })),
  'change an own role': async (actor) =>
    isAllowed(actor.send('PATCH', await roleNamed(ROLES.own), { description: fresh('text') }, anyVersion)),
  'change another role': async (actor) =>
    isAllowed(actor.send('PATCH', await roleNamed(ROLES.other), { description: fresh('text') }, anyVersion)),
  'register an application for everyone': (actor) => isAllowed(actor.send('POST', '/applications', client('everyone'))),
  'register an application for an own role': (actor) =>
    isAllowed(actor.send('POST', '/applications', client({ roles: [ROLES.own] }))),
  'register an application for another role': (actor) =>
    isAllowed(actor.send('POST', '/applications', client({ roles: [ROLES.other] }))),
  'open an application of another role to everyone': async (actor) =>
    isAllowed(actor.send('PATCH', await anApplicationOf(ROLES.other), { access: 'everyone' }, anyVersion)),
  'open an application of another role to an own role': async (actor) =>
    isAllowed(
      actor.send(
        'PATCH',
        await anApplicationOf(ROLES.other),
        { access: { roles: [ROLES.other, ROLES.own] } },
        anyVersion,
      ),
    ),
  'change the name of an application of another role': async (actor) =>
    isAllowed(actor.send('PATCH', await anApplicationOf(ROLES.other), { client_name: 'Another name' }, anyVersion)),
  'delete an application of another role': async (actor) =>
    isAllowed(actor.send('DELETE', await anApplicationOf(ROLES.other), undefined, anyVersion)),
  'let an application evaluate users who never used it': (actor) =>
    isAllowed(actor.send('POST', '/applications', { ...client('everyone'), access_evaluation: 'all_users' })),
  'show permissions in Gatehouse to an application': (actor) =>
    isAllowed(actor.send('POST', '/applications', { ...client('everyone'), permissions_filter: ['gatehouse.*'] })),
  'give an application permissions in Gatehouse': async (actor) => {
    const grown = { grant_types: ['client_credentials'], resources: [adminApi(idp.issuer)] };
    const patch = { ...grown, redirect_uris: [], scope: 'gatehouse.users:read', access: 'everyone' };
    const { protocol: _oidc, ...declared } = client('everyone');
    const { application } = await idp.services.applications.createOidc(declared as never);
    return isAllowed(actor.send('PATCH', `/applications/${application.id}`, patch, anyVersion));
  },
  'untie a scope of an API from a permission that the actor lacks': async (actor) => {
    const api = { identifier: `https://${fresh('api')}.example`, scopes: ['read'], signing_alg: 'RS256' };
    const tied = { ...api, scope_permissions: { read: 'matrix:read' } };
    const made = await actors.admin.send('POST', '/resources', tied);
    expect(made.status, made.text).toBe(201);
    const path = String(made.headers.location).replace(/^.*\/api\/admin/, '');
    return isAllowed(actor.send('PATCH', path, { scope_permissions: {} }, anyVersion));
  },
  // The value that is set already: a server is shared.
  'change a security setting': (actor) => isAllowed(actor.send('PATCH', '/settings', { mfa: 'optional' }, anyVersion)),
  'change another setting': (actor) =>
    isAllowed(actor.send('PATCH', '/settings', { clock_skew_seconds: null }, anyVersion)),
};

describe('the other actions', () => {
  const table = [...otherActions()];

  it('are all in the table', () => {
    expect(table.map(([action]) => action).sort()).toEqual(Object.keys(calls).sort());
  });

  it.each(builtIn)('are permitted to %s as in the table', async (role) => {
    for (const [action, roles] of table) {
      const allowed = await calls[action]?.(actors[role]);
      expect(allowed, `${role}: ${action}`).toBe(roles.includes(role));
    }
  });
});
