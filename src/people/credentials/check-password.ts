// Checks the password of an account at a sign-in. A failure takes the same time for every account and for an unknown one: in each
// hash scheme, it costs as much as the most expensive stored hash. The schemes and costs in use (`kinds`) are read from the
// database each time, because another instance may have added some.

import { limits } from '../../base/limits.ts';
import { traced } from '../../base/platform/tracing.ts';
import type { Core } from '../../core/core.ts';
import type { Account } from '../accounts/account.ts';
import type { Passwords } from './password.ts';
import { passwordLength } from './password-policy.ts';
import type { StoredPassword, StoredPasswords } from './stored-password.ts';

export type PasswordCheck =
  /**
   * Right. `must-change`: an administrator demands a new one, or it is a temporary password. `too-short`: shorter than
   * allowed without a second factor. `setAt` tells it apart from a password that was set during the check.
   */
  | { outcome: 'ok' | 'must-change' | 'too-short'; setAt: Date }
  /** `reason` is for the audit log; the response must be the same for all of them, but for `disabled_account`: the password is right. */
  | { outcome: 'wrong'; reason: 'unknown_account' | 'no_password' | 'wrong_password' | 'disabled_account' };

export type CheckPassword = (account: Account | undefined, plain: string) => Promise<PasswordCheck>;

/** Replaces the account id of an unknown login. */
export const NO_ACCOUNT = 'none';

export function createCheckPassword(
  dependencies: Core & {
    hasSecondFactor(userId: string): Promise<boolean>;
    passwords: Passwords;
    storedPasswords: StoredPasswords;
  },
): CheckPassword {
  const { audit, hasSecondFactor, passwords, storedPasswords } = dependencies;

  async function verify(stored: StoredPassword | undefined, plain: string): Promise<{ ok: boolean; rehash: boolean }> {
    if (stored) return passwords.verify(stored.hash, plain);
    await passwords.dummyVerify(plain);
    return { ok: false, rehash: false };
  }

  const check: CheckPassword = async (account, plain) => {
    const stored = await storedPasswords.find(account?.id ?? NO_ACCOUNT);
    const { ok, rehash } = await verify(stored, plain);
    if (!account || !stored || !ok || !account.isActive) {
      await passwords.equalizeWork(plain, stored?.hash, await storedPasswords.kinds());
      if (!account) return { outcome: 'wrong', reason: 'unknown_account' };
      if (!stored) return { outcome: 'wrong', reason: 'no_password' };
      return { outcome: 'wrong', reason: ok ? 'disabled_account' : 'wrong_password' };
    }

    const long = passwordLength(plain) >= limits.password.minWithoutMfa;
    if (rehash || long !== stored.long) {
      const hash = rehash ? await passwords.hash(plain) : stored.hash;
      const isStored = await storedPasswords.rehash(account.id, stored.hash, { hash, long });
      if (rehash && isStored) {
        await audit.record({ type: 'password.rehashed', outcome: 'success', subjectId: account.id });
      }
    }
    const setAt = stored.changedAt;
    if (stored.mustChange) return { outcome: 'must-change', setAt };
    return { outcome: long || (await hasSecondFactor(account.id)) ? 'ok' : 'too-short', setAt };
  };
  return traced('password check', check);
}
