// Prepares a new password: checks it against the rules and the lists of known passwords, and hashes it. Storing it is a
// step of its own, inside the caller's transaction.

import { badRequest } from '../../base/http/errors.ts';
import type { Tx } from '../../base/storage/database.ts';
import type { Actor } from '../../core/audit/audit.ts';
import type { Core } from '../../core/core.ts';
import type { Account } from '../accounts/account.ts';
import type { Breached } from './breached.ts';
import type { Passwords } from './password.ts';
import {
  minimumLength,
  type PasswordFault,
  passwordFaults,
  passwordLength,
  withoutKnownWords,
} from './password-policy.ts';
import type { StoredPasswords } from './stored-password.ts';

export type PreparedPassword =
  | { outcome: 'rejected'; faults: PasswordFault[] }
  /** Checked and hashed; `store` writes it in the caller's transaction, for example the one that uses a link up. */
  | { outcome: 'ready'; store(tx: Tx): Promise<void> };

export interface SetPassword extends Actor {
  /** The audit event: set by an administrator, changed by its owner, or reset with a link. */
  event?: 'password.set' | 'password.changed' | 'password.reset';
  /** A temporary password, to be changed at the next sign-in. */
  mustChange?: boolean;
}

export type PreparePassword = (account: Account, plain: string, options?: SetPassword) => Promise<PreparedPassword>;

export interface PreparePasswordDependencies {
  breached: Breached;
  hasSecondFactor(userId: string, tx?: Tx): Promise<boolean>;
  passwords: Passwords;
  /** The product's name and the issuer's host, which make a password neither longer nor less common. */
  serviceNames(): readonly string[];
  storedPasswords: StoredPasswords;
}

export function createPreparePassword(dependencies: Core & PreparePasswordDependencies): PreparePassword {
  const { audit, breached, hasSecondFactor, passwords, serviceNames, storedPasswords } = dependencies;

  async function faultsOf(account: Account, password: string): Promise<PasswordFault[]> {
    const factor = await hasSecondFactor(account.id);
    const input = { password, hasSecondFactor: factor, account, serviceNames: serviceNames() };
    const faults = passwordFaults(input);
    if (faults.length > 0) return faults;
    const known = await breached.check(password);
    if (known !== 'clean') return [known];
    // "Password123" does not become better by a name before it.
    const { rest, found } = withoutKnownWords(input);
    if (found.length > 0 && (await breached.isCommon(rest.replace(/[^\p{L}\p{N}]+/gu, '')))) return found;
    // A forced change to the same password would change nothing.
    const stored = await storedPasswords.find(account.id);
    if (stored?.mustChange && (await passwords.verify(stored.hash, password)).ok) return ['unchanged'];
    return [];
  }

  return async (account, plain, { event = 'password.set', mustChange = false, ...by } = {}) => {
    const faults = await faultsOf(account, plain);
    if (faults.length > 0) return { outcome: 'rejected', faults };
    const long = passwordLength(plain) >= minimumLength(false);
    const password = { hash: await passwords.hash(plain), mustChange, long };
    return {
      outcome: 'ready',
      async store(tx) {
        // The second factor that allows a short password may have been removed during the hashing.
        if (!long && !(await hasSecondFactor(account.id, tx))) throw badRequest('password_rejected');
        await storedPasswords.replace(tx, account.id, password);
        const data = { mustChange };
        await audit.record({ ...by, type: event, outcome: 'success', subjectId: account.id, data }, tx);
      },
    };
  };
}
