// /admin/roles: the roles, their permissions as a matrix, and one role as a form.
import Router from '@koa/router';
import { z } from 'zod';
import type { Context, Extras, State } from '../../http/context.ts';
import { forbidden } from '../../http/errors.ts';
import { parseQuery } from '../../http/input.ts';
import { limits } from '../../limits.ts';
import { plural } from '../../platform/plural.ts';
import type { Role } from '../../rbac/roles.ts';
import { etagOf } from '../api/versions.ts';
import { type Block, type Cell, type ConsolePage, type Field, versionField } from '../console/blocks.ts';
import type { Frame } from '../console/frame.ts';
import { sortColumn, sortedBy } from '../console/lists.ts';
import { lines } from '../console/text-area.ts';
import { readTypedForm } from '../console/typed-form.ts';
import type { RoleAdmin } from './actions.ts';

const READ = 'gatehouse.roles:read' as const;
const WRITE = 'gatehouse.roles:write' as const;
const roleForm = z.object({
  name: z.string().trim().max(100).default(''),
  description: z.string().trim().max(500).default(''),
  permissions: z.string().max(20_000).default(''),
  version: z.string().max(100).default(''),
});
type RoleForm = z.output<typeof roleForm>;
const query = z.object({
  sort: z.enum(['name', '-name', 'members', '-members', 'permissions', '-permissions']).default('name'),
});
const SOURCES: Record<Role['source'], Cell> = {
  local: '',
  file: { text: 'Configuration file', tone: 'plain' },
  'built-in': { text: 'Built in', tone: 'plain' },
};
const TICK: Cell = { text: 'yes', tone: 'good' };

export interface RolePagesDependencies {
  frame: Frame;
  roles: RoleAdmin;
}

/** All pages below /admin/roles. */
export function roleRoutes(dependencies: RolePagesDependencies): Router<State, Extras> {
  const router = new Router<State, Extras>({ prefix: '/admin/roles' });
  roleList(router, dependencies);
  // `/new` first: it would match `/:id`.
  roleForms(router, dependencies);
  roleDeletion(router, dependencies);
  return router;
}

function roleList(router: Router<State, Extras>, { frame, roles }: RolePagesDependencies): void {
  router.get('/', ...frame.page(READ), async (ctx) => {
    const { sort } = parseQuery(ctx, query);
    const [all, permissions, members] = await Promise.all([roles.list(), roles.permissions(), roles.members()]);
    const membersOf = ({ id }: Role) => members.get(id) ?? 0;
    const sorted = sortedBy(all, sort, {
      name: ({ name }) => name,
      members: membersOf,
      permissions: ({ permissions: held }) => held.length,
    });
    const list = { path: '/admin/roles', filters: {}, sort, defaultSort: 'name' };
    frame.show(ctx, {
      title: 'Roles',
      lead: 'Roles give people access to applications and permissions.',
      actions: frame.may(ctx, WRITE)
        ? [{ label: 'Create role', icon: 'plus', href: '/admin/roles/new', look: 'primary' }]
        : [],
      blocks: [
        {
          kind: 'table',
          caption: 'Roles',
          columns: [
            sortColumn('Role', 'name', list),
            sortColumn('Members', '-members', list, { isNumber: true }),
            sortColumn('Permissions', '-permissions', list, { isNumber: true }),
            'Managed by',
          ],
          rows: sorted.map((role) => [
            { text: role.name, href: `/admin/roles/${role.id}`, small: role.description || undefined },
            membersCell(role, membersOf(role)),
            role.permissions.length,
            SOURCES[role.source],
          ]),
          empty: 'No roles.',
          count: plural(all.length, 'role'),
        },
        {
          kind: 'table',
          title: 'Permissions',
          caption: 'Permissions by role',
          columns: ['Permission', ...all.map(({ name }) => name)],
          rows: permissions.map(({ permission, roles: holders }) => [
            { text: permission, code: true },
            ...all.map(({ name }): Cell => (holders.includes(name) ? TICK : '')),
          ]),
          empty: 'No permissions yet.',
        },
      ],
    });
  });
}

function roleForms(router: Router<State, Extras>, { frame, roles }: RolePagesDependencies): void {
  router.get('/new', ...frame.page(WRITE), (ctx) =>
    frame.show(ctx, rolePage(undefined, { name: '', description: '', permissions: '', version: '' }, true)),
  );

  router.post('/new', ...frame.change(WRITE), async (ctx) => {
    const { given, check } = await readTypedForm(ctx, roleForm.loose());
    await frame.attempt(
      ctx,
      async () => {
        check();
        const role = await roles.create(inputOf(given), frame.actor(ctx));
        frame.redirect(ctx, `/admin/roles/${role.id}`, 'Role created.');
      },
      () => rolePage(undefined, given, true),
    );
  });

  router.get('/:id', ...frame.page(READ), async (ctx) => {
    const role = await roles.get(ctx.params.id ?? '');
    const values = { ...role, permissions: role.permissions.join('\n'), version: etagOf(role) };
    frame.show(ctx, rolePage(role, values, await mayEdit({ frame, roles }, ctx, role)));
  });

  router.post('/:id', ...frame.change(WRITE), async (ctx) => {
    const role = await roles.get(ctx.params.id ?? '');
    const { given, check } = await readTypedForm(ctx, roleForm.loose());
    await frame.attempt(
      ctx,
      async () => {
        check();
        await roles.update(role.id, inputOf(given), frame.actor(ctx), given.version);
        frame.redirect(ctx, `/admin/roles/${role.id}`, 'Role saved.');
      },
      async () => rolePage(role, given, await mayEdit({ frame, roles }, ctx, role)),
    );
  });
}

/** Leads to the members, where there are some. */
function membersCell({ name }: Role, count: number): Cell {
  const { counted } = limits.lists;
  const text = `${Math.min(count, counted).toLocaleString('en')}${count > counted ? '+' : ''}`;
  return count === 0 ? text : { text, href: `/admin/users?${new URLSearchParams({ role: name })}` };
}

async function mayEdit({ frame, roles }: RolePagesDependencies, ctx: Context, role: Role): Promise<boolean> {
  if (role.source !== 'local' || !frame.may(ctx, WRITE)) return false;
  return (await roles.assignable(frame.actor(ctx))).includes(role.name);
}

/** One role, or a new one: a form, or only its facts. */
function rolePage(role: Role | undefined, given: RoleForm, mayEdit: boolean): ConsolePage {
  const at = role ? `/admin/roles/${role.id}` : '/admin/roles/new';
  const form: Block = {
    kind: 'form',
    action: at,
    fields: role ? [versionField(given.version), ...fieldsOf(given)] : fieldsOf(given),
    button: role ? 'Save' : 'Create',
    cancel: '/admin/roles',
  };
  const facts: Block = {
    kind: 'facts',
    rows: [
      { label: 'Description', value: given.description },
      { label: 'Permissions', value: lines(given.permissions).map((text) => ({ text, code: true })) },
    ],
  };
  return {
    title: role ? role.name : 'Create role',
    back: { href: '/admin/roles', label: 'Roles' },
    actions: role && mayEdit ? [{ label: 'Delete', href: `${at}/delete`, look: 'danger' }] : [],
    blocks: [mayEdit ? form : facts],
  };
}

function roleDeletion(router: Router<State, Extras>, { frame, roles }: RolePagesDependencies): void {
  router.get('/:id/delete', ...frame.page(WRITE), async (ctx) => {
    const role = await roles.get(ctx.params.id ?? '');
    if (!(await mayEdit({ frame, roles }, ctx, role))) throw forbidden('forbidden');
    const at = `/admin/roles/${role.id}`;
    const lead = 'Members lose its permissions and app access.';
    frame.show(ctx, {
      title: `Delete the role ${role.name}?`,
      back: { href: at, label: role.name },
      blocks: [
        { kind: 'form', lead, action: `${at}/delete`, fields: [], button: 'Delete', look: 'danger', cancel: at },
      ],
    });
  });

  router.post('/:id/delete', ...frame.change(WRITE), async (ctx) => {
    await roles.remove(ctx.params.id ?? '', frame.actor(ctx));
    frame.redirect(ctx, '/admin/roles', 'Role deleted.');
  });
}

function fieldsOf({ name, description, permissions }: RoleForm): Field[] {
  return [
    { name: 'name', label: 'Name', value: name, required: true },
    { name: 'description', label: 'Description', value: description },
    {
      name: 'permissions',
      label: 'Permissions',
      type: 'textarea',
      rows: 6,
      value: permissions,
      hint: 'One resource:action per line, such as articles:read. You can give only permissions that you have. You can limit Gatehouse permissions: gatehouse.users[role:students]:write, gatehouse.applications[application:wiki]:write.',
    },
  ];
}

function inputOf({ name, description, permissions }: RoleForm) {
  return { name, description, permissions: lines(permissions) };
}
