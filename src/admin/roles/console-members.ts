// /admin/roles/:id/members: who has a role, a field to add a user, and the page that asks before one is removed.
import type Router from '@koa/router';
import { z } from 'zod';
import type { Account } from '../../accounts/account.ts';
import type { AccountSummary } from '../../accounts/account-list.ts';
import type { Accounts } from '../../accounts/accounts.ts';
import type { Context, Extras, State } from '../../http/context.ts';
import { badRequest, forbidden, notFound } from '../../http/errors.ts';
import { parseForm, parseQuery } from '../../http/input.ts';
import { limits } from '../../limits.ts';
import { within } from '../../rbac/rights.ts';
import type { Role } from '../../rbac/roles.ts';
import type { Block, Cell, ConsolePage } from '../console/blocks.ts';
import { type Frame, listQuery } from '../console/frame.ts';
import { countText, type ListAddress, pageLinks } from '../console/lists.ts';
import type { UserAdmin } from '../users/actions.ts';
import type { RoleAdmin } from './actions.ts';
import { pathOf, READ, roleTabPage } from './role-page.ts';

export interface MemberPagesDependencies {
  frame: Frame;
  roles: Pick<RoleAdmin, 'get' | 'assignable'>;
  users: Pick<UserAdmin, 'list' | 'count' | 'changeRole' | 'check'>;
  accounts: Pick<Accounts, 'find' | 'findByLogin'>;
  configFile: string | undefined;
}

const USERS = within('gatehouse.users:read');
/** One of them gives and takes roles, beside the right to manage the role. */
const ASSIGN = ['gatehouse.users:write', 'gatehouse.roles:write'] as const;
const CHANGE = within(...ASSIGN);
const form = z.object({ user: z.string().trim().max(320).default('') });
const nameOf = ({ name, username }: Pick<Account, 'name' | 'username'>) => name ?? username;
type Params = Context & { params: { id?: string; user?: string } };

export function memberPages(router: Router<State, Extras>, dependencies: MemberPagesDependencies): void {
  const { frame, roles, users, accounts } = dependencies;

  router.get('/:id/members', ...frame.page(READ), async (ctx) =>
    frame.show(ctx, await membersPage(dependencies, ctx, await roles.get(ctx.params.id ?? ''))),
  );

  router.post('/:id/members', ...frame.change(READ, CHANGE), async (ctx) => {
    const role = await roles.get(ctx.params.id ?? '');
    const { user } = await parseForm(ctx, form.loose());
    await frame.attempt(
      ctx,
      async () => {
        const account = user ? ((await accounts.find(user)) ?? (await accounts.findByLogin(user))) : undefined;
        if (!account) {
          const message = user ? 'No user has this username or email.' : 'must not be empty';
          throw badRequest('invalid_input', { fields: [{ field: 'user', message }] });
        }
        const isNew = await users.changeRole(account.id, { add: role.name }, frame.actor(ctx));
        const outcome = isNew ? `${nameOf(account)} added.` : `${nameOf(account)} already has this role.`;
        frame.redirect(ctx, `${pathOf(role)}/members`, outcome);
      },
      () => membersPage(dependencies, ctx, role, user),
    );
  });

  removalPages(router, dependencies);
}

/** The page that asks, and what it does. */
function removalPages(router: Router<State, Extras>, { frame, roles, users }: MemberPagesDependencies): void {
  const open = async (ctx: Params) => {
    const role = await roles.get(ctx.params.id ?? '');
    const { account, reason } = await users.check(ctx.params.user ?? '', frame.actor(ctx), ASSIGN);
    if (!account.roles.includes(role.name)) throw notFound({ message: `${nameOf(account)} doesn’t have this role.` });
    return { role, account, reason, members: `${pathOf(role)}/members` };
  };

  router.get('/:id/members/:user/remove', ...frame.page(READ, CHANGE), async (ctx) => {
    const { role, account, reason, members } = await open(ctx);
    if (reason !== undefined) throw forbidden('forbidden', { message: reason });
    frame.show(ctx, {
      title: `Remove ${nameOf(account)} from ${role.name}?`,
      back: { href: members, label: role.name },
      blocks: [
        {
          kind: 'form',
          lead: `${nameOf(account)} loses the permissions of this role and access to its applications.`,
          action: `${members}/${account.id}/remove`,
          fields: [],
          button: 'Remove',
          look: 'danger',
          cancel: members,
        },
      ],
    });
  });

  router.post('/:id/members/:user/remove', ...frame.change(READ, CHANGE), async (ctx) => {
    const { role, account, members } = await open(ctx);
    const isDone = await users.changeRole(account.id, { remove: role.name }, frame.actor(ctx));
    const stays = `${nameOf(account)} has this role through a connection. Change the roles by group there.`;
    frame.redirect(ctx, members, isDone ? `${nameOf(account)} removed.` : stays);
  });
}

async function membersPage(
  dependencies: MemberPagesDependencies,
  ctx: Context,
  role: Role,
  user = '',
): Promise<ConsolePage> {
  const { frame, roles } = dependencies;
  const mayAssign = frame.meets(ctx, CHANGE) && (await roles.assignable(frame.actor(ctx))).includes(role.name);
  const add: Block = {
    kind: 'form',
    title: 'Add a member',
    action: `${pathOf(role)}/members`,
    fields: [{ name: 'user', label: 'User', suggest: 'users', value: user, required: true }],
    button: 'Add member',
  };
  const missing: Block = { kind: 'text', text: 'You don’t have permission to see users.' };
  const list = frame.meets(ctx, USERS) ? await memberTable(dependencies, ctx, role, mayAssign) : missing;
  return roleTabPage(role, 'members', dependencies, { blocks: [...(mayAssign ? [add] : []), list] });
}

async function memberTable(
  { frame, users }: MemberPagesDependencies,
  ctx: Context,
  role: Role,
  mayAssign: boolean,
): Promise<Block> {
  const given = parseQuery(ctx, listQuery);
  const { q: search, after } = given;
  const by = frame.actor(ctx);
  const filter = { search, role: role.name };
  const [page, found] = await Promise.all([
    users.list({ ...filter, after, limit: limits.api.pageSize }, by),
    users.count(filter, by),
  ]);
  const path = `${pathOf(role)}/members`;
  const list: ListAddress = { path, filters: { q: search }, sort: '', defaultSort: '' };
  const placeholder = 'Search by name, username or email';
  return {
    kind: 'table',
    caption: 'Members',
    filter: {
      action: path,
      fields: [{ name: 'q', label: 'Search', type: 'search', value: search, isLabelHidden: true, placeholder }],
    },
    columns: ['Member', 'Email', 'Status', ...(mayAssign ? [''] : [])],
    rows: page.accounts.map((one) => memberRow(one, path, mayAssign)),
    empty: search || after ? 'No members match.' : noMembers,
    count: found.count === undefined ? undefined : countText(found.count, 'members', found.isMore),
    pages: pageLinks(list, given, page.next),
  };
}

const noMembers = {
  icon: 'user-round',
  title: 'No members yet',
  text: 'Add users here, or let a connection give the role by group.',
};

function memberRow(one: AccountSummary, path: string, mayAssign: boolean): Cell[] {
  const name = nameOf(one);
  const small = one.name === null ? undefined : one.username;
  const remove = { label: 'Remove', of: name, href: `${path}/${one.id}/remove` };
  return [
    { text: name, href: `/admin/users/${one.id}`, small, logo: { name, isPerson: true } },
    one.email,
    one.isActive ? { text: 'Active', tone: 'good' } : { text: 'Disabled', tone: 'bad' },
    ...(mayAssign ? [one.source === 'file' ? null : { action: remove }] : []),
  ];
}
