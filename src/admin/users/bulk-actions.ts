// What an administrator can do with several users at once: a table, from which the list, the page that asks and the change are made.
// Each user is changed by the same function as alone, with its rights, its audit entry and the protection of the last administrator.
import type { Account } from '../../accounts/account.ts';
import type { Actor } from '../../audit/audit.ts';
import { AppError } from '../../http/errors.ts';
import { limits } from '../../limits.ts';
import type { Clock } from '../../platform/clock.ts';
import type { OwnPermission } from '../../rbac/built-in.ts';
import { type Need, within } from '../../rbac/rights.ts';
import { assertFreshProof, type SensitiveChange, StepUpNeeded } from '../proof/sensitive-changes.ts';
import type { UserAdmin } from './actions.ts';

/** The page that asks, and that makes the change. */
export const BULK = '/admin/users/bulk';

export interface BulkAction {
  name: string;
  /** Of the choice, such as `Disable`. */
  label: string;
  /** One of these, for each user. */
  needs: readonly [OwnPermission, ...OwnPermission[]];
  /** The title of the page that asks, less the question mark, and its button; `…` is the users, such as `3 users`. */
  question: string;
  consequence: string;
  /** What the next page says; `…` as above. */
  done: string;
  isDangerous?: true;
  /** The same where no mail server is set. */
  withoutMailServer?: { label: string; question: string; done: string; consequence: string };
  /** Its change is about a role, which the page asks for. */
  hasRole?: true;
  /** The number of users has to be typed. */
  isFinal?: true;
  /** What the page that asks for a sign-in says; absent for what needs none. */
  change?: SensitiveChange;
  /** Why there is nothing to do for this user. */
  skips?(account: Account): string | undefined;
  /** Returns why nothing changed; nothing when it did. Throws what the change of one user throws. */
  run(users: BulkUsers, id: string, by: Actor, role: string): Promise<string | undefined>;
}

export type BulkUsers = Pick<
  UserAdmin,
  'setActive' | 'changeRole' | 'forcePasswordChange' | 'sendPasswordReset' | 'endSessions' | 'remove'
>;

const WRITE = 'gatehouse.users:write' as const;
const ASSIGN = [WRITE, 'gatehouse.roles:write'] as const;
export const END = 'gatehouse.sessions:end' as const;
const changed = () => undefined;
const fromFile = ({ source }: Account) => (source === 'file' ? 'Is managed by the configuration file' : undefined);

function hasNoPassword(error: unknown): string {
  if (error instanceof AppError && error.status === 404) return 'Has no password';
  throw error;
}

export const bulkActions: readonly BulkAction[] = [
  {
    ...{ name: 'enable', label: 'Enable', needs: [WRITE], change: 'users.enable' },
    ...{ question: 'Enable …', done: 'Enabled …' },
    consequence: 'They can sign in again.',
    skips: (account) => (account.isActive ? 'Already active' : undefined),
    run: (users, id, by) => users.setActive(id, true, by).then(changed),
  },
  {
    ...{ name: 'disable', label: 'Disable', needs: [WRITE], change: 'users.disable', isDangerous: true },
    ...{ question: 'Disable …', done: 'Disabled …' },
    consequence: 'They can’t sign in, and their sessions end now.',
    skips: (account) => (account.isActive ? undefined : 'Already disabled'),
    run: (users, id, by) => users.setActive(id, false, by).then(changed),
  },
  {
    ...{ name: 'add-role', label: 'Add role', needs: ASSIGN, change: 'users.change-roles', hasRole: true },
    ...{ question: 'Add a role to …', done: 'Added the role to …' },
    consequence: 'They get the permissions of the role and access to its applications.',
    skips: fromFile,
    run: async (users, id, by, role) =>
      (await users.changeRole(id, { add: role }, by)) ? undefined : 'Already has the role',
  },
  {
    ...{ name: 'remove-role', label: 'Remove role', needs: ASSIGN, change: 'users.change-roles', hasRole: true },
    ...{ question: 'Remove a role from …', done: 'Removed the role from …', isDangerous: true },
    consequence: 'They lose the permissions of the role and access to its applications.',
    skips: fromFile,
    run: async (users, id, by, role) =>
      (await users.changeRole(id, { remove: role }, by))
        ? undefined
        : 'Doesn’t have the role, or has it through a connection',
  },
  {
    ...{
      name: 'force-change',
      label: 'Require password change',
      needs: [WRITE],
      change: 'users.force-password-change',
    },
    ...{ question: 'Require a new password from …', done: 'Required a new password from …' },
    consequence: 'Their sessions end, and they choose a new password at the next sign-in.',
    run: (users, id, by) => users.forcePasswordChange(id, by).then(changed, hasNoPassword),
  },
  {
    ...{ name: 'send-reset', label: 'Send password reset', needs: ['gatehouse.users:reset-password'] },
    ...{ question: 'Send a password reset to …', done: 'Sent a password reset to …' },
    consequence: 'Each of them gets an email with a link to set a new password.',
    withoutMailServer: {
      ...{ label: 'Write password reset to a file', question: 'Write a password reset to a file for …' },
      done: 'Wrote a password reset to a file for …',
      consequence: 'No mail server is set: each email is written to a file, and nobody receives it.',
    },
    skips: (account) => (account.email ? undefined : 'Has no email'),
    run: (users, id, by) => users.sendPasswordReset(id, by).then(changed),
  },
  {
    ...{ name: 'end-sessions', label: 'End sessions', needs: [END], change: 'users.end-sessions' },
    ...{ question: 'End all sessions of …', done: 'Ended the sessions of …', isDangerous: true },
    consequence: 'They are signed out everywhere, and their applications are notified.',
    run: async (users, id, by) => ((await users.endSessions(id, by)) > 0 ? undefined : 'Had no session'),
  },
  {
    ...{ name: 'delete', label: 'Delete', needs: [WRITE], change: 'users.delete', isDangerous: true, isFinal: true },
    ...{ question: 'Delete …', done: 'Deleted …' },
    consequence: 'Deletes their accounts. You can’t undo this.',
    skips: fromFile,
    run: (users, id, by) => users.remove(id, by).then(changed),
  },
];

/** What this administrator may do with some users at least. */
export function offeredBulkActions(meets: (need: Need) => boolean, hasMailServer: boolean): BulkAction[] {
  const all = bulkActions.map((one) => ({ ...one, ...(hasMailServer ? {} : one.withoutMailServer) }));
  return all.filter(({ needs }) => needs.some((need) => meets(within(need))));
}

export interface BulkOutcome {
  id: string;
  state: 'done' | 'skipped' | 'failed' | 'waiting';
  /** Why it is not done. */
  reason?: string;
}

/**
 * Makes the change for one user after the other, and says for each what became of it: a user that the actor may not change fails, and
 * the others are changed. What is left after `limits.bulk.seconds` waits. Throws StepUpNeeded before the first change.
 * @param users such as `3 users`, for the page that asks for a sign-in
 */
export async function runBulk(
  dependencies: { users: BulkUsers; now: Clock },
  { action, ids, role, named }: { action: BulkAction; ids: readonly string[]; role: string; named: string },
  by: Actor,
): Promise<BulkOutcome[]> {
  if (action.change) assertFreshProof(by, action.change, named);
  const { users, now } = dependencies;
  const start = now().getTime();
  const outcomes: BulkOutcome[] = [];
  for (const id of ids) {
    const isLate = outcomes.length > 0 && now().getTime() - start >= limits.bulk.seconds * 1000;
    outcomes.push(
      isLate ? { id, state: 'waiting', reason: 'Not done yet' } : await runOne(action, users, id, by, role),
    );
  }
  return outcomes;
}

async function runOne(action: BulkAction, users: BulkUsers, id: string, by: Actor, role: string): Promise<BulkOutcome> {
  try {
    const reason = await action.run(users, id, by, role);
    return reason ? { id, state: 'skipped', reason } : { id, state: 'done' };
  } catch (error) {
    // The sign-in became too old meanwhile.
    if (error instanceof StepUpNeeded) return { id, state: 'waiting', reason: 'Needs a fresh sign-in' };
    if (error instanceof AppError && error.status < 500) return { id, state: 'failed', reason: error.message };
    throw error;
  }
}
