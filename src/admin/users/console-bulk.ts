// /admin/users/bulk: a change of several users. The page names them and asks; the result names those who were not changed, and why.

import type Router from '@koa/router';
import { z } from 'zod';
import type { Context, Extras, State } from '../../base/http/context.ts';
import { AppError, forbidden, invalidInput } from '../../base/http/errors.ts';
import { parseForm, parseQuery } from '../../base/http/input.ts';
import { displayName } from '../../base/http/pages/tokens.ts';
import { limits } from '../../base/limits.ts';
import { present } from '../../base/platform/defined.ts';
import { rule, textFault } from '../../base/texts/faults.ts';
import { type PageText, t } from '../../base/texts/text.ts';
import type { Actor } from '../../core/audit/audit.ts';
import type { Account } from '../../people/accounts/account.ts';
import { within } from '../../people/rbac/rights.ts';
import { type Block, type ConsolePage, type Field, hiddenField } from '../console/blocks.ts';
import { tableOf } from '../console/lists.ts';
import { userMark } from '../console/names.ts';
import { type NewAdministrators, newAdministratorsQuestion } from '../console/new-administrators.ts';
import { addPage } from '../console/pages.ts';
import type { ConsoleServices } from '../console-services.ts';
import { invitationMessage } from './api.ts';
import {
  BULK,
  type BulkAction,
  type BulkOutcome,
  bulkActions,
  consequenceOf,
  doneOf,
  labelOf,
  offeredBulkActions,
  questionOf,
  runBulk,
  toneOf,
} from './bulk-actions.ts';
import { messageField } from './console-actions.ts';

/** A selected user, and why nothing will change. */
interface Target {
  account: Account;
  reason?: PageText | undefined;
}

const HOME = '/admin/users';
const names = bulkActions.map(({ name }) => name);
const confirmed = z.object({
  action: z.enum(names as [string, ...string[]]),
  id: z
    .array(z.string().max(100))
    .refine((ids) => ids.length <= limits.bulk.users, rule('max-selected', { users: limits.bulk.users }))
    .default([]),
  /** The address of the list with its filters, to which the pages lead back. */
  list: z
    .string()
    .max(2000)
    .regex(/^\/admin\/users(\?[\w%&=.*+-]*)?$/)
    .catch(HOME),
  role: z.string().max(100).default(''),
  /** Its name. */
  group: z.string().trim().max(200).default(''),
  message: invitationMessage.default(''),
  confirm: z.string().trim().max(20).default(''),
});
type Confirmed = z.output<typeof confirmed>;

/** The change, and the users whom the administrator may see, in the order of the request. */
interface Selected {
  given: Confirmed;
  action: BulkAction;
  targets: readonly Target[];
}

export function bulkPages(router: Router<State, Extras>, services: ConsoleServices): void {
  const {
    frame,
    admin: { users, roles, groups },
    mailServer,
  } = services;

  async function load(ctx: Context, by: Actor): Promise<Selected> {
    const lists = { lists: ['id'] };
    const given =
      ctx.method === 'POST' ? await parseForm(ctx, confirmed.loose(), lists) : parseQuery(ctx, confirmed, lists);
    const offered = offeredBulkActions((need) => frame.meets(ctx, need), mailServer.isSet());
    const action = offered.find(({ name }) => name === given.action);
    if (!action) throw forbidden('forbidden', { detail: { action: given.action } });
    const targets: Target[] = [];
    for (const id of new Set(given.id)) {
      const found = await users.check(id, by, action.needs).catch(undefinedIfUnknown);
      if (found) targets.push({ account: found.account, reason: found.reason ?? action.skips?.(found.account) });
    }
    return { given, action, targets };
  }

  async function groupNamed(name: string) {
    const group = await groups.find(name);
    if (!group) throw invalidInput([textFault(['group'], t('console.groups.error.unknown'))]);
    return group;
  }

  async function newAdministratorsOf(
    { name }: BulkAction,
    { role, group }: Confirmed,
    people: readonly Account[],
    by: Actor,
  ): Promise<NewAdministrators | undefined> {
    const members = people.map(({ id }) => id);
    if (name === 'add-group') return groups.newAdministrators((await groupNamed(group)).id, { members }, by);
    const isAsked = name === 'add-role' && (await roles.isSensitive(role, by));
    return isAsked ? { roles: [role], people: people.slice(0, NAMED), count: people.length } : undefined;
  }

  addPage(router, frame, '/bulk', {
    needs: [within('gatehouse.users:read')],
    load,
    elsewhere: ({ subject: { given } }) =>
      given.id.length === 0 ? { to: given.list, notice: t('console.bulk.select-one'), tone: 'warn' } : undefined,
    page: async ({ by, subject }) =>
      questionPage(subject, subject.action.asks === 'role' ? await roles.assignable(by) : undefined),
    async asks({ by, subject: { given, action, targets } }) {
      assertComplete(action, given);
      const people = targets.flatMap(({ account, reason }) => (reason === undefined ? [account] : []));
      const found = await newAdministratorsOf(action, given, people, by);
      return found && found.count > 0 ? newAdministratorsQuestion(found) : undefined;
    },
    async submit({ by, subject: { given, action, targets } }) {
      assertComplete(action, given);
      const group = action.asks === 'group' ? await groupNamed(given.group) : undefined;
      const people = namesOf(targets);
      const run = { ...given, action, ids: given.id, group: group?.id ?? '', named: group?.name ?? people };
      const outcomes = await runBulk({ users }, run, by);
      const isWhole = outcomes.every(({ state }) => state === 'done');
      if (isWhole) return { to: given.list, notice: doneOf(action, people, given), tone: toneOf(action) };
      return { page: resultPage(action, targets, outcomes, given) };
    },
  });
}

const NAMED = 3;

function assertComplete(action: BulkAction, { id, confirm, ...given }: Confirmed): void {
  const { asks } = action;
  if (id.length === 0) throw invalidInput([textFault(['id'], t('console.bulk.select-one'))]);
  if (asks && given[asks] === '') throw invalidInput([textFault([asks], t(`console.bulk.choose-${asks}`))]);
  if (action.isFinal && confirm !== String(id.length))
    throw invalidInput([textFault(['confirm'], t('console.bulk.type.sentence', { number: String(id.length) }))]);
}

function undefinedIfUnknown(error: unknown): undefined {
  if (error instanceof AppError && error.status === 404) return undefined;
  throw error;
}

/** `3 users`, or the name of the only one. */
function namesOf(targets: readonly Target[]): PageText {
  const [first, ...others] = targets;
  return first && others.length === 0 ? displayName(first.account) : t('console.bulk.users', { count: targets.length });
}

/** @param roles those that the administrator may give and take, for a change of roles */
function questionPage(
  { action, targets, given: { role, group, message, list } }: Selected,
  roles: readonly string[] | undefined,
): ConsolePage {
  const changing = targets.filter(({ reason }) => reason === undefined);
  const staying = targets.filter(({ reason }) => reason !== undefined);
  const named = namesOf(changing);
  const hidden = [['action', action.name], ['list', list], ...changing.map(({ account }) => ['id', account.id])];
  const fields: Field[] = hidden.map(([name = '', value]) => hiddenField(name, value));
  if (roles) fields.push(roleField(roles, role));
  if (action.asks === 'group')
    fields.push({ name: 'group', label: t('console.groups.group'), suggest: 'groups', value: group, required: true });
  if (action.hasMessage) fields.push({ ...messageField, value: message });
  if (action.isFinal)
    fields.push({
      name: 'confirm',
      label: t('console.bulk.type', { number: String(changing.length) }),
      required: true,
    });
  const question = questionOf(action, named);
  const form: Block = {
    kind: 'form',
    lead: consequenceOf(action),
    action: BULK,
    fields,
    button: action.asks ? labelOf(action) : question,
    look: action.isDangerous ? 'danger' : 'primary',
    cancel: list,
  };
  return {
    title: changing.length > 0 ? t('console.bulk.question', { question }) : t('console.bulk.nothing'),
    back: { href: list, label: t('console.navigation.users') },
    blocks: present([
      ...(changing.length > 0 ? [form, usersTable(t('console.bulk.users', { count: changing.length }), changing)] : []),
      staying.length > 0 && usersTable(t('console.bulk.unchanged', { count: staying.length }), staying),
    ]),
  };
}

function roleField(names: readonly string[], value: string): Field {
  const options = [
    { value: '', label: t('console.bulk.choose-a-role') },
    ...names.map((name) => ({ value: name, label: name })),
  ];
  return { name: 'role', label: t('console.roles.role'), type: 'select', value, options, required: true };
}

function usersTable(title: PageText, targets: readonly Target[]): Block {
  return {
    kind: 'table',
    title,
    ...tableOf(targets, [
      [t('console.person.user'), ({ account }) => userMark(account)],
      [t('console.shared.email'), ({ account }) => account.email],
      targets.some(({ reason }) => reason !== undefined) && [t('console.bulk.reason'), ({ reason }) => reason],
    ]),
  };
}

const STATES = {
  done: { text: t('console.bulk.state.done'), tone: 'good' },
  skipped: { text: t('console.bulk.state.skipped'), tone: 'plain' },
  failed: { text: t('console.bulk.state.failed'), tone: 'bad' },
  waiting: { text: t('console.bulk.state.waiting'), tone: 'warn' },
} as const;

/** What became of each, those that were not changed first. */
function resultPage(
  action: BulkAction,
  targets: readonly Target[],
  outcomes: readonly BulkOutcome[],
  { list, role, group }: Confirmed,
): ConsolePage {
  const done = outcomes.filter(({ state }) => state === 'done').length;
  const waiting = outcomes.filter(({ state }) => state === 'waiting').map(({ id }) => id);
  const same = { action: action.name, list, ...(role && { role }), ...(group && { group }) };
  const query = new URLSearchParams([...Object.entries(same), ...waiting.map((id) => ['id', id])]);
  const sorted = [...outcomes].sort((a, b) => Number(a.state === 'done') - Number(b.state === 'done'));
  return {
    title: t('console.bulk.result.title', { action: labelOf(action), done, count: outcomes.length }),
    back: { href: list, label: t('console.navigation.users') },
    actions: waiting.length
      ? [
          {
            label: t('console.bulk.continue', { count: waiting.length }),
            href: `${BULK}?${query}`,
            look: 'primary',
          },
        ]
      : [{ label: t('console.bulk.back'), href: list }],
    blocks: [
      {
        kind: 'table',
        caption: t('console.bulk.result.caption'),
        ...tableOf(sorted, [
          [
            t('console.person.user'),
            ({ id }) => {
              const user = targets.find(({ account }) => account.id === id)?.account;
              return user ? userMark(user) : { text: id, code: true };
            },
          ],
          [t('console.bulk.reason'), ({ reason }) => reason],
          [t('console.bulk.result'), ({ state }) => STATES[state]],
        ]),
      },
    ],
  };
}
