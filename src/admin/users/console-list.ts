// /admin/users: the list, with filters, sorting, and what can be done with several users at once.

import { z } from 'zod';
import { displayName } from '../../base/http/pages/tokens.ts';
import { limits } from '../../base/limits.ts';
import { present } from '../../base/platform/defined.ts';
import { dotted, type Text, t } from '../../base/texts/text.ts';
import { type InvitationState, invitationStates } from '../../core/mail/link-tokens.ts';
import { type AccountSummary, accountSorts, type ListAccounts } from '../../people/accounts/account-list.ts';
import type { Directory } from '../../people/accounts/accounts.ts';
import { type AccountState, accountStates, seenAt } from '../../people/accounts/active.ts';
import type { AttributeSchema } from '../../people/accounts/attributes.ts';
import type { UnusedEnd } from '../../people/accounts/inactivity.ts';
import { CREATE_USERS, within } from '../../people/rbac/rights.ts';
import {
  type Action,
  type Block,
  type Cell,
  type ConsolePage,
  type Field,
  hiddenField,
  type Mark,
  type Selection,
  type Tone,
} from '../console/blocks.ts';
import { listPath, listQuery } from '../console/frame.ts';
import { choiceField, countText, listAt, searchField, tableOf } from '../console/lists.ts';
import { userMark } from '../console/names.ts';
import type { Visit } from '../console/pages.ts';
import type { ConsoleServices } from '../console-services.ts';
import type { UserDetails } from './actions.ts';
import { matchedValue } from './attribute-fields.ts';
import { BULK, type BulkAction, labelOf, offeredBulkActions } from './bulk-actions.ts';

const HOME = '/admin/users';
const STATE = z.enum(['', ...accountStates, 'locked', 'ending', 'unseen', ...invitationStates]).default('');
const listIn = listAt(
  HOME,
  { q: listQuery.shape.q, state: STATE, role: z.string().trim().max(100).default('') },
  ['-created', ...accountSorts.filter((sort) => sort !== '-created'), 'match'],
  { select: z.enum(['', 'all']).default('') },
);
type Given = ReturnType<typeof listIn>['given'];

/** The page of the list. */
export async function userListPage(
  services: ConsoleServices,
  { ctx, by, meets, may }: Visit<undefined>,
): Promise<ConsolePage> {
  const { accounts, attributeSchema, mailServer, lockedAccounts, now } = services;
  const { users } = services.admin;
  const list = listIn(ctx);
  const { q: search, after, state, role, sort } = list.given;
  const locked = state === 'locked' ? (await lockedAccounts()).map(({ id }) => id) : [];
  const filter = { search, ...stateFilter(state, locked, now()), ...(role && { role }) };
  const query = { ...filter, sort: sort === 'match' ? undefined : sort, after, limit: limits.api.pageSize };
  const page = await users.list(query, by);
  const ids = page.accounts.map(({ id }) => id);
  const [found, tagOf, directories] = await Promise.all([
    page.count(),
    statusTags(services),
    accounts.directoriesOf(ids),
  ]);
  const schema = await attributeSchema();
  const mayAdd = meets(CREATE_USERS);
  const add: Action = { label: t('console.users.add'), icon: 'plus', href: `${HOME}/new` };
  const none = {
    icon: 'user-round',
    title: t('console.users.none'),
    text: t('console.users.none.text'),
    ...(mayAdd && { action: add }),
  };
  return {
    title: t('console.navigation.users'),
    lead: t('console.users.lead'),
    actions: present([
      // An import changes users too.
      meets(within('gatehouse.users:write')) && {
        label: t('console.users.import'),
        icon: 'upload',
        href: '/admin/import',
      },
      mayAdd && { ...add, look: 'primary' },
    ]),
    blocks: [
      ...cutNotice(search, found),
      {
        kind: 'table',
        filter: list.search(filterFields(list.given)),
        ...tableOf(page.accounts, [
          [list.column(t('console.person.user'), 'name'), (one) => foundCell(one, schema, search)],
          [t('console.shared.email'), ({ email }) => email],
          [t('console.users.roles'), ({ roles }) => roles.map((text) => ({ text, tone: 'plain' }))],
          [list.column(t('console.users.last-seen'), '-seen'), (account) => seenCell(account, now())],
          [
            list.column(t('console.users.created'), '-created', { isShort: true, isMinor: true }),
            ({ createdAt }) => createdAt,
          ],
          [
            t('console.shared.status'),
            (one) => [tagOf(one), ...directoryTag(directories.get(one.id), may(CONNECTIONS))],
          ],
        ]),
        empty: list.isFiltered || after ? t('console.users.none-match') : none,
        selection: selectionOf(offeredBulkActions(meets, mailServer.isSet()), list.given, page.accounts),
        count: found.count === undefined ? undefined : countText(found.count, 'users', found.isMore),
        pages: list.pages(page.next),
      },
    ],
  };
}

/** The user, with the value of an own field that was searched for. */
function foundCell(account: AccountSummary, schema: AttributeSchema, search: string): Mark {
  const mark = userMark(account);
  const value = matchedValue(schema, account.attributes, search);
  return value === undefined ? mark : { ...mark, small: dotted([mark.small, value]) };
}

/** For a list: whom nobody has seen for so many days. */
const UNSEEN_DAYS = 90;
const ENDING_DAYS = 30;

function stateFilter(state: z.output<typeof STATE>, locked: readonly string[], now: Date): Partial<ListAccounts> {
  if (state === 'locked') return { state: 'active', ids: locked };
  const inDays = (days: number) => new Date(now.getTime() + days * 24 * 3600 * 1000);
  if (state === 'unseen') return { lastSeenBefore: inDays(-UNSEEN_DAYS) };
  if (state === 'ending') return { state: 'active', endsBefore: inDays(ENDING_DAYS) };
  const invitation = invitationStates.find((one) => one === state);
  if (invitation) return { invitation, ...(invitation === 'needed' && { state: 'active' }) };
  if (state === 'active') return { state, invitation: 'none' };
  const found = accountStates.find((one) => one === state);
  return found ? { state: found } : {};
}

/** A search by index finds at most so many of each kind, so that a page does not have to sort them all. */
function cutNotice(search: string, { count, isMore }: { count: number | undefined; isMore: boolean }): Block[] {
  if (!search || !isMore || count === undefined || count >= limits.lists.counted) return [];
  const text = t('console.users.cut', { count: limits.lists.matches });
  return [{ kind: 'text', tone: 'notice', text }];
}

/** The state of an invitation, with the words of the filter. */
export const invitationTags: Record<InvitationState, { text: Text; tone: Tone }> = {
  needed: { text: t('console.users.needs-invitation'), tone: 'warn' },
  invited: { text: t('console.users.invitation.invited'), tone: 'plain' },
  opened: { text: t('console.users.invitation.opened'), tone: 'plain' },
  accepted: { text: t('console.users.invitation.accepted'), tone: 'good' },
  expired: { text: t('console.users.invitation.expired'), tone: 'warn' },
  bounced: { text: t('console.users.invitation.bounced'), tone: 'bad' },
};

export const stateTexts: Readonly<Record<AccountState, Text>> = {
  active: t('console.shared.active'),
  disabled: t('console.shared.disabled'),
  waiting: t('console.users.state.waiting'),
  ended: t('console.users.state.ended'),
};

/** The day of the last use, which is all that is known of it. */
export function seenCell(account: Pick<AccountSummary, 'lastSeenAt' | 'createdAt'>, now: Date): Cell {
  const day = seenAt(account);
  if (!day) return t('console.users.never-seen');
  const days = Math.floor(now.getTime() / DAY_MS) - Math.floor(day.getTime() / DAY_MS);
  return t('console.users.seen', { days: String(days), day });
}

const DAY_MS = 24 * 3600 * 1000;

/** What becomes of an account that nobody uses, and its emails. */
export const unusedCell = ({ what, at, toldAt, tellAt }: UnusedEnd): Cell =>
  present([
    [t('console.users.unused-end', { what, at })],
    toldAt && [t('console.users.unused-told', { at: toldAt })],
    tellAt && [t('console.users.unused-tell', { at: tellAt })],
  ]);

/** The state of an account: locked is a state of an active one, and so is an invitation that was not accepted. */
function statusTag(
  { state, email, invitation }: Pick<AccountSummary, 'state' | 'email' | 'invitation'>,
  isLocked: boolean,
): Mark {
  if (state !== 'active') return { text: stateTexts[state], tone: state === 'waiting' ? 'warn' : 'bad' };
  if (isLocked) return { text: t('console.person.locked'), tone: 'warn' };
  if (invitation === 'needed' && !email) return { text: t('console.users.needs-password'), tone: 'warn' };
  if (invitation !== null && invitation !== 'accepted') return invitationTags[invitation];
  return { text: t('console.shared.active'), tone: 'good' };
}

/** The tag of a user on the own page. */
export const ownStatusTag = ({ account, invitationState: invitation, lockedSeconds }: UserDetails): Mark =>
  statusTag({ ...account, invitation }, lockedSeconds > 0);

/** The tag of a user in a list. */
export async function statusTags({ lockedAccounts }: ConsoleServices): Promise<(account: AccountSummary) => Mark> {
  const locked = new Set((await lockedAccounts()).map(({ id }) => id));
  return (account) => statusTag(account, locked.has(account.id));
}

/** To read connections. */
export const CONNECTIONS = 'gatehouse.connections:read' as const;

/** Who manages the account by SCIM, with a link for who may read connections. */
export function directoryTag(directory: Directory | undefined, isLinked: boolean): Mark[] {
  if (!directory) return [];
  const href = isLinked && !directory.isRemoved ? `/admin/scim/${directory.id}` : undefined;
  return [{ text: t('console.groups.way.scim', { name: directory.name }), tone: 'plain', href }];
}

function filterFields({ q, role, state }: Given): Field[] {
  return [
    searchField(q, t('console.users.search')),
    {
      name: 'role',
      label: t('console.roles.role'),
      value: role,
      suggest: 'roles',
      isLabelHidden: true,
      placeholder: t('console.users.any-role'),
    },
    choiceField('state', t('console.shared.status'), state, {
      '': t('console.users.any-status'),
      active: stateTexts.active,
      locked: t('console.person.locked'),
      disabled: stateTexts.disabled,
      waiting: stateTexts.waiting,
      ended: stateTexts.ended,
      ending: t('console.users.ending', { days: ENDING_DAYS }),
      unseen: t('console.users.unseen', { days: UNSEEN_DAYS }),
      ...Object.fromEntries(invitationStates.map((one) => [one, invitationTags[one].text])),
    }),
  ];
}

/** Undefined for an administrator who may do nothing with several users. */
function selectionOf(
  offered: readonly BulkAction[],
  { select, ...given }: Given,
  accounts: readonly AccountSummary[],
): Selection | undefined {
  if (offered.length === 0) return undefined;
  const choose = { value: '', label: t('console.bulk.choose-action') };
  const options = [choose, ...offered.map((action) => ({ value: action.name, label: labelOf(action) }))];
  return {
    action: BULK,
    rows: accounts.map((account) => ({ id: account.id, name: displayName(account) })),
    isAll: select === 'all',
    allHref: listPath(HOME, { ...given, select: 'all' }),
    fields: [
      hiddenField('list', listPath(HOME, given)),
      {
        name: 'action',
        label: t('console.shared.action'),
        type: 'select',
        isLabelHidden: true,
        options,
        required: true,
      },
    ],
    button: t('console.users.continue'),
  };
}
