// /admin/roles: the roles, their permissions as a matrix, and each role with its permissions, members and applications.
import Router from '@koa/router';
import { z } from 'zod';
import type { Context, Extras, State } from '../../http/context.ts';
import { forbidden } from '../../http/errors.ts';
import { bodyLimit, parseForm, parseQuery } from '../../http/input.ts';
import { limits } from '../../limits.ts';
import { plural } from '../../platform/plural.ts';
import type { Role } from '../../rbac/roles.ts';
import { t } from '../../texts/text.ts';
import { etagOf } from '../api/versions.ts';
import { type Block, type Cell, type ConsolePage, VERSION, versionField } from '../console/blocks.ts';
import { countText, sortColumn, sortedBy } from '../console/lists.ts';
import { FILE_TAG } from '../console/managed-by-file.ts';
import { asTyped, isRowButton, type Sent, sentValue, toSent } from '../console/row-buttons.ts';
import type { RoleAdmin } from './actions.ts';
import { type MemberPagesDependencies, memberPages } from './console-members.ts';
import { type RoleValues, roleSections, sentRole } from './role-form.ts';
import { applicationsBlock, mayChangeRole, pathOf, READ, roleTabPage, WRITE } from './role-page.ts';

const HOME = '/admin/roles';
const MATRIX = `${HOME}/permissions`;
const MAX_FORM_BYTES = 256 * 1024;
const form = z.record(z.string(), z.array(z.string().max(20_000)));
const query = z.object({
  sort: z.enum(['name', '-name', 'members', '-members', 'permissions', '-permissions']).default('name'),
});
const SOURCES: Record<Role['source'], Cell> = {
  local: '',
  file: { ...FILE_TAG, text: 'Configuration file', tone: 'plain' },
  'built-in': { text: 'Built in', tone: 'plain' },
};
const TICK: Cell = { text: 'Yes', tone: 'good' };

export interface RolePagesDependencies extends MemberPagesDependencies {
  roles: RoleAdmin;
}

/** All pages below /admin/roles. */
export function roleRoutes(dependencies: RolePagesDependencies): Router<State, Extras> {
  const router = new Router<State, Extras>({ prefix: HOME });
  roleList(router, dependencies);
  // `/new` and `/permissions` first: they would match `/:id`.
  newRolePages(router, dependencies);
  rolePages(router, dependencies);
  memberPages(router, dependencies);
  roleDeletion(router, dependencies);
  return router;
}

function roleList(router: Router<State, Extras>, { frame, roles }: RolePagesDependencies): void {
  const show = (ctx: Context, current: string, block: Block) =>
    frame.show(ctx, {
      title: 'Roles',
      lead: 'Roles give people access to applications and permissions.',
      actions: frame.may(ctx, WRITE)
        ? [{ label: 'Create role', icon: 'plus', href: `${HOME}/new`, look: 'primary' }]
        : [],
      tabs: [
        { href: HOME, label: 'Roles', isCurrent: current === HOME },
        { href: MATRIX, label: 'Permissions by role', isCurrent: current === MATRIX },
      ],
      blocks: [block],
    });

  router.get('/', ...frame.page(READ), async (ctx) => {
    const { sort } = parseQuery(ctx, query);
    const [all, members] = await Promise.all([roles.list(), roles.members()]);
    const membersOf = ({ id }: Role) => members.get(id) ?? 0;
    const sorted = sortedBy(all, sort, frame.language(ctx), {
      name: ({ name }) => name,
      members: membersOf,
      permissions: ({ permissions }) => permissions.length,
    });
    const list = { path: HOME, filters: {}, sort, defaultSort: 'name' };
    show(ctx, HOME, {
      kind: 'table',
      caption: 'Roles',
      columns: [
        sortColumn('Role', 'name', list),
        sortColumn('Members', '-members', list, { isNumber: true }),
        sortColumn('Permissions', '-permissions', list, { isNumber: true }),
        'Managed by',
      ],
      rows: sorted.map((role) => [
        { text: role.name, href: pathOf(role), small: role.description || undefined },
        membersCell(role, membersOf(role)),
        role.permissions.length,
        SOURCES[role.source],
      ]),
      empty: 'No roles.',
      count: plural(all.length, 'role'),
    });
  });

  router.get('/permissions', ...frame.page(READ), async (ctx) => {
    const [all, permissions] = await Promise.all([roles.list(), roles.permissions()]);
    show(ctx, MATRIX, {
      kind: 'table',
      caption: 'Permissions by role',
      columns: ['Permission', ...all.map(({ name }) => name)],
      rows: permissions.map(({ permission, roles: holders }) => [
        { text: permission, code: true },
        ...all.map(({ name }): Cell => (holders.includes(name) ? TICK : '')),
      ]),
      empty: 'No permissions yet.',
    });
  });
}

/** Leads to the members. */
function membersCell(role: Role, count: number): Cell {
  const { counted } = limits.lists;
  const text = t('console.shared.number-or-more', {
    value: Math.min(count, counted),
    more: count > counted ? 'yes' : 'no',
  });
  return count === 0 ? text : { text, href: `${pathOf(role)}/members` };
}

async function readSent(ctx: Context): Promise<Sent> {
  return toSent(await parseForm(ctx, form, { lists: 'every field' }));
}

function newRolePages(router: Router<State, Extras>, dependencies: RolePagesDependencies): void {
  const { frame, roles } = dependencies;
  const empty = { name: '', description: '', permissions: [] };
  const page = async (sent?: Sent): Promise<ConsolePage> => ({
    title: 'Create role',
    lead: 'Give a group of users the same permissions and applications.',
    back: { href: HOME, label: 'Roles' },
    blocks: [await formBlock(dependencies, { action: `${HOME}/new`, values: empty, sent, button: 'Create role' })],
  });

  router.get('/new', ...frame.page(WRITE), async (ctx) => frame.show(ctx, await page()));

  router.post('/new', bodyLimit(MAX_FORM_BYTES), ...frame.change(WRITE), async (ctx) => {
    const sent = await readSent(ctx);
    if (isRowButton(sent)) return frame.show(ctx, await page(sent));
    await frame.attempt(
      ctx,
      async () => {
        const role = await roles.create(
          { ...sentRole(sent), permissions: [...sentRole(sent).permissions] },
          frame.actor(ctx),
        );
        frame.redirect(ctx, pathOf(role), 'Role created.');
      },
      () => page(sent),
    );
  });
}

function rolePages(router: Router<State, Extras>, dependencies: RolePagesDependencies): void {
  const { frame, roles } = dependencies;

  const page = (ctx: Context, role: Role, sent?: Sent) => permissionsPage(dependencies, ctx, role, sent);

  router.get('/:id', ...frame.page(READ), async (ctx) =>
    frame.show(ctx, await page(ctx, await roles.get(ctx.params.id ?? ''))),
  );

  router.post('/:id', bodyLimit(MAX_FORM_BYTES), ...frame.change(WRITE), async (ctx) => {
    const role = await roles.get(ctx.params.id ?? '');
    const sent = await readSent(ctx);
    if (isRowButton(sent)) return frame.show(ctx, await page(ctx, role, sent));
    await frame.attempt(
      ctx,
      async () => {
        const values = sentRole(sent);
        const changes = { ...values, permissions: [...values.permissions] };
        await roles.update(role.id, changes, frame.actor(ctx), sentValue(sent, VERSION) ?? '');
        frame.redirect(ctx, pathOf(role), 'Role saved.');
      },
      () => page(ctx, role, sent),
    );
  });

  router.get('/:id/applications', ...frame.page(READ), async (ctx) => {
    const role = await roles.get(ctx.params.id ?? '');
    const missing: Block = { kind: 'text', text: 'You don’t have permission to see applications.' };
    const { applications, isMore } = await roles.applications(role.id);
    const block = frame.may(ctx, 'gatehouse.applications:read')
      ? applicationsBlock(role.name, applications, isMore)
      : missing;
    frame.show(ctx, roleTabPage(role, 'applications', dependencies, { blocks: [block] }));
  });
}

/** The first tab: the form, and what deletes the role. */
async function permissionsPage(
  dependencies: RolePagesDependencies,
  ctx: Context,
  role: Role,
  sent: Sent | undefined,
): Promise<ConsolePage> {
  const mayChange = await mayChangeRole(dependencies, ctx, role);
  const path = pathOf(role);
  const version = (sent && sentValue(sent, VERSION)) ?? etagOf(role);
  const values = { ...role, version };
  const button = mayChange ? { button: 'Save changes' } : {};
  const blocks = [await formBlock(dependencies, { action: path, values, sent, ...button })];
  const text = 'Members lose its permissions and app access.';
  const deletion: Block = {
    kind: 'tasks',
    title: 'Danger zone',
    isDanger: true,
    rows: [{ title: 'Delete role', text, action: { label: 'Delete', href: `${path}/delete`, look: 'danger' } }],
  };
  return roleTabPage(role, '', dependencies, { blocks: mayChange ? [...blocks, deletion] : blocks });
}

interface RoleFormInput {
  action: string;
  values: RoleValues & { version?: string };
  sent: Sent | undefined;
  /** Without it the form is only displayed. */
  button?: string;
}

async function formBlock(
  { roles }: RolePagesDependencies,
  { action, values, sent, button }: RoleFormInput,
): Promise<Block> {
  const known = (await roles.permissions()).map(({ permission }) => permission);
  const sections = roleSections(values, known, button === undefined);
  return {
    kind: 'form',
    action,
    fields: values.version !== undefined && button ? [versionField(values.version)] : [],
    sections: sent ? sections.map((one) => ({ ...one, fields: asTyped(one.fields, sent) })) : sections,
    ...(button && { button, cancel: HOME }),
  };
}

function roleDeletion(router: Router<State, Extras>, dependencies: RolePagesDependencies): void {
  const { frame, roles } = dependencies;
  router.get('/:id/delete', ...frame.page(WRITE), async (ctx) => {
    const role = await roles.get(ctx.params.id ?? '');
    if (!(await mayChangeRole(dependencies, ctx, role))) throw forbidden('forbidden');
    const at = pathOf(role);
    const count = (await roles.members()).get(role.id) ?? 0;
    const { counted } = limits.lists;
    const members = countText(Math.min(count, counted), 'members', count > counted);
    const lead = count === 0 ? 'It has no members.' : `${members} will lose its permissions and app access.`;
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
    frame.redirect(ctx, HOME, 'Role deleted.');
  });
}
