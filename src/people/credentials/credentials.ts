// The password of an account: set it, check it, import its hash. What follows from a change, such as ending sessions
// and notices to the owner, is up to the caller.

import { invalidInput, notFound } from '../../base/http/errors.ts';
import { type Tx, transaction } from '../../base/storage/database.ts';
import { fault } from '../../base/texts/faults.ts';
import type { Actor } from '../../core/audit/audit.ts';
import type { Core } from '../../core/core.ts';
import type { Account } from '../accounts/account.ts';
import type { Breached } from './breached.ts';
import { createCheckPassword } from './check-password.ts';
import { createPreparePassword, type SetPassword } from './new-password.ts';
import { isAcceptableHash, type Passwords } from './password.ts';
import type { PasswordFault } from './password-policy.ts';
import { createStoredPasswords } from './stored-password.ts';

export type Credentials = ReturnType<typeof createCredentials>;

export interface CredentialsDependencies {
  passwords: Passwords;
  breached: Breached;
  hasSecondFactor(userId: string, tx?: Tx): Promise<boolean>;
  /** Ends the account's sign-ins that are not finished. */
  abandonSignIns(userId: string, tx: Tx): Promise<void>;
  /** The product's name and the issuer's host, which must not be part of a password. */
  serviceNames(): readonly string[];
}

export function createCredentials(dependencies: Core & CredentialsDependencies) {
  const { db, audit, passwords, breached, hasSecondFactor, abandonSignIns, serviceNames } = dependencies;
  const storedPasswords = createStoredPasswords({ ...dependencies, abandonSignIns });
  const preparePassword = createPreparePassword({
    ...dependencies,
    breached,
    hasSecondFactor,
    passwords,
    serviceNames,
    storedPasswords,
  });

  return {
    /** Checks and hashes a new password without storing it. */
    preparePassword,
    /** When the outcome is `wrong`, does the same work for every account and for an unknown one. */
    checkPassword: createCheckPassword({ ...dependencies, hasSecondFactor, passwords, storedPasswords }),

    /** Checks, hashes and stores a new password; returns what is wrong with a rejected one. */
    async setPassword(account: Account, plain: string, options?: SetPassword): Promise<'ok' | PasswordFault[]> {
      const prepared = await preparePassword(account, plain, options);
      if (prepared.outcome === 'rejected') return prepared.faults;
      await transaction(db, prepared.store);
      return 'ok';
    },

    /** Stores a hash from another system; throws invalid_input for one that is not accepted. */
    async importHash(userId: string, hash: string, by: Actor = {}, outer?: Tx): Promise<void> {
      if (!isAcceptableHash(hash)) {
        throw invalidInput([fault(['password_hash'], 'password-hash')]);
      }
      const work = async (tx: Tx) => {
        await storedPasswords.replace(tx, userId, { hash, mustChange: false, long: false });
        await audit.record({ ...by, type: 'password.imported', outcome: 'success', subjectId: userId }, tx);
      };
      await (outer ? work(outer) : transaction(db, work));
    },

    forceChange: (userId: string, by: Actor = {}): Promise<void> =>
      transaction(db, async (tx) => {
        const { count } = await tx.passwordCredential.updateMany({ where: { userId }, data: { mustChange: true } });
        if (count === 0) throw notFound({ detail: { userId } });
        await audit.record({ ...by, type: 'password.change-forced', outcome: 'success', subjectId: userId }, tx);
      }),

    /** Undefined for an account without a password. */
    async status(
      userId: string,
      tx?: Tx,
    ): Promise<{ mustChange: boolean; long: boolean; changedAt: Date } | undefined> {
      const stored = await storedPasswords.find(userId, tx);
      return stored && { mustChange: stored.mustChange, long: stored.long, changedAt: stored.changedAt };
    },
  };
}
