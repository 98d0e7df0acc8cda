// /admin/users/bulk: a change of several users. The page names them and asks; the result names those who were not changed, and why.

import type Router from '@koa/router';
import { z } from 'zod';
import type { Context, Extras, State } from '../../base/http/context.ts';
import { AppError, forbidden, invalidInput } from '../../base/http/errors.ts';
import { parseForm, parseQuery } from '../../base/http/input.ts';
import { limits } from '../../base/limits.ts';
import { rule, textFault } from '../../base/texts/faults.ts';
import { type PageText, t } from '../../base/texts/text.ts';
import type { Account } from '../../people/accounts/account.ts';
import { within } from '../../people/rbac/rights.ts';
import type { Block, Cell, ConsolePage, Field } from '../console/blocks.ts';
import type { ConsoleServices } from '../console-services.ts';
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

/** A selected user, and why nothing will change. */
interface Target {
  account: Account;
  reason?: PageText | undefined;
}

const HOME = '/admin/users';
const READ = 'gatehouse.users:read' as const;
const names = bulkActions.map(({ name }) => name);
const selected = z.object({
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
});
const confirmed = selected.extend({
  role: z.string().max(100).default(''),
  confirm: z.string().trim().max(20).default(''),
});
type Confirmed = z.output<typeof confirmed>;

export function bulkPages(router: Router<State, Extras>, services: ConsoleServices): void {
  const { frame } = services;

  router.get('/bulk', ...frame.page(within(READ)), async (ctx) => {
    const { action: name, id, list } = parseQuery(ctx, selected, { lists: ['id'] });
    const action = permitted(services, ctx, name);
    if (id.length === 0) return frame.redirect(ctx, list, t('console.bulk.select-one'), 'warn');
    const targets = await targetsOf(services, ctx, action, id);
    frame.show(ctx, await questionPage(services, ctx, action, targets, { role: '', list }));
  });

  router.post('/bulk', ...frame.change(within(READ)), async (ctx) => {
    const given = await parseForm(ctx, confirmed.loose(), { lists: ['id'] });
    const action = permitted(services, ctx, given.action);
    const targets = await targetsOf(services, ctx, action, given.id);
    await frame.attempt(
      ctx,
      async () => {
        assertComplete(action, given);
        const named = namesOf(targets);
        const change = { action, ids: given.id, role: given.role, named };
        const outcomes = await runBulk(services.admin, change, frame.actor(ctx));
        const isWhole = outcomes.every(({ state }) => state === 'done');
        if (isWhole) frame.redirect(ctx, given.list, doneOf(action, named), toneOf(action));
        else frame.show(ctx, resultPage(action, targets, outcomes, given.list));
      },
      () => questionPage(services, ctx, action, targets, given),
    );
  });
}

function permitted({ frame, config: { hasMailServer } }: ConsoleServices, ctx: Context, name: string): BulkAction {
  const action = offeredBulkActions((need) => frame.meets(ctx, need), hasMailServer).find((one) => one.name === name);
  if (!action) throw forbidden('forbidden', { detail: { action: name } });
  return action;
}

function assertComplete(action: BulkAction, { id, role, confirm }: Confirmed): void {
  if (id.length === 0) throw invalidInput([textFault(['id'], t('console.bulk.select-one'))]);
  if (action.hasRole && role === '') throw invalidInput([textFault(['role'], t('console.bulk.choose-role'))]);
  if (action.isFinal && confirm !== String(id.length))
    throw invalidInput([textFault(['confirm'], t('console.bulk.type.sentence', { number: String(id.length) }))]);
}

/** The users with these ids, in their order; those that the administrator may not see are left out. */
async function targetsOf(
  { frame, admin: { users } }: ConsoleServices,
  ctx: Context,
  { needs, skips }: BulkAction,
  ids: readonly string[],
): Promise<Target[]> {
  const targets: Target[] = [];
  for (const id of new Set(ids)) {
    const found = await users.check(id, frame.actor(ctx), needs).catch(undefinedIfUnknown);
    if (found) targets.push({ account: found.account, reason: found.reason ?? skips?.(found.account) });
  }
  return targets;
}

function undefinedIfUnknown(error: unknown): undefined {
  if (error instanceof AppError && error.status === 404) return undefined;
  throw error;
}

/** `3 users`, or the name of the only one. */
function namesOf(targets: readonly Target[]): PageText {
  const [first, ...others] = targets;
  return first && others.length === 0 ? nameOf(first.account) : t('console.bulk.users', { count: targets.length });
}

const nameOf = ({ name, username }: Account) => name ?? username;

async function questionPage(
  { frame, admin: { roles } }: ConsoleServices,
  ctx: Context,
  action: BulkAction,
  targets: readonly Target[],
  { role, list }: Pick<Confirmed, 'role' | 'list'>,
): Promise<ConsolePage> {
  const changing = targets.filter(({ reason }) => reason === undefined);
  const staying = targets.filter(({ reason }) => reason !== undefined);
  const named = namesOf(changing);
  const hidden = [['action', action.name], ['list', list], ...changing.map(({ account }) => ['id', account.id])];
  const fields: Field[] = hidden.map(([name = '', value]) => ({ name, label: '', type: 'hidden', value }));
  if (action.hasRole) fields.push(roleField(await roles.assignable(frame.actor(ctx)), role));
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
    button: action.hasRole ? labelOf(action) : question,
    look: action.isDangerous ? 'danger' : 'primary',
    cancel: list,
  };
  return {
    title: changing.length > 0 ? t('console.bulk.question', { question }) : t('console.bulk.nothing'),
    back: { href: list, label: t('console.navigation.users') },
    blocks: [
      ...(changing.length > 0 ? [form, usersTable(t('console.bulk.users', { count: changing.length }), changing)] : []),
      ...(staying.length > 0 ? [usersTable(t('console.bulk.unchanged', { count: staying.length }), staying)] : []),
    ],
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
  const hasReasons = targets.some(({ reason }) => reason !== undefined);
  return {
    kind: 'table',
    title,
    caption: title,
    columns: [t('console.person.user'), t('console.shared.email'), ...(hasReasons ? [t('console.bulk.reason')] : [])],
    rows: targets.map(({ account, reason }) => [userCell(account), account.email, ...(hasReasons ? [reason] : [])]),
    empty: '',
  };
}

function userCell(account: Account): Cell {
  const name = nameOf(account);
  const small = account.name === null ? undefined : account.username;
  return { text: name, href: `${HOME}/${account.id}`, small, logo: { name, isPerson: true } };
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
  list: string,
): ConsolePage {
  const done = outcomes.filter(({ state }) => state === 'done').length;
  const waiting = outcomes.filter(({ state }) => state === 'waiting').map(({ id }) => id);
  const query = new URLSearchParams([['action', action.name], ['list', list], ...waiting.map((id) => ['id', id])]);
  const account = (id: string) => targets.find((one) => one.account.id === id)?.account;
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
        columns: [t('console.person.user'), t('console.bulk.reason'), t('console.bulk.result')],
        rows: sorted.map(({ id, state, reason }) => {
          const user = account(id);
          return [user ? userCell(user) : { text: id, code: true }, reason, STATES[state]];
        }),
        empty: '',
      },
    ],
  };
}
