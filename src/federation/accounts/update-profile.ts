// Updates the profile of an account from its upstream at each sign-in. Values that an account cannot have are ignored. An email
// address is adopted only if that gives no account to the wrong person.

import { AppError } from '../../base/http/errors.ts';
import type { Clock } from '../../base/platform/clock.ts';
import type { Tx } from '../../base/storage/database.ts';
import type { Actor, Audit } from '../../core/audit/audit.ts';
import { recipientOf } from '../../core/mail/messages.ts';
import type { Outbox } from '../../core/mail/outbox.ts';
import { placeOf } from '../../core/mail/wording.ts';
import type { Account } from '../../people/accounts/account.ts';
import type { Accounts } from '../../people/accounts/accounts.ts';
import { nameKey } from '../../people/accounts/names.ts';
import { type Profile, profileColumns } from '../../people/accounts/profile.ts';
import type { MappedProfile } from './mapping.ts';

export type ProfileFields = Omit<Profile, 'username' | 'email' | 'emailVerified' | 'ssoId'>;

/** The mapped fields that an account can have; `attributes` are added to the existing ones. */
export function acceptableFields(
  { name, givenName, familyName, picture, locale, zoneinfo, phoneNumber, attributes }: MappedProfile,
  present: Record<string, unknown>,
): ProfileFields {
  const all = { name, givenName, familyName, picture, locale, zoneinfo, phoneNumber };
  const suppliedFields: ProfileFields = Object.fromEntries(
    Object.entries(all).filter(([, value]) => value !== undefined),
  );
  if (Object.keys(attributes).length > 0) suppliedFields.attributes = { ...present, ...attributes };
  const wrong = faultsOf(() => profileColumns({ username: 'any', ...suppliedFields }));
  return Object.fromEntries(Object.entries(suppliedFields).filter(([field]) => !wrong.includes(field)));
}

export interface UpdateProfileDependencies {
  accounts: Accounts;
  audit: Audit;
  outbox: Outbox;
  now: Clock;
}

/**
 * Updates the account; without the attributes when the schema of the settings rejects them. A new address can reset the password,
 * so the old one gets a mail about it, and the change has its own audit entry.
 */
export async function updateProfile(
  dependencies: UpdateProfileDependencies,
  account: Account,
  profile: MappedProfile,
  { by, tx }: { by: Actor; tx: Tx },
): Promise<Account> {
  const { accounts } = dependencies;
  // The configuration file owns the fields of its users.
  if (account.source === 'file') return account;
  const address = await addressOf(accounts, account, profile, tx);
  const fields = { ...acceptableFields(profile, account.attributes), ...address };
  const updated = await accounts.update(account.id, fields, by, tx).catch((error: unknown) => {
    if (!(error instanceof AppError) || error.code !== 'invalid_input') throw error;
    const { attributes: _rejected, ...others } = fields;
    return accounts.update(account.id, others, by, tx);
  });
  if (address.email) await reportNewAddress(dependencies, account, address.email, { by, tx });
  return updated;
}

async function reportNewAddress(
  { audit, outbox, now }: UpdateProfileDependencies,
  account: Account,
  newEmail: string,
  { by, tx }: { by: Actor; tx: Tx },
): Promise<void> {
  const data = { before: account.email, after: newEmail };
  await audit.record({ ...by, type: 'email.changed', outcome: 'success', subjectId: account.id, data }, tx);
  const to = recipientOf(account);
  if (to) await outbox.send({ kind: 'email-changed', to, newEmail, place: placeOf(by.request, now()) }, tx);
}

/** The address, if the upstream proves it and no other account has it. Nothing else changes an address that resets a password. */
async function addressOf(
  accounts: Accounts,
  account: Account,
  { email, isEmailTrusted }: MappedProfile,
  tx: Tx,
): Promise<Pick<Profile, 'email' | 'emailVerified'>> {
  if (email === undefined || !isEmailTrusted) return {};
  const isSame = account.email !== null && nameKey(account.email) === nameKey(email);
  if (isSame) return account.emailVerified ? {} : { emailVerified: true };
  const holder = await accounts.findByLogin(email, tx);
  return holder && holder.id !== account.id ? {} : { email, emailVerified: true };
}

function faultsOf(check: () => unknown): string[] {
  try {
    check();
    return [];
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return error.fields.map(({ field }) => field);
  }
}
