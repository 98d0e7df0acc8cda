// Roles in the console: searches of long lists, and built-in roles in the language of the page.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { permissionWords } from '../../src/admin/console/permission-words.ts';
import { ownPermissions } from '../../src/people/rbac/built-in.ts';
import { missingReads } from '../../src/people/rbac/rights.ts';
import { consoleOf, staff } from '../admin/console/support.ts';
import type { HttpClient } from '../support/http.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';
import { textOf } from '../support/pages/html.ts';

let idp: TestIdp;
let admin: HttpClient;
let path: string;
const permissions = Array.from({ length: 30 }, (_, at) => [`crate${at}:read`, `crate${at}:write`]).flat();

beforeAll(async () => {
  idp = await startIdp();
  admin = await consoleOf(idp, await staff(idp, 'admin'));
  const { id } = await idp.services.roles.create({ name: 'warehouse', description: 'Boxes and crates', permissions });
  path = `/admin/roles/${id}`;
});
afterAll(() => idp?.stop());

describe('a search', () => {
  it('finds roles by name and by description', async () => {
    const page = await admin.get('/admin/roles?q=CRATES');
    expect(textOf(page.text)).toContain('warehouse');
    expect(textOf(page.text)).toContain('1 role');
    expect(textOf(page.text)).not.toContain('auditor');
    expect(textOf((await admin.get('/admin/roles?q=nothing')).text)).toContain('No roles match.');
  });

  it('finds permissions of the table of all roles', async () => {
    const page = await admin.get('/admin/roles/permissions?q=crate7:');
    expect(textOf(page.text)).toContain('2 permissions');
    expect(page.text).not.toContain('crate8:read');
  });

  it('takes no permission away from a role whose form is saved', async () => {
    const page = await admin.get(`${path}?q=crate3:`);
    expect(textOf(page.text)).toContain('This search hides 58 other permissions of the role. Saving keeps them.');
    expect(page.text).not.toContain('type="checkbox" name="permissions.crate4"');
    const saved = await admin.submit(page, { 'permissions.crate3': ['crate3:read'] });
    expect(saved.status).toBe(303);
    const { permissions: after } = await idp.services.roles.get(path.replace('/admin/roles/', ''));
    expect([...after].sort()).toEqual(permissions.filter((one) => one !== 'crate3:write').sort());
  });

  it('says so when nothing matches in a role', async () => {
    expect(textOf((await admin.get(`${path}?q=nothing`)).text)).toContain('No permissions match.');
  });
});

describe('a built-in role', () => {
  it('has its description in the language of the page, and in English in the API', async () => {
    const german = await admin.get('/admin/roles', { headers: { 'accept-language': 'de' } });
    expect(textOf(german.text)).toContain('Voller Zugriff auf Gatehouse');
    expect((await idp.services.roles.find('admin'))?.description).toBe('Full access to Gatehouse');
  });

  it('is found by its description in the language of the page', async () => {
    const german = await admin.get('/admin/roles?q=voller', { headers: { 'accept-language': 'de' } });
    expect(textOf(german.text)).toContain('1 Rolle');
  });
});

describe('the permissions for Gatehouse', () => {
  it('are in words where a role is edited, and in the table of all roles, with their codes', async () => {
    const form = textOf((await admin.get('/admin/roles/new')).text);
    expect(form).toContain('Reset two-step verification of users gatehouse.users:reset-factors');
    expect(form).toMatch(/Activity log.*View the activity log gatehouse\.audit:read/);
    const matrix = await admin.get('/admin/roles/permissions?q=view%20the%20activity');
    expect(textOf(matrix.text)).toContain('View the activity log gatehouse.audit:read');
    const german = await admin.get('/admin/roles/new', { headers: { 'accept-language': 'de' } });
    expect(textOf(german.text)).toContain('Aktivitätsprotokoll ansehen gatehouse.audit:read');
  });

  it('have words each', () => {
    expect(ownPermissions.filter((one) => permissionWords(one) === one)).toEqual([]);
  });

  it('are found by their words in a role', async () => {
    const german = await admin.get(`${path}?q=protokoll%20ansehen`, { headers: { 'accept-language': 'de' } });
    expect(textOf(german.text)).toContain('Aktivitätsprotokoll ansehen gatehouse.audit:read');
  });
});

describe('a change of a role', () => {
  it('says first how many people get it, those of groups too', async () => {
    const { roles, groups, accounts } = idp.services;
    const { id, name } = await roles.create({ name: 'handed-out', permissions: ['parcels:read'] });
    const at = `/admin/roles/${id}`;
    expect(textOf((await admin.get(at)).text)).not.toContain('this role, directly or by a group');
    const [direct, member] = [
      await accounts.create({ username: 'hand-one' }),
      await accounts.create({ username: 'hand-two' }),
    ];
    const group = await groups.create({ name: 'Parcels' });
    await groups.addRole(group.id, name);
    await groups.addMembers(group.id, [{ userId: member.id }]);
    await roles.assign(direct.id, name);
    expect(textOf((await admin.get(at)).text)).toContain('2 people have this role, directly or by a group.');
  });
});

describe('a role that lacks a permission which its others need', () => {
  it('says so in the console', async () => {
    const limited = 'gatehouse.users[role:warehouse]:unlock';
    const { id } = await idp.services.roles.create({ name: 'half-a-desk', permissions: [limited] });
    const at = `/admin/roles/${id}`;
    expect(textOf((await admin.get(at)).text)).toMatch(/This role lacks “.*”\. Without it, its members can’t find/);
    await idp.services.roles.update('half-a-desk', { permissions: [limited, 'gatehouse.users:read'] });
    expect(textOf((await admin.get(at)).text)).not.toContain('This role lacks');
  });

  it.each<[string[], string[]]>([
    [['gatehouse.keys:write'], ['gatehouse.keys:read']],
    [['gatehouse.sessions[role:a]:end'], ['gatehouse.sessions[role:a]:read']],
    [['gatehouse.sessions[role:a]:end', 'gatehouse.sessions:read'], []],
    [['gatehouse.settings:write-security', 'gatehouse.settings:write'], ['gatehouse.settings:read']],
    [['gatehouse.roles[role:a]:manage', 'reports:write', 'gatehouse.audit:read'], []],
  ])('is found among %j', (given, expected) => {
    expect(missingReads(given).map(({ read }) => read)).toEqual(expected);
  });
});
