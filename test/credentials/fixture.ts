// Credentials on a real database, with real hashing and the real list of common passwords.

import { createBreached } from '../../src/people/credentials/breached.ts';
import { createCredentials } from '../../src/people/credentials/credentials.ts';
import { createPasswords, type PasswordsOptions } from '../../src/people/credentials/password.ts';
import { createStrengthMeter } from '../../src/people/credentials/strength.ts';
import { abandonSignIns } from '../../src/sign-in/attempts.ts';
import { openPeople } from '../accounts/fixture.ts';
import { fixedSettings, servicesOf } from '../support/services-of.ts';

export async function openCredentials(options: PasswordsOptions = {}) {
  const people = await openPeople();
  const passwords = createPasswords(options);
  const strength = createStrengthMeter();
  const withSecondFactor = new Set<string>();
  const credentials = createCredentials({
    ...servicesOf({ ...people, settings: fixedSettings() }),
    passwords,
    breached: createBreached({ ...servicesOf({ logger: people.logger }), strength }),
    hasSecondFactor: async (userId) => withSecondFactor.has(userId),
    abandonSignIns,
    endAppPasswords: async () => {},
    serviceNames: () => ['Gatehouse'],
  });
  const close = async () => {
    await Promise.all([passwords.close(), strength.close()]);
    await people.close();
  };
  return { ...people, passwords, strength, credentials, withSecondFactor, close };
}

export type CredentialsFixture = Awaited<ReturnType<typeof openCredentials>>;
