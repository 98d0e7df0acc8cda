// Maps the profile of a declared user to the fields of an account, and back.
import type { Profile } from '../../people/accounts/profile.ts';
import { textFieldNames, textFields } from '../../people/accounts/profile-fields.ts';
import type { DeclaredUser } from '../schema.ts';

/** The profile of an entry, without the fields that it leaves out. */
export function profileOf(entry: DeclaredUser): Profile {
  const { username } = entry;
  const texts = textFieldNames.map((field) => [field, entry[textFields[field].claim]] as const);
  const profile: Partial<Profile> = {
    ...Object.fromEntries(texts),
    email: entry.email,
    emailVerified: entry.email_verified,
    phoneNumber: entry.phone_number,
    address: entry.address,
    ssoId: entry.sso_id,
    attributes: entry.attributes,
  };
  const given = Object.entries(profile).filter(([, value]) => value !== undefined);
  return { username, ...(Object.fromEntries(given) as Partial<Profile>) };
}

/** `givenName` -> `given_name`. */
export function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
