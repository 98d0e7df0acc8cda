// /admin/roles and /admin/roles/permissions: the list of the roles, and the permissions of all of them as a matrix.
import type Router from '@koa/router';
import { z } from 'zod';
import type { Context, Extras, State } from '../../base/http/context.ts';
import { parseQuery } from '../../base/http/input.ts';
import { limits } from '../../base/limits.ts';
import { inLanguage, t } from '../../base/texts/text.ts';
import { descriptionOf, type Role } from '../../people/rbac/role.ts';
import type { Block, Cell, Search } from '../console/blocks.ts';
import type { Frame } from '../console/frame.ts';
import { sortColumn, sortedBy } from '../console/lists.ts';
import { FILE_TAG } from '../console/managed-by-file.ts';
import { permissionMark, permissionWords } from '../console/permission-words.ts';
import type { RoleAdmin } from './actions.ts';
import { pathOf, READ, WRITE } from './role-page.ts';
import { permissionQuery, searchForm } from './role-search.ts';

const HOME = '/admin/roles';
const MATRIX = `${HOME}/permissions`;
const query = z.object({
  q: z.string().trim().max(200).default(''),
  sort: z.enum(['name', '-name', 'members', '-members', 'permissions', '-permissions']).default('name'),
});
const SOURCES: Record<Role['source'], Cell> = {
  local: '',
  file: { ...FILE_TAG, text: t('console.page.configuration-file'), tone: 'plain' },
  'built-in': { text: t('console.roles.built-in'), tone: 'plain' },
};
const TICK: Cell = { text: t('console.roles.yes'), tone: 'good' };

/** The pages with the list and the matrix. */
export function roleList(router: Router<State, Extras>, { frame, roles }: { frame: Frame; roles: RoleAdmin }): void {
  const show = (ctx: Context, current: string, block: Block) =>
    frame.show(ctx, {
      title: t('console.roles.title'),
      lead: t('console.roles.lead'),
      actions: frame.may(ctx, WRITE)
        ? [{ label: t('console.roles.create'), icon: 'plus', href: `${HOME}/new`, look: 'primary' }]
        : [],
      tabs: [
        { href: HOME, label: t('console.roles.title'), isCurrent: current === HOME },
        { href: MATRIX, label: t('console.roles.matrix'), isCurrent: current === MATRIX },
      ],
      blocks: [block],
    });

  router.get('/', ...frame.page(READ), async (ctx) => {
    const { q, sort } = parseQuery(ctx, query);
    const [all, members] = await Promise.all([roles.list(), roles.members()]);
    const membersOf = ({ id }: Role) => members.get(id) ?? 0;
    const sorted = sortedBy(
      inLanguage(frame.language(ctx), () => all.filter(matching(q))),
      sort,
      frame.language(ctx),
      {
        name: ({ name }) => name,
        members: membersOf,
        permissions: ({ permissions }) => permissions.length,
      },
    );
    const list = { path: HOME, filters: { q }, sort, defaultSort: 'name' };
    show(ctx, HOME, {
      kind: 'table',
      caption: t('console.roles.title'),
      filter: filterOf(q, sort),
      columns: [
        sortColumn(t('console.roles.role'), 'name', list),
        sortColumn(t('console.roles.members'), '-members', list, { isNumber: true }),
        sortColumn(t('console.roles.permissions'), '-permissions', list, { isNumber: true }),
        t('console.roles.managed-by'),
      ],
      rows: sorted.map((role) => [
        { text: role.name, href: pathOf(role), small: descriptionOf(role) || undefined },
        membersCell(role, membersOf(role)),
        role.permissions.length,
        SOURCES[role.source],
      ]),
      empty: t('console.roles.none'),
      count: t('console.roles.count', { count: sorted.length }),
    });
  });

  router.get('/permissions', ...frame.page(READ), async (ctx) => {
    const { q } = parseQuery(ctx, permissionQuery);
    const [all, permissions] = await Promise.all([roles.list(), roles.permissions()]);
    show(ctx, MATRIX, matrix(all, permissions, q, frame.language(ctx)));
  });
}

/** Which role has which permission. */
function matrix(
  all: readonly Role[],
  permissions: Awaited<ReturnType<RoleAdmin['permissions']>>,
  q: string,
  language: string,
): Block {
  const wanted = q.toLowerCase();
  const isMatch = ({ permission }: { permission: string }) =>
    `${permission} ${permissionWords(permission)}`.toLowerCase().includes(wanted);
  const found = inLanguage(language, () => permissions.filter(isMatch));
  return {
    kind: 'table',
    caption: t('console.roles.matrix'),
    filter: searchForm(MATRIX, q),
    columns: [t('console.roles.permission'), ...all.map(({ name }) => name)],
    rows: found.map(({ permission, roles: holders }) => [
      permissionMark(permission),
      ...all.map(({ name }): Cell => (holders.includes(name) ? TICK : '')),
    ]),
    empty: t(q ? 'console.roles.no-permissions-match' : 'console.roles.no-permissions'),
    count: t('console.roles.permission-count', { count: found.length }),
  };
}

function filterOf(q: string, sort: string): Search {
  return {
    action: HOME,
    fields: [
      {
        name: 'q',
        label: t('console.page.search'),
        type: 'search',
        value: q,
        isLabelHidden: true,
        placeholder: t('console.roles.search'),
      },
      { name: 'sort', label: '', type: 'hidden', value: sort === 'name' ? '' : sort },
    ],
  };
}

/** The roles whose name, description (in the language of the page) or permissions have this text. */
function matching(search: string): (role: Role) => boolean {
  const wanted = search.toLowerCase();
  return (role) =>
    [role.name, String(descriptionOf(role)), ...role.permissions].some((text) => text.toLowerCase().includes(wanted));
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
