// Builds the password services: hashing, strength, breached passwords, and the passwords of accounts.

import type { Tx } from '../../base/storage/database.ts';
import type { Core } from '../../core/core.ts';
import { createBreached } from './breached.ts';
import { createCredentials } from './credentials.ts';
import { createPasswords } from './password.ts';
import { createStrengthMeter } from './strength.ts';

export interface PasswordHooks {
  hasSecondFactor(userId: string, tx?: Tx): Promise<boolean>;
  /** Ends the account's sign-ins that are not finished. */
  abandonSignIns(userId: string, tx: Tx): Promise<void>;
}

// The meter of the pages is separate from the one that decides, so that a flood of estimates cannot block new passwords.
const MAX_WAITING_ESTIMATES = 8;

/** Builds the services; `close` ends their worker threads. */
export function createPasswordServices(core: Core, hooks: PasswordHooks) {
  const { config, settings, outgoing } = core;
  const passwords = createPasswords();
  const strength = createStrengthMeter();
  const strengthMeter = createStrengthMeter({ maxWaiting: MAX_WAITING_ESTIMATES });
  const isLookupOn = () => settings.latest().breached_password_lookup;
  const breached = createBreached({ ...core, strength, rangeFetch: outgoing, isLookupOn });
  const serviceNames = () => ['gatehouse', config.issuerUrl.hostname, settings.latest().brand_name ?? ''];
  return {
    passwords,
    strengthMeter,
    serviceNames,
    credentials: createCredentials({ ...core, ...hooks, passwords, breached, serviceNames }),
    async close() {
      await Promise.all([passwords.close(), strength.close(), strengthMeter.close()]);
    },
  };
}
