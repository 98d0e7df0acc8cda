// /admin/roles: who may what, as a matrix, and each role.
import Router from '@koa/router';
import { z } from 'zod';
import type { Context, Extras, State } from '../../http/context.ts';
import { parseForm } from '../../http/input.ts';
import type { Role } from '../../rbac/roles.ts';
import type { RoleAdmin } from '../roles.ts';
import { etagOf } from '../versions.ts';
import { type Cell, type Field, versionField } from './blocks.ts';
import type { Frame, Problem } from './frame.ts';
import { lines } from './presets.ts';

const READ = 'gatehouse.roles:read' as const;
const WRITE = 'gatehouse.roles:write' as const;
const roleForm = z.object({
  name: z.string().trim().max(100).default(''),
  description: z.string().trim().max(500).default(''),
  permissions: z.string().max(20_000).default(''),
  version: z.string().max(100).default(''),
});
type RoleForm = z.output<typeof roleForm>;
const TICK: Cell = { text: 'yes', tone: 'good' };

export function roleRoutes({ frame, roles }: { frame: Frame; roles: RoleAdmin }): Router<State, Extras> {
  const router = new Router<State, Extras>({ prefix: '/admin/roles' });

  router.get('/', ...frame.page(READ), async (ctx) => {
    const [all, permissions] = await Promise.all([roles.list(), roles.permissions()]);
    frame.show(ctx, {
      title: 'Roles',
      actions: frame.may(ctx, WRITE) ? [{ label: 'New role', href: '/admin/roles/new', look: 'primary' }] : [],
      blocks: [
        {
          kind: 'table',
          caption: 'Roles',
          columns: ['Role', 'For', 'Permissions', 'More'],
          rows: all.map(({ id, name, description, permissions: held, source }) => [
            { text: name, href: `/admin/roles/${id}` },
            description,
            held.length,
            [
              { text: 'Who has it', href: `/admin/users?${new URLSearchParams({ role: name })}` },
              ...(source === 'local'
                ? []
                : [{ text: source === 'file' ? 'configuration file' : 'built in', tone: 'plain' as const }]),
            ],
          ]),
          empty: 'There are none.',
        },
        {
          kind: 'table',
          title: 'Who may what',
          caption: 'Permissions by role',
          columns: ['Permission', ...all.map(({ name }) => name)],
          rows: permissions.map(({ permission, roles: holders }) => [
            { text: permission, code: true },
            ...all.map(({ name }): Cell => (holders.includes(name) ? TICK : '')),
          ]),
          empty: 'No role has a permission.',
        },
      ],
    });
  });

  router.get('/new', ...frame.page(WRITE), (ctx) =>
    show(ctx, undefined, { name: '', description: '', permissions: '', version: '' }),
  );

  router.post('/new', ...frame.change(WRITE), async (ctx) => {
    const given = await parseForm(ctx, roleForm.loose());
    await frame.attempt(
      ctx,
      async () => {
        const role = await roles.create(inputOf(given), frame.by(ctx));
        frame.back(ctx, `/admin/roles/${role.id}`, 'The role was made.');
      },
      (problem) => show(ctx, undefined, given, problem),
    );
  });

  router.get('/:id', ...frame.page(READ), async (ctx) => {
    const role = await roles.get(ctx.params.id ?? '');
    show(ctx, role, { ...role, permissions: role.permissions.join('\n'), version: etagOf(role) });
  });

  router.post('/:id', ...frame.change(WRITE), async (ctx) => {
    const role = await roles.get(ctx.params.id ?? '');
    const given = await parseForm(ctx, roleForm.loose());
    await frame.attempt(
      ctx,
      async () => {
        await roles.update(role.id, inputOf(given), frame.by(ctx), given.version);
        frame.back(ctx, `/admin/roles/${role.id}`, 'Saved.');
      },
      (problem) => show(ctx, role, given, problem),
    );
  });

  router.get('/:id/delete', ...frame.danger(WRITE), async (ctx) => {
    const role = await roles.get(ctx.params.id ?? '');
    const at = `/admin/roles/${role.id}`;
    const lead = 'Whoever has it loses what it permits, and the applications that it opened.';
    frame.show(ctx, {
      title: `Delete the role ${role.name}?`,
      back: { href: at, label: role.name },
      blocks: [
        { kind: 'form', lead, action: `${at}/delete`, fields: [], button: 'Delete', look: 'danger', cancel: at },
      ],
    });
  });

  router.post('/:id/delete', ...frame.danger(WRITE), async (ctx) => {
    await roles.remove(ctx.params.id ?? '', frame.by(ctx));
    frame.back(ctx, '/admin/roles', 'The role was deleted.');
  });

  function show(ctx: Context, role: Role | undefined, given: RoleForm, problem?: Problem): void {
    const at = role ? `/admin/roles/${role.id}` : '/admin/roles/new';
    const isOurs = role !== undefined && role.source !== 'local';
    const mayEdit = frame.may(ctx, WRITE) && !isOurs;
    const page = {
      title: role ? role.name : 'New role',
      back: { href: '/admin/roles', label: 'Roles' },
      ...problem,
      actions: role && mayEdit ? [{ label: 'Delete', href: `${at}/delete`, look: 'danger' as const }] : [],
      blocks: mayEdit
        ? [
            {
              kind: 'form' as const,
              action: at,
              fields: role ? [versionField(given.version), ...fieldsOf(given)] : fieldsOf(given),
              button: role ? 'Save' : 'Create',
              cancel: '/admin/roles',
            },
          ]
        : [
            {
              kind: 'facts' as const,
              rows: [
                { label: 'For', value: given.description },
                { label: 'Permissions', value: lines(given.permissions).map((text) => ({ text, code: true })) },
              ],
            },
          ],
    };
    frame.show(ctx, page, problem?.status);
  }

  return router;
}

function fieldsOf({ name, description, permissions }: RoleForm): Field[] {
  return [
    { name: 'name', label: 'Name', value: name, required: true },
    { name: 'description', label: 'For', value: description },
    {
      name: 'permissions',
      label: 'Permissions',
      type: 'textarea',
      rows: 6,
      value: permissions,
      hint: 'resource:action, such as articles:read; one a line. You can give only what you have.',
    },
  ];
}

function inputOf({ name, description, permissions }: RoleForm) {
  return { name, description, permissions: lines(permissions) };
}
