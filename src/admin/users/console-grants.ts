// /admin/users/:id/roles: the roles and groups of one user with their ends, and the forms that give, change and take them.

import type Router from '@koa/router';
import { z } from 'zod';
import type { Extras, State } from '../../base/http/context.ts';
import { invalidInput, notFound } from '../../base/http/errors.ts';
import { displayName, nameAndUsername } from '../../base/http/pages/tokens.ts';
import { rule, textFault } from '../../base/texts/faults.ts';
import { allOf, type PageText, t } from '../../base/texts/text.ts';
import type { Actor } from '../../core/audit/audit.ts';
import { type Account, ownedUser } from '../../people/accounts/account.ts';
import { within } from '../../people/rbac/rights.ts';
import type { Action, Block, Cell, Column, Mark } from '../console/blocks.ts';
import { expiryCell } from '../console/expiry.ts';
import { tableOf } from '../console/lists.ts';
import { questionBefore } from '../console/new-administrators.ts';
import { addForm, addQuestion, type Params, type Visit } from '../console/pages.ts';
import type { ConsoleServices } from '../console-services.ts';
import { addMembershipPage, day, JOIN, momentsOf, sinceField, untilField } from '../groups/console.ts';
import { userNamed } from '../suggestions/typed-user.ts';
import { tabPath } from './console-actions.ts';
import { ASSIGN, type HeldGroup, type HeldRole, isPersonal } from './grants.ts';
import { HAND_OVER, type Owned } from './hand-over.ts';

export const GROUPS = 'gatehouse.groups:write' as const;
const GIVE = [within(...ASSIGN)] as const;
const period = { since: day, until: day };

type WayOf = (source: string) => Mark;

interface Shown {
  account: Account;
  /** What the administrator may give and take; none of a user whom the administrator may not change. */
  assignable: readonly string[];
}

/** The blocks of the tab. */
export async function grantBlocks(
  { by, may, meets }: Visit<unknown>,
  account: Account,
  { admin: { users, roles }, names, now }: ConsoleServices,
): Promise<Block[]> {
  const [heldRoles, heldGroups] = [await users.heldRoles(account.id, by), await users.heldGroups(account.id, by)];
  const mayGive = account.source !== 'file' && meets(GIVE[0]) && (await users.mayChange(account.id, by, ASSIGN));
  const shown = { account, assignable: mayGive ? await roles.assignable(by) : [] };
  const wayOf = await names.ways([...heldRoles.map(({ via }) => via), ...heldGroups.map(({ source }) => source)]);
  return [
    rolesBlock(heldRoles, shown, wayOf, now()),
    groupsBlock(heldGroups, { account, wayOf }, may(GROUPS), now()),
    ...ownedBlocks(await users.owned(account.id, by), account, now()),
  ];
}

const KINDS = { group: t('console.groups.group'), application: t('console.users.hand-over.contact') };

/** What the user owns, where it is anything, with the way to hand it over. */
function ownedBlocks({ items, apiKeys }: Owned, account: Account, now: Date): Block[] {
  if (items.length + apiKeys.length === 0) return [];
  const isOpen = items.some(({ obstacle }) => obstacle === undefined);
  const rows = [
    ...items.map((one) => ({ ...one, label: KINDS[one.kind], href: `/admin/${one.kind}s/${one.id}` })),
    ...apiKeys.map((key) => ({
      kind: 'api-key' as const,
      id: key.id,
      name: key.name,
      label: t('console.users.hand-over.api-key'),
      href: `/admin/api-keys/${key.id}`,
      until: key.expiresAt,
      obstacle: t('console.users.hand-over.key'),
    })),
  ];
  return [
    {
      kind: 'table',
      title: t('console.users.hand-over.owns'),
      lead: t('console.users.hand-over.lead'),
      actions: isOpen ? [{ label: t('console.users.hand-over'), href: `/admin/users/${account.id}/hand-over` }] : [],
      ...tableOf(rows, [
        [t('console.users.hand-over.what'), ({ name, href, label }) => ({ text: name, href, small: label })],
        [
          { label: t('console.groups.until'), isShort: true },
          ({ until, kind }): Cell =>
            kind === 'application' ? '' : (expiryCell(until, now) ?? t('console.groups.no-end')),
        ],
        rows.some(({ obstacle }) => obstacle) && [t('console.users.hand-over.note'), ({ obstacle }) => obstacle ?? ''],
      ]),
    },
  ];
}

function rolesBlock(held: readonly HeldRole[], { account, assignable }: Shown, wayOf: WayOf, now: Date): Block {
  const path = tabPath(account.id, 'roles');
  const give: Action = { label: t('console.users.held.give-role'), icon: 'plus', href: `${path}/give` };
  return {
    kind: 'table',
    title: t('console.users.roles'),
    lead: t('console.users.held.roles-lead'),
    actions: assignable.length > 0 ? [give] : [],
    ...tableOf(held, [
      [t('console.roles.role'), ({ name }) => ({ text: name })],
      [t('console.users.held.from'), (one) => sourceOfRole(one, wayOf)],
      ...periodColumns(held, now),
      assignable.length > 0 && [
        t('console.shared.action'),
        (one) =>
          one.group || one.via !== '' || !assignable.includes(one.name)
            ? null
            : buttons(`/admin/users/${account.id}/role/${encodeURIComponent(one.name)}`, one.name),
      ],
    ]),
    empty: t('console.users.held.no-roles'),
  };
}

function sourceOfRole({ via, group }: HeldRole, wayOf: WayOf): Cell {
  if (group)
    return { text: t('console.users.held.by-group', { group: group.name }), href: `/admin/groups/${group.id}/parts` };
  return via === '' ? t('console.users.held.direct') : wayOf(via);
}

function groupsBlock(
  all: readonly HeldGroup[],
  { account, wayOf }: { account: Account; wayOf: WayOf },
  mayPut: boolean,
  now: Date,
): Block {
  const path = `/admin/users/${account.id}/groups`;
  const held = [...all.filter(({ below }) => !below), ...all.filter(({ below }) => below)];
  const join: Action = { label: t('console.users.held.join'), icon: 'plus', href: `${path}/join` };
  return {
    kind: 'table',
    title: t('console.navigation.groups'),
    lead: t('console.users.held.groups-lead'),
    actions: mayPut ? [join] : [],
    ...tableOf(held, [
      [
        t('console.groups.group'),
        ({ id, name, path: full }) => ({
          text: name,
          href: `/admin/groups/${id}`,
          small: full === `/${name}` ? undefined : full,
        }),
      ],
      [
        t('console.groups.way-in'),
        ({ source, below = '', addedBy }) =>
          below === ''
            ? { ...wayOf(source), small: addedBy ? nameAndUsername(addedBy) : undefined }
            : t('console.users.held.below', { group: below }),
      ],
      ...periodColumns(held, now),
      mayPut && [
        t('console.shared.action'),
        ({ id, name, source, isDeclared }) =>
          isPersonal(source) && !isDeclared ? buttons(`/admin/users/${account.id}/group/${id}`, name) : null,
      ],
    ]),
    empty: t('console.users.held.no-groups'),
  };
}

/** From when on, where that is set for any, and until when. */
const periodColumns = <Held extends { since: Date | null; until: Date | null }>(
  held: readonly Held[],
  now: Date,
): (readonly [Column, (one: Held) => Cell] | false)[] => [
  held.some(({ since }) => since !== null) && [
    { label: t('console.groups.since'), isShort: true },
    ({ since }: Held): Cell => (since && since > now ? [since, LATER] : since),
  ],
  [
    { label: t('console.groups.until'), isShort: true },
    ({ until }: Held): Cell => expiryCell(until, now) ?? t('console.groups.no-end'),
  ],
];

const LATER = { text: t('console.users.held.later'), tone: 'warn' as const };

const buttons = (path: string, of: string): Cell => [
  { label: t('console.users.held.change-end'), of, href: path },
  { label: t('console.groups.remove'), of, href: `${path}/remove` },
];

/** The forms below /admin/users/:id. */
export function grantPages(router: Router<State, Extras>, services: ConsoleServices): void {
  const { frame, admin } = services;
  const { users, roles, groups } = admin;
  const home = (account: Account) => tabPath(account.id, 'roles');
  const back = (account: Account) => ({ href: home(account), label: displayName(account) });
  const load = ({ params: { id = '' } }: Params, by: Actor) => users.find(id, by, 'gatehouse.users:read');
  const done = (account: Account, notice: PageText, isChanged: boolean) => ({
    to: home(account),
    notice: isChanged ? notice : t('console.users.held.same'),
    tone: isChanged ? ('good' as const) : ('warn' as const),
  });
  async function assertMayGive({ by, subject }: Visit<Account>) {
    if (subject.source === 'file') throw ownedUser(subject);
    await users.assertMayGive(subject, by);
  }

  addForm<Account, { role: string; since: string; until: string }>(router, frame, '/:id/roles/give', {
    needs: GIVE,
    load,
    assertOpen: assertMayGive,
    title: (account) => t('console.users.held.give-role-title', { user: displayName(account) }),
    purpose: t('console.users.held.give-role-purpose'),
    back,
    button: t('console.users.held.give-role'),
    fields: async ({ by, subject }) => {
      const direct = await users.heldRoles(subject.id, by);
      const choices = (await roles.choices(by)).filter(
        ({ value }) => !direct.some(({ name, via, group }) => name === value && via === '' && !group),
      );
      return [
        {
          name: 'role',
          label: t('console.roles.role'),
          type: 'select',
          value: '',
          options: [
            { value: '', label: t('console.users.held.choose-role') },
            ...choices.map(({ value, label }) => ({ value, label })),
          ],
          required: true,
        },
        sinceField(''),
        untilField(''),
      ];
    },
    body: z.object({ role: z.string().min(1).max(100), ...period }),
    asks: ({ by, subject }, { role: name }) => questionBefore({ kind: 'role', name }, subject, admin, by),
    async submit({ by, subject }, { role, ...given }) {
      const isChanged = await users.giveRole(subject.id, role, momentsOf(given), by);
      return done(subject, t('console.users.held.role-given', { user: displayName(subject), role }), isChanged);
    },
  });

  type Of<Held> = { account: Account; held: Held };
  const roleOf = async (ctx: Params, by: Actor): Promise<Of<HeldRole>> => {
    const account = await load(ctx, by);
    const held = (await users.heldRoles(account.id, by)).find(
      ({ name, via, group }) => name === ctx.params.role && via === '' && !group,
    );
    if (!held) throw notFound();
    return { account, held };
  };
  addForm<Of<HeldRole>, { since: string; until: string }>(router, frame, '/:id/role/:role', {
    needs: GIVE,
    load: roleOf,
    assertOpen: ({ subject, ...visit }) => assertMayGive({ ...visit, subject: subject.account }),
    title: ({ account, held }) => t('console.users.held.change-title', { user: displayName(account), what: held.name }),
    back: ({ account }) => back(account),
    button: t('console.shared.save-changes'),
    fields: ({ subject: { held } }) => [sinceField(held), untilField(held)],
    body: z.object(period),
    async submit({ by, subject: { account, held } }, given) {
      const isChanged = await users.giveRole(account.id, held.name, momentsOf(given, held), by);
      return done(account, t('console.users.held.end-changed'), isChanged);
    },
  });

  addQuestion<Of<HeldRole>>(router, frame, '/:id/role/:role/remove', {
    needs: GIVE,
    load: roleOf,
    assertOpen: ({ subject, ...visit }) => assertMayGive({ ...visit, subject: subject.account }),
    title: ({ account, held }) => t('console.roles.remove-title', { name: displayName(account), role: held.name }),
    back: ({ account }) => back(account),
    lead: ({ subject: { account } }) => t('console.roles.remove-lead', { name: displayName(account) }),
    button: t('console.roles.remove'),
    async submit({ by, subject: { account, held } }) {
      const isChanged = await users.takeRole(account.id, held.name, by);
      return done(
        account,
        t('console.users.held.role-taken', { user: displayName(account), role: held.name }),
        isChanged,
      );
    },
  });

  async function groupNamed(name: string) {
    const group = name === '' ? undefined : await groups.find(name);
    if (!group) throw invalidInput([textFault(['group'], t('console.groups.error.unknown'))]);
    return group;
  }
  addForm<Account, { group: string; since: string; until: string }>(router, frame, '/:id/groups/join', {
    needs: JOIN,
    load,
    title: (account) => t('console.users.held.join-title', { user: displayName(account) }),
    purpose: t('console.users.held.join-purpose'),
    back,
    button: t('console.users.held.join'),
    fields: () => [
      { name: 'group', label: t('console.groups.group'), suggest: 'groups', required: true },
      sinceField(''),
      untilField(''),
    ],
    body: z.object({ group: z.string().max(200), ...period }),
    asks: ({ by, subject }, { group: name }) => questionBefore({ kind: 'group', name }, subject, admin, by),
    async submit({ by, subject }, { group: name, ...given }) {
      const group = await groupNamed(name);
      const changed = await users.join(group.id, { userId: subject.id, ...momentsOf(given) }, by);
      return done(
        subject,
        t('console.users.held.joined', { user: displayName(subject), group: group.name }),
        changed > 0,
      );
    },
  });

  type HandedOver = { to: string; items: string[] };
  addForm<Account, HandedOver>(router, frame, '/:id/hand-over', {
    needs: HAND_OVER,
    load,
    title: (account) => t('console.users.hand-over.title', { user: displayName(account) }),
    purpose: t('console.users.hand-over.purpose'),
    back,
    button: t('console.users.hand-over'),
    fields: async ({ by, subject }) => {
      const items = (await users.owned(subject.id, by)).items.filter(({ obstacle }) => obstacle === undefined);
      return [
        { name: 'to', label: t('console.users.hand-over.to'), suggest: 'users', required: true },
        {
          name: 'items',
          label: t('console.users.hand-over.items'),
          type: 'checks',
          isWide: true,
          options: items.map(({ id, name, kind }) => ({ value: id, label: name, hint: KINDS[kind] })),
          values: items.map(({ id }) => id),
        },
      ];
    },
    body: z.object({ to: z.string().max(254), items: z.array(z.string().max(64)).min(1, rule('empty')) }),
    async submit({ by, subject }, { to, items }) {
      const heir = await userNamed(services.findUser, to, by, ['to']);
      const handed = await users.handOver(subject.id, { to: heir.id, items }, by);
      const what = allOf(handed.map(({ name }) => name));
      const notice = t('console.users.hand-over.done', { user: displayName(heir), what });
      return { to: home(subject), notice };
    },
  });

  addMembershipPage(router, services, '/:id/group/:group', {
    ids: ({ id = '', group = '' }) => ({ userId: id, groupId: group }),
    back: ({ account }) => back(account),
  });

  addQuestion<{ account: Account; group: { id: string; name: string } }>(router, frame, '/:id/group/:group/remove', {
    needs: JOIN,
    load: async (ctx, by) => ({ account: await load(ctx, by), group: await groups.get(ctx.params.group ?? '') }),
    title: ({ account, group }) =>
      t('console.groups.remove-title', { kind: 'member', what: displayName(account), group: group.name }),
    back: ({ account }) => back(account),
    lead: ({ subject: { account } }) => t('console.groups.remove-lead', { kind: 'member', what: displayName(account) }),
    button: t('console.groups.remove'),
    async submit({ by, subject: { account, group } }) {
      const changed = await users.leave(group.id, account.id, by);
      return done(
        account,
        t('console.users.held.left', { user: displayName(account), group: group.name }),
        changed > 0,
      );
    },
  });
}
