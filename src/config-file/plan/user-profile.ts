// Maps the profile of a declared user to the fields of an account, and back.
import type { Profile } from '../../accounts/profile.ts';
import type { DeclaredUser } from '../schema.ts';

/** The profile of an entry, without the fields that it leaves out. */
export function profileOf(entry: DeclaredUser): Profile {
  const { username, email, name, picture, locale, zoneinfo, attributes } = entry;
  const profile: Partial<Profile> = {
    email,
    emailVerified: entry.email_verified,
    name,
    givenName: entry.given_name,
    familyName: entry.family_name,
    picture,
    locale,
    zoneinfo,
    phoneNumber: entry.phone_number,
    ssoId: entry.sso_id,
    attributes,
  };
  const given = Object.entries(profile).filter(([, value]) => value !== undefined);
  return { username, ...(Object.fromEntries(given) as Partial<Profile>) };
}

/** `givenName` -> `given_name`. */
export function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
