// /admin/roles/:id/members: who has a role, a field to add a user, and the page that asks before one is removed.

import type Router from '@koa/router';
import { z } from 'zod';
import type { Context, Extras, State } from '../../base/http/context.ts';
import { badRequest, forbidden, notFound } from '../../base/http/errors.ts';
import { parseForm, parseQuery } from '../../base/http/input.ts';
import { limits } from '../../base/limits.ts';
import { faultMessage } from '../../base/platform/fault-messages.ts';
import { t } from '../../base/texts/text.ts';
import type { Account } from '../../people/accounts/account.ts';
import type { AccountSummary } from '../../people/accounts/account-list.ts';
import { within } from '../../people/rbac/rights.ts';
import type { Role } from '../../people/rbac/roles.ts';
import type { Block, Cell, ConsolePage } from '../console/blocks.ts';
import { type Frame, listQuery } from '../console/frame.ts';
import { countText, type ListAddress, pageLinks } from '../console/lists.ts';
import { type FindTypedUser, sameNameText } from '../suggestions/typed-user.ts';
import type { UserAdmin } from '../users/actions.ts';
import type { RoleAdmin } from './actions.ts';
import { isOpenTab, pathOf, READ, roleTabPage } from './role-page.ts';

export interface MemberPagesDependencies {
  frame: Frame;
  roles: RoleAdmin;
  users: Pick<UserAdmin, 'list' | 'count' | 'changeRole' | 'check'>;
  findUser: FindTypedUser;
  configFile: string | undefined;
}

/** One of them gives and takes roles, beside the right to manage the role. */
const ASSIGN = ['gatehouse.users:write', 'gatehouse.roles:write'] as const;
const CHANGE = within(...ASSIGN);
const form = z.object({ user: z.string().trim().max(320).default('') });
const nameOf = ({ name, username }: Pick<Account, 'name' | 'username'>) => name ?? username;
type Params = Context & { params: { id?: string; user?: string } };

export function memberPages(router: Router<State, Extras>, dependencies: MemberPagesDependencies): void {
  const { frame, roles, users, findUser } = dependencies;

  router.get('/:id/members', ...frame.page(READ), async (ctx) =>
    frame.show(ctx, await membersPage(dependencies, ctx, await roles.get(ctx.params.id ?? ''))),
  );

  router.post('/:id/members', ...frame.change(READ, CHANGE), async (ctx) => {
    const role = await roles.get(ctx.params.id ?? '');
    const { user } = await parseForm(ctx, form.loose());
    await frame.attempt(
      ctx,
      async () => {
        const found = user ? await findUser(user, frame.actor(ctx)) : undefined;
        const account = found?.account;
        if (!account) {
          const message = found
            ? (sameNameText(user, found) ?? t('console.roles.no-such-user'))
            : faultMessage('empty');
          throw badRequest('invalid_input', { fields: [{ field: 'user', message }] });
        }
        const isNew = await users.changeRole(account.id, { add: role.name }, frame.actor(ctx));
        const outcome = isNew
          ? t('console.roles.member-added', { name: nameOf(account) })
          : t('console.roles.member-already', { name: nameOf(account) });
        frame.redirect(ctx, `${pathOf(role)}/members`, outcome, isNew ? 'good' : 'warn');
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
    if (!account.roles.includes(role.name))
      throw notFound({ message: t('console.roles.not-a-member', { name: nameOf(account) }) });
    return { role, account, reason, members: `${pathOf(role)}/members` };
  };

  router.get('/:id/members/:user/remove', ...frame.page(READ, CHANGE), async (ctx) => {
    const { role, account, reason, members } = await open(ctx);
    if (reason !== undefined) throw forbidden('forbidden', { message: reason });
    frame.show(ctx, {
      title: t('console.roles.remove-title', { name: nameOf(account), role: role.name }),
      back: { href: members, label: role.name },
      blocks: [
        {
          kind: 'form',
          lead: t('console.roles.remove-lead', { name: nameOf(account) }),
          action: `${members}/${account.id}/remove`,
          fields: [],
          button: t('console.roles.remove'),
          look: 'danger',
          cancel: members,
        },
      ],
    });
  });

  router.post('/:id/members/:user/remove', ...frame.change(READ, CHANGE), async (ctx) => {
    const { role, account, members } = await open(ctx);
    const isDone = await users.changeRole(account.id, { remove: role.name }, frame.actor(ctx));
    const name = nameOf(account);
    if (isDone) frame.redirect(ctx, members, t('console.roles.member-removed', { name }));
    else frame.redirect(ctx, members, t('console.roles.role-by-connection', { name }), 'warn');
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
    title: t('console.roles.add-member-title'),
    action: `${pathOf(role)}/members`,
    fields: [{ name: 'user', label: t('console.roles.user'), suggest: 'users', value: user, required: true }],
    button: t('console.roles.add-member'),
  };
  const missing: Block = { kind: 'text', text: t('console.roles.no-users-right') };
  const list = isOpenTab(dependencies, ctx, 'members')
    ? await memberTable(dependencies, ctx, role, mayAssign)
    : missing;
  return roleTabPage(role, 'members', ctx, dependencies, { blocks: [...(mayAssign ? [add] : []), list] });
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
  const placeholder = t('console.roles.search-members');
  return {
    kind: 'table',
    caption: t('console.roles.members'),
    filter: {
      action: path,
      fields: [
        { name: 'q', label: t('console.page.search'), type: 'search', value: search, isLabelHidden: true, placeholder },
      ],
    },
    columns: [
      t('console.roles.member'),
      t('console.shared.email'),
      t('console.shared.status'),
      ...(mayAssign ? [''] : []),
    ],
    rows: page.accounts.map((one) => memberRow(one, path, mayAssign)),
    empty: search || after ? t('console.roles.no-members-match') : noMembers,
    count: found.count === undefined ? undefined : countText(found.count, 'members', found.isMore),
    pages: pageLinks(list, given, page.next),
  };
}

const noMembers = {
  icon: 'user-round',
  title: t('console.roles.no-members'),
  text: t('console.roles.no-members-text'),
};

function memberRow(one: AccountSummary, path: string, mayAssign: boolean): Cell[] {
  const name = nameOf(one);
  const small = one.name === null ? undefined : one.username;
  const remove = { label: t('console.roles.remove'), of: name, href: `${path}/${one.id}/remove` };
  return [
    { text: name, href: `/admin/users/${one.id}`, small, logo: { name, isPerson: true } },
    one.email,
    one.isActive
      ? { text: t('console.shared.active'), tone: 'good' }
      : { text: t('console.shared.disabled'), tone: 'bad' },
    ...(mayAssign ? [one.source === 'file' ? null : { action: remove }] : []),
  ];
}
