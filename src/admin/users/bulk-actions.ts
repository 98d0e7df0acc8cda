// What an administrator can do with several users at once: a table, from which the list, the page that asks and the change are made.
// Each user is changed by the same function as alone, with its rights, its audit entry and the protection of the last administrator.

import { AppError } from '../../base/http/errors.ts';
import { limits } from '../../base/limits.ts';
import type { Stopwatch } from '../../base/platform/clock.ts';
import { forSeconds } from '../../base/platform/turns.ts';
import { type PageText, type Text, t } from '../../base/texts/text.ts';
import type { Actor } from '../../core/audit/audit.ts';
import type { Account } from '../../people/accounts/account.ts';
import type { OwnPermission } from '../../people/rbac/built-in.ts';
import { type Need, within } from '../../people/rbac/rights.ts';
import { assertFreshProof, type SensitiveChange, StepUpNeeded } from '../proof/sensitive-changes.ts';
import type { UserAdmin } from './actions.ts';

/** The page that asks, and that makes the change. */
export const BULK = '/admin/users/bulk';

type BulkName =
  | ('enable' | 'disable' | 'add-role' | 'remove-role' | 'add-group')
  | ('force-change' | 'invite' | 'send-reset' | 'end-sessions' | 'delete');

export interface BulkAction {
  name: BulkName;
  /** The beginning of the keys of its texts; its name by default. */
  texts?: BulkName | 'send-reset-file' | 'invite-file';
  /** The same where no mail server is set. */
  fileTexts?: 'send-reset-file' | 'invite-file';
  /** One of these, for each user. */
  needs: readonly [OwnPermission, ...OwnPermission[]];
  /** And this one, for every user. */
  alsoNeeds?: OwnPermission;
  isDangerous?: true;
  /** Its change is about one of these, which the page asks for. */
  asks?: 'role' | 'group';
  /** The page asks for a text that each email contains. */
  hasMessage?: true;
  /** The number of users has to be typed. */
  isFinal?: true;
  /** What the page that asks for a sign-in says; absent for what needs none. */
  change?: SensitiveChange;
  /** Why there is nothing to do for this user. */
  skips?(account: Account): Text | undefined;
  /** Returns why nothing changed; nothing when it did. Throws what the change of one user throws. */
  run(users: UserAdmin, id: string, by: Actor, given: Given): Promise<Text | undefined>;
}

/** What the page asks for: the name of a role, the id of a group, and the text of the emails. */
interface Given {
  role: string;
  group: string;
  message: string;
}

const WRITE = 'gatehouse.users:write' as const;
const ASSIGN = [WRITE, 'gatehouse.roles:write'] as const;
export const END = 'gatehouse.sessions:end' as const;
const changed = () => undefined;
const fromFile = ({ source }: Account) => (source === 'file' ? t('console.bulk.reason.file') : undefined);

function hasNoPassword(error: unknown): Text {
  if (error instanceof AppError && error.status === 404) return t('console.bulk.reason.no-password');
  throw error;
}

export const bulkActions: readonly BulkAction[] = [
  {
    name: 'enable',
    needs: [WRITE],
    change: 'users.enable',
    skips: (account) => (account.isEnabled ? t('console.bulk.reason.active') : undefined),
    run: (users, id, by) => users.setActive(id, true, by).then(changed),
  },
  {
    name: 'disable',
    needs: [WRITE],
    change: 'users.disable',
    isDangerous: true,
    skips: (account) => (account.isEnabled ? undefined : t('console.bulk.reason.disabled')),
    run: (users, id, by) => users.setActive(id, false, by).then(changed),
  },
  {
    name: 'add-role',
    needs: ASSIGN,
    change: 'users.change-roles',
    asks: 'role',
    skips: fromFile,
    async run(users, id, by, { role }) {
      const { roles } = await users.find(id, by, 'gatehouse.users:read');
      if (roles.includes(role)) return t('console.bulk.reason.has-role');
      await users.giveRole(id, role, {}, by);
      return undefined;
    },
  },
  {
    name: 'remove-role',
    needs: ASSIGN,
    change: 'users.change-roles',
    asks: 'role',
    isDangerous: true,
    skips: fromFile,
    run: async (users, id, by, { role }) =>
      (await users.takeRole(id, role, by)) ? undefined : t('console.bulk.reason.no-role'),
  },
  {
    name: 'add-group',
    needs: ['gatehouse.users:read'],
    alsoNeeds: 'gatehouse.groups:write',
    change: 'group.change-members',
    asks: 'group',
    run: async (users, id, by, { group }) =>
      (await users.join(group, { userId: id }, by)) > 0 ? undefined : t('console.bulk.reason.has-group'),
  },
  {
    name: 'force-change',
    needs: [WRITE],
    change: 'users.force-password-change',
    run: (users, id, by) => users.forcePasswordChange(id, by).then(changed, hasNoPassword),
  },
  {
    name: 'invite',
    needs: ['gatehouse.users:reset-password', WRITE],
    fileTexts: 'invite-file',
    hasMessage: true,
    skips: (account) => (account.email ? undefined : t('console.bulk.reason.no-email')),
    run: (users, id, by, { message }) => users.invite(id, by, message).then(changed),
  },
  {
    name: 'send-reset',
    needs: ['gatehouse.users:reset-password'],
    fileTexts: 'send-reset-file',
    skips: (account) => (account.email ? undefined : t('console.bulk.reason.no-email')),
    run: (users, id, by) => users.sendPasswordReset(id, by).then(changed),
  },
  {
    name: 'end-sessions',
    needs: [END],
    change: 'users.end-sessions',
    isDangerous: true,
    run: async (users, id, by) =>
      (await users.endSessions(id, by)).count > 0 ? undefined : t('console.bulk.reason.no-session'),
  },
  {
    name: 'delete',
    needs: [WRITE],
    change: 'users.delete',
    isDangerous: true,
    isFinal: true,
    skips: fromFile,
    run: (users, id, by) => users.remove(id, by).then(changed),
  },
];

/** Of the choice, such as `Disable`. */
export const labelOf = ({ name, texts = name }: BulkAction): Text => t(`console.bulk.${texts}`);
/** The title of the page that asks, less the question mark, and its button. */
export const questionOf = ({ name, texts = name }: BulkAction, users: PageText): Text =>
  t(`console.bulk.${texts}.question`, { users });
export const consequenceOf = ({ name, texts = name }: BulkAction): Text => t(`console.bulk.${texts}.consequence`);
/** What the next page says. */
export const doneOf = ({ name, texts = name }: BulkAction, users: PageText, { group }: { group: string }): Text =>
  t(`console.bulk.${texts}.done`, { users, group });

/** An email is not sent yet, and a file never is. */
export function toneOf({ name, texts = name }: BulkAction): 'good' | 'plain' | 'warn' {
  if (name !== 'send-reset' && name !== 'invite') return 'good';
  return texts === name ? 'plain' : 'warn';
}

/** What this administrator may do with some users at least. */
export function offeredBulkActions(meets: (need: Need) => boolean, hasMailServer: boolean): BulkAction[] {
  const all = bulkActions.map((one) => ({ ...one, ...(!hasMailServer && one.fileTexts && { texts: one.fileTexts }) }));
  return all.filter(
    ({ needs, alsoNeeds }) => needs.some((need) => meets(within(need))) && (!alsoNeeds || meets(alsoNeeds)),
  );
}

export interface BulkOutcome {
  id: string;
  state: 'done' | 'skipped' | 'failed' | 'waiting';
  /** Why it is not done. */
  reason?: PageText;
}

/** `named`: such as `3 users`, or the group, for the page that asks for a sign-in. */
interface BulkRun extends Given {
  action: BulkAction;
  ids: readonly string[];
  named: PageText;
}

/**
 * Makes the change for one user after the other, and says for each what became of it: a user that the actor may not change fails, and
 * the others are changed. What is left after `limits.bulk.seconds` waits. Throws StepUpNeeded before the first change.
 */
export async function runBulk(
  dependencies: { users: UserAdmin; stopwatch?: Stopwatch },
  { action, ids, named, ...given }: BulkRun,
  by: Actor,
): Promise<BulkOutcome[]> {
  if (action.change) assertFreshProof(by, action.change, named);
  const { users, stopwatch } = dependencies;
  const outcomes: BulkOutcome[] = [];
  for await (const id of forSeconds(limits.bulk.seconds, ids, stopwatch))
    outcomes.push(await runOne(action, users, id, by, given));
  const waiting = { state: 'waiting', reason: t('console.bulk.reason.not-yet') } as const;
  return [...outcomes, ...ids.slice(outcomes.length).map((id) => ({ id, ...waiting }))];
}

async function runOne(action: BulkAction, users: UserAdmin, id: string, by: Actor, given: Given): Promise<BulkOutcome> {
  try {
    const reason = await action.run(users, id, by, given);
    return reason ? { id, state: 'skipped', reason } : { id, state: 'done' };
  } catch (error) {
    // The sign-in became too old meanwhile.
    if (error instanceof StepUpNeeded) return { id, state: 'waiting', reason: t('console.bulk.reason.sign-in') };
    if (error instanceof AppError && error.status < 500) return { id, state: 'failed', reason: error.text };
    throw error;
  }
}
