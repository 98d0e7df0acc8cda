// Checks the profile of an account and computes its columns, for create and update alike. The console, the API, the
// configuration file and the command line all use it, so they accept the same values.
import { badRequest, type FieldFault } from '../http/errors.ts';
import { emailFault, type NameDomains, nameAdvice, nameKey, usernameFault } from './names.ts';

/** The fields a caller may set. Absent: unchanged (update) or empty (create); null: empty. */
export interface Profile {
  username: string;
  email?: string | null;
  emailVerified?: boolean;
  name?: string | null;
  givenName?: string | null;
  familyName?: string | null;
  picture?: string | null;
  locale?: string | null;
  zoneinfo?: string | null;
  phoneNumber?: string | null;
  attributes?: Record<string, unknown>;
  ssoId?: string | null;
}

export interface NewAccount extends Profile {
  /** Only to restore an account that was exported: its `sub` stays what applications know. */
  id?: string;
  isActive?: boolean;
  source?: 'local' | 'file';
}

const TEXT_FIELDS = ['name', 'givenName', 'familyName', 'picture', 'locale', 'zoneinfo', 'phoneNumber'] as const;
const MAX_TEXT = 200;
const MAX_PICTURE = 2000;
const MAX_ATTRIBUTES = 16_384;
// PostgreSQL's index entries hold 2704 bytes, and a character may take 4.
const MAX_SEARCH_KEY = 600;

/** The columns for `profile`; throws `invalid_input` (400) that names every wrong field. `domains` is that of `usernameFault`. */
export function profileColumns(profile: Profile, domains: NameDomains = []) {
  const username = clean(profile.username) ?? '';
  const email = clean(profile.email);
  const texts = Object.fromEntries(
    TEXT_FIELDS.filter((field) => profile[field] !== undefined).map((field) => [field, clean(profile[field])]),
  ) as Partial<Record<(typeof TEXT_FIELDS)[number], string | null>>;
  const attributes = JSON.stringify(profile.attributes ?? {});

  const faults = [
    fault('username', usernameFault(username, email, domains)),
    email === null ? undefined : fault('email', emailFault(email)),
    ...TEXT_FIELDS.map((field) => textFault(field, texts[field])),
    attributes.length > MAX_ATTRIBUTES ? { field: 'attributes', message: 'This is too long.' } : undefined,
  ].filter((found) => found !== undefined);
  if (faults.length > 0) throw badRequest('invalid_input', { fields: faults });

  return {
    ...texts,
    username,
    usernameKey: nameKey(username),
    email,
    emailKey: email === null ? null : nameKey(email),
    searchKey: searchKey(username, email, clean(profile.name)),
    emailVerified: email !== null && (profile.emailVerified ?? false),
    attributes,
    ...(profile.ssoId === undefined ? {} : { ssoId: clean(profile.ssoId) }),
  };
}

/** The text that lists search: the canonical forms together, cut to what an index can hold. */
export function searchKey(username: string, email: string | null, name: string | null): string {
  return [username, email ?? '', name ?? '']
    .map(nameKey)
    .join('\n')
    .slice(0, MAX_SEARCH_KEY)
    .replace(/\p{Cs}$/u, '');
}

function clean(text: string | null | undefined): string | null {
  const trimmed = text?.normalize('NFC').trim();
  return trimmed ? trimmed : null;
}

function fault(field: string, found: Parameters<typeof nameAdvice>[0] | undefined): FieldFault | undefined {
  return found && { field, message: nameAdvice(found) };
}

function textFault(field: string, text: string | null | undefined): FieldFault | undefined {
  if (!text) return undefined;
  if (text.length > (field === 'picture' ? MAX_PICTURE : MAX_TEXT)) return { field, message: nameAdvice('too_long') };
  // Control characters, and marks that change the direction of the surrounding text.
  if (/[\p{Cc}\p{Cs}\u202a-\u202e\u2066-\u2069]/u.test(text)) {
    return { field, message: nameAdvice('invisible_characters') };
  }
  if (field === 'picture' && !/^https?:\/\/\S+$/.test(text)) return { field, message: 'This is not a web address.' };
  return undefined;
}
