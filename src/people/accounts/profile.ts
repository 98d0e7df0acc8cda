// Checks the profile of an account and computes its columns, for create and update alike. The console, the API, the
// configuration file and the command line all use it, so they accept the same values.

import { invalidInput } from '../../base/http/errors.ts';
import { fullName } from '../../base/http/pages/tokens.ts';
import { isStorableTime } from '../../base/storage/storable-text.ts';
import { type Fault, fault, textFault } from '../../base/texts/faults.ts';
import { emailFault, type NameDomains, nameAdvice, nameKey, usernameFault } from './names.ts';
import {
  type Address,
  type AddressPart,
  addressPartNames,
  kindOf,
  languageTag,
  type TextFieldName,
  textFieldNames,
  valueAdvice,
} from './profile-fields.ts';

type Texts = { [Field in TextFieldName | 'phoneNumber']?: string | null };

/** The fields a caller may set. Absent: unchanged (update) or empty (create); null: empty. */
export interface Profile extends Texts {
  username: string;
  email?: string | null;
  emailVerified?: boolean;
  /** Only with `emailVerified`. */
  emailProven?: boolean;
  /** Replaces the whole address. */
  address?: Address | null;
  attributes?: Record<string, unknown>;
  ssoId?: string | null;
  /** Null: at once, and no end (active.ts). */
  activeFrom?: Date | null;
  activeUntil?: Date | null;
}

export interface NewAccount extends Profile {
  /** Only to restore an account that was exported: its `sub` stays what applications know. */
  id?: string;
  isEnabled?: boolean;
  source?: 'local' | 'file';
}

const TEXT_FIELDS = [...textFieldNames, 'phoneNumber'] as const;
const MAX_TEXT = 200;
const MAX_LINES = 1000;
// Control characters, and marks that change the direction of the surrounding text.
const INVISIBLE = /[\p{Cc}\p{Cs}\u202a-\u202e\u2066-\u2069]/u;
const MAX_ATTRIBUTES = 16_384;
// PostgreSQL's index entries hold 2704 bytes, and a character may take 4.
const MAX_SEARCH_KEY = 600;
const MAX_VALUE_KEY = 200;
/** Values of an account that are searched. */
const MAX_VALUES = 200;

/**
 * The columns for `profile`; throws `invalid_input` (400) that names every wrong field. `domains` is that of `usernameFault`. Texts that are as
 * in `before`, the stored account, are not checked: they stay until they are changed.
 */
export function profileColumns(profile: Profile, domains: NameDomains = [], before: Partial<Texts> = {}) {
  const username = clean(profile.username) ?? '';
  const email = clean(profile.email);
  const texts = Object.fromEntries(
    TEXT_FIELDS.filter((field) => profile[field] !== undefined).map((field) => [
      field,
      cleanText(field, profile[field]),
    ]),
  ) as Texts;
  const attributes = JSON.stringify(profile.attributes ?? {});
  const address = profile.address === undefined ? undefined : cleanAddress(profile.address);

  const faults = [
    nameFault('username', usernameFault(username, email, domains)),
    email === null ? undefined : nameFault('email', emailFault(email)),
    ...TEXT_FIELDS.map((field) => (texts[field] === before[field] ? undefined : fieldFault(field, texts[field]))),
    ...addressPartNames.map((part) => partFault(part, address?.[part])),
    attributes.length > MAX_ATTRIBUTES ? fault(['attributes'], 'too-long') : undefined,
    ...timeFaults(profile),
  ].filter((found) => found !== undefined);
  if (faults.length > 0) throw invalidInput(faults);

  return {
    ...texts,
    username,
    usernameKey: nameKey(username),
    email,
    emailKey: email === null ? null : nameKey(email),
    searchKey: searchKey(username, email, clean(fullName(profile))),
    ...listKeys(username, clean(fullName(profile))),
    emailVerified: email !== null && (profile.emailVerified ?? false),
    emailProven: email !== null && (profile.emailVerified ?? false) && (profile.emailProven ?? false),
    attributes,
    ...(address === undefined ? {} : { address: address && JSON.stringify(address) }),
    ...(profile.ssoId === undefined ? {} : { ssoId: clean(profile.ssoId) }),
    ...(profile.activeFrom === undefined ? {} : { activeFrom: profile.activeFrom }),
    ...(profile.activeUntil === undefined ? {} : { activeUntil: profile.activeUntil }),
  };
}

function timeFaults({ activeFrom = null, activeUntil = null }: Profile): (Fault | undefined)[] {
  const isWrong = (at: Date | null) => at !== null && !isStorableTime(at);
  return [
    isWrong(activeFrom) ? fault(['activeFrom'], 'wrong-form') : undefined,
    isWrong(activeUntil) ? fault(['activeUntil'], 'wrong-form') : undefined,
    activeFrom && activeUntil && activeUntil <= activeFrom ? fault(['activeUntil'], 'end-passed') : undefined,
  ];
}

/** The text that lists search: the canonical forms together, cut to what an index can hold. */
export function searchKey(username: string, email: string | null, name: string | null): string {
  return cut([username, email ?? '', name ?? ''].map(nameKey).join('\n'), MAX_SEARCH_KEY);
}

/** So many characters, without half of one at the end. */
const cut = (text: string, length: number) => text.slice(0, length).replace(/\p{Cs}$/u, '');

/** The texts and numbers of own fields that lists search, in their canonical form. */
export function searchedValues(attributes: Record<string, unknown>): { name: string; valueKey: string }[] {
  const rows = Object.entries(attributes).flatMap(([name, value]) => {
    const texts = [value].flat().filter((one) => typeof one === 'string' || typeof one === 'number');
    const keys = texts.map((text) => cut(nameKey(String(text)), MAX_VALUE_KEY));
    return [...new Set(keys)].filter(Boolean).map((valueKey) => ({ name, valueKey }));
  });
  return rows.slice(0, MAX_VALUES);
}

/** The canonical name, by which lists are sorted, and its last word; the username where there is no name. */
export function listKeys(username: string, name: string | null): { nameKey: string; lastNameKey: string } {
  const key = nameKey(name ?? username);
  return { nameKey: key, lastNameKey: key.split(/\s+/).at(-1) ?? '' };
}

function clean(text: string | null | undefined): string | null {
  const trimmed = text?.normalize('NFC').trim();
  return trimmed ? trimmed : null;
}

function cleanText(field: (typeof TEXT_FIELDS)[number], given: string | null | undefined): string | null {
  const text = clean(given);
  return text !== null && field === 'locale' ? (languageTag(text) ?? text) : text;
}

function nameFault(field: string, found: Parameters<typeof nameAdvice>[0] | undefined): Fault | undefined {
  return found && textFault([field], nameAdvice(found));
}

/** What is wrong with the text of a field; its path is the name of the field. */
export function fieldFault(field: (typeof TEXT_FIELDS)[number], text: string | null | undefined): Fault | undefined {
  if (!text) return undefined;
  const path = [field];
  const max = field === 'phoneNumber' ? MAX_TEXT : kindOf(field).max;
  if (text.length > max) return textFault(path, nameAdvice('too_long'));
  if (INVISIBLE.test(text)) return textFault(path, nameAdvice('invisible_characters'));
  const advice = field === 'phoneNumber' ? undefined : valueAdvice(field, text);
  return advice && textFault(path, advice);
}

/** Only `formatted` and `street_address` have several lines (OpenID Connect Core 5.1.1). */
function partFault(part: AddressPart, text: string | undefined): Fault | undefined {
  if (!text) return undefined;
  const path = ['address', part];
  const hasLines = part === 'formatted' || part === 'street_address';
  if (text.length > (hasLines ? MAX_LINES : MAX_TEXT)) return textFault(path, nameAdvice('too_long'));
  const rest = hasLines ? text.replaceAll('\n', '') : text;
  return INVISIBLE.test(rest) ? textFault(path, nameAdvice('invisible_characters')) : undefined;
}

/** The parts with a value, in one order; null without any. */
function cleanAddress(address: Address | null): Address | null {
  const parts = addressPartNames.flatMap((part) => {
    const value = clean(address?.[part]?.replace(/\r\n?/g, '\n'));
    return value === null ? [] : [[part, value] as const];
  });
  return parts.length === 0 ? null : Object.fromEntries(parts);
}
