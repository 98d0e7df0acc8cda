// /admin/users/bulk: a change of several users. The page names them and asks; the result names those who were not changed, and why.
import type Router from '@koa/router';
import { z } from 'zod';
import type { Account } from '../../accounts/account.ts';
import type { Context, Extras, State } from '../../http/context.ts';
import { AppError, badRequest, forbidden } from '../../http/errors.ts';
import { parseForm, parseQuery } from '../../http/input.ts';
import { limits } from '../../limits.ts';
import type { Clock } from '../../platform/clock.ts';
import { plural } from '../../platform/plural.ts';
import { within } from '../../rbac/rights.ts';
import type { Block, Cell, ConsolePage, Field } from '../console/blocks.ts';
import type { Frame } from '../console/frame.ts';
import type { RoleAdmin } from '../roles/actions.ts';
import type { UserAdmin } from './actions.ts';
import { BULK, type BulkAction, type BulkOutcome, bulkActions, offeredBulkActions, runBulk } from './bulk-actions.ts';

export interface BulkPagesDependencies {
  frame: Frame;
  users: UserAdmin;
  roles: Pick<RoleAdmin, 'assignable'>;
  now: Clock;
  hasMailServer: boolean;
}

/** A selected user, and why nothing will change. */
interface Target {
  account: Account;
  reason?: string | undefined;
}

const HOME = '/admin/users';
const READ = 'gatehouse.users:read' as const;
const names = bulkActions.map(({ name }) => name);
const selected = z.object({
  action: z.enum(names as [string, ...string[]]),
  id: z
    .array(z.string().max(100))
    .max(limits.bulk.users, `Select at most ${plural(limits.bulk.users, 'user')} at once.`)
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

export function bulkPages(router: Router<State, Extras>, dependencies: BulkPagesDependencies): void {
  const { frame } = dependencies;

  router.get('/bulk', ...frame.page(within(READ)), async (ctx) => {
    const { action: name, id, list } = parseQuery(ctx, selected, { lists: ['id'] });
    const action = permitted(dependencies, ctx, name);
    if (id.length === 0) return frame.redirect(ctx, list, 'Select at least one user.');
    const targets = await targetsOf(dependencies, ctx, action, id);
    frame.show(ctx, await questionPage(dependencies, ctx, action, targets, { role: '', list }));
  });

  router.post('/bulk', ...frame.change(within(READ)), async (ctx) => {
    const given = await parseForm(ctx, confirmed.loose(), { lists: ['id'] });
    const action = permitted(dependencies, ctx, given.action);
    const targets = await targetsOf(dependencies, ctx, action, given.id);
    await frame.attempt(
      ctx,
      async () => {
        assertComplete(action, given);
        const named = namesOf(targets);
        const change = { action, ids: given.id, role: given.role, named };
        const outcomes = await runBulk(dependencies, change, frame.actor(ctx));
        const isWhole = outcomes.every(({ state }) => state === 'done');
        if (isWhole) frame.redirect(ctx, given.list, `${action.done.replace('…', () => named)}.`);
        else frame.show(ctx, resultPage(action, targets, outcomes, given.list));
      },
      () => questionPage(dependencies, ctx, action, targets, given),
    );
  });
}

function permitted({ frame, hasMailServer }: BulkPagesDependencies, ctx: Context, name: string): BulkAction {
  const action = offeredBulkActions((need) => frame.meets(ctx, need), hasMailServer).find((one) => one.name === name);
  if (!action) throw forbidden('forbidden', { detail: { action: name } });
  return action;
}

function assertComplete(action: BulkAction, { id, role, confirm }: Confirmed): void {
  if (id.length === 0)
    throw badRequest('invalid_input', { fields: [{ field: 'id', message: 'Select at least one user.' }] });
  if (action.hasRole && role === '')
    throw badRequest('invalid_input', { fields: [{ field: 'role', message: 'Choose a role.' }] });
  if (action.isFinal && confirm !== String(id.length))
    throw badRequest('invalid_input', { fields: [{ field: 'confirm', message: `Type ${id.length} to confirm.` }] });
}

/** The users with these ids, in their order; those that the administrator may not see are left out. */
async function targetsOf(
  { frame, users }: BulkPagesDependencies,
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
function namesOf(targets: readonly Target[]): string {
  const [first, ...others] = targets;
  return first && others.length === 0 ? nameOf(first.account) : plural(targets.length, 'user');
}

const nameOf = ({ name, username }: Account) => name ?? username;

async function questionPage(
  { frame, roles }: BulkPagesDependencies,
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
  if (action.isFinal) fields.push({ name: 'confirm', label: `Type ${changing.length} to confirm`, required: true });
  const title = action.question.replace('…', () => named);
  const form: Block = {
    kind: 'form',
    lead: action.consequence,
    action: BULK,
    fields,
    button: action.hasRole ? action.label : title,
    look: action.isDangerous ? 'danger' : 'primary',
    cancel: list,
  };
  return {
    title: changing.length > 0 ? `${title}?` : 'Nothing to change',
    back: { href: list, label: 'Users' },
    blocks: [
      ...(changing.length > 0 ? [form, usersTable(plural(changing.length, 'user'), changing)] : []),
      ...(staying.length > 0
        ? [usersTable(`${plural(staying.length, 'user doesn’t', 'users don’t')} change`, staying)]
        : []),
    ],
  };
}

function roleField(names: readonly string[], value: string): Field {
  const options = [{ value: '', label: 'Choose a role' }, ...names.map((name) => ({ value: name, label: name }))];
  return { name: 'role', label: 'Role', type: 'select', value, options, required: true };
}

function usersTable(title: string, targets: readonly Target[]): Block {
  const hasReasons = targets.some(({ reason }) => reason !== undefined);
  return {
    kind: 'table',
    title,
    caption: title,
    columns: ['User', 'Email', ...(hasReasons ? ['Reason'] : [])],
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
  done: { text: 'Done', tone: 'good' },
  skipped: { text: 'Unchanged', tone: 'plain' },
  failed: { text: 'Not changed', tone: 'bad' },
  waiting: { text: 'Not done', tone: 'warn' },
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
    title: `${action.label}: ${done} of ${plural(outcomes.length, 'user')} changed`,
    back: { href: list, label: 'Users' },
    actions: waiting.length
      ? [
          {
            label: `Continue with ${plural(waiting.length, 'user')}`,
            href: `${BULK}?${query}`,
            look: 'primary',
          },
        ]
      : [{ label: 'Back to users', href: list }],
    blocks: [
      {
        kind: 'table',
        caption: 'Result for each user',
        columns: ['User', 'Reason', 'Result'],
        rows: sorted.map(({ id, state, reason }) => {
          const user = account(id);
          return [user ? userCell(user) : { text: id, code: true }, reason, STATES[state]];
        }),
        empty: '',
      },
    ],
  };
}
