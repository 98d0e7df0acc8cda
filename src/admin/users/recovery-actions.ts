// Lockout, second factors and sessions of a user, as an administrator changes them.
import type { Actor, Audit } from '../../audit/audit.ts';
import type { EndedAll, EndSession } from '../../logout/end-session.ts';
import type { NotifyOwner } from '../../mail/notify-owner.ts';
import type { Mfa } from '../../mfa/create-mfa.ts';
import type { Lockout } from '../../rate-limits/lockout.ts';
import type { Authority } from '../../rbac/authority.ts';
import { assertFreshProof } from '../proof/sensitive-changes.ts';
import type { UserLookup } from './lookup.ts';

export interface RecoveryActions {
  unlock(id: string, by: Actor): Promise<void>;
  /** Removes every second factor and ends every session. */
  resetFactors(id: string, by: Actor): Promise<void>;
  /** Lets the user set up a first second factor (setting first_factor). */
  allowFirstFactor(id: string, by: Actor): Promise<void>;
  endSessions(id: string, by: Actor): Promise<EndedAll>;
}

export interface RecoveryActionsDependencies {
  audit: Audit;
  authority: Authority;
  mfa: Mfa;
  lockout: Lockout;
  endSession: EndSession;
  notifyOwner: NotifyOwner;
}

export function recoveryActions(
  { audit, authority, mfa, lockout, endSession, notifyOwner }: RecoveryActionsDependencies,
  { find, findManaged }: UserLookup,
): RecoveryActions {
  return {
    async unlock(id, by) {
      await lockout.unlock(await findManaged(id, by, ['gatehouse.users:unlock']));
      await audit.record({ ...by, type: 'sign-in.unlocked', outcome: 'success', subjectId: id });
    },

    async resetFactors(id, by) {
      const account = await findManaged(id, by, ['gatehouse.users:reset-factors']);
      assertFreshProof(by, 'user.reset-factors', account.username);
      await mfa.factors.reset(id, by);
      await mfa.knownBrowsers.endTrust(id);
      await endSession.all(id, 'ended-by-admin', by);
      await notifyOwner(account, 'factors-reset', by.request);
    },

    async allowFirstFactor(id, by) {
      const { username } = await findManaged(id, by, ['gatehouse.users:reset-factors']);
      assertFreshProof(by, 'user.allow-factor', username);
      await mfa.firstEnrolment.allow(id, by);
    },

    // It gives nobody anything, so it takes no more than the permission, also for users with more rights.
    async endSessions(id, by) {
      await authority.assertCovers(by, 'gatehouse.sessions:end', id);
      const { username } = await find(id);
      assertFreshProof(by, 'user.end-sessions', username);
      return endSession.all(id, 'ended-by-admin', by);
    },
  };
}
