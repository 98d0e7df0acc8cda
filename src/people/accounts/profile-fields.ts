// The standard claims that are fields of a user (OpenID Connect Core 5.1), by their names in the code: the one list behind
// the console, the account page, the API, the import and the configuration file.

import { z } from 'zod';
import { canonicalTag, type LanguageName, languageNames, nameWithin } from '../../base/texts/languages.ts';
import { type PageText, type Text, t, textAt } from '../../base/texts/text.ts';

interface TextRule {
  /** The name of the claim, in the API, in the file and in forms. */
  claim: string;
  /** What a browser may fill in (HTML, autofill). */
  autocomplete: string;
  kind?: 'url' | 'birthdate' | 'language';
  /** In docs/configuration.md and the API document. */
  meaning: string;
}

/**
 * A further one is a column of `users` with the name of the claim (`@map`), and a line of base/storage/protected-rows.ts as well; its label is `profile.<claim>`. Everything else
 * follows from here.
 */
const textRules = {
  name: { claim: 'name', autocomplete: 'name', meaning: 'full name' },
  givenName: { claim: 'given_name', autocomplete: 'given-name', meaning: 'first name' },
  middleName: { claim: 'middle_name', autocomplete: 'additional-name', meaning: 'middle name' },
  familyName: { claim: 'family_name', autocomplete: 'family-name', meaning: 'last name' },
  nickname: { claim: 'nickname', autocomplete: 'nickname', meaning: 'casual name' },
  profile: { claim: 'profile', autocomplete: 'off', kind: 'url', meaning: 'web address of a profile page' },
  picture: { claim: 'picture', autocomplete: 'photo', kind: 'url', meaning: 'web address of a picture' },
  website: { claim: 'website', autocomplete: 'url', kind: 'url', meaning: 'web address of the website or blog' },
  gender: { claim: 'gender', autocomplete: 'sex', meaning: "gender, in the user's words" },
  birthdate: {
    claim: 'birthdate',
    autocomplete: 'bday',
    kind: 'birthdate',
    meaning: 'date of birth: `1990-12-31`, `0000-12-31` without the year or `1990`',
  },
  locale: {
    claim: 'locale',
    autocomplete: 'language',
    kind: 'language',
    meaning: 'language, a BCP 47 tag such as `en-GB`; `en_GB` is stored as `en-GB`',
  },
  zoneinfo: { claim: 'zoneinfo', autocomplete: 'off', meaning: 'time zone, such as `Europe/Berlin`' },
} as const satisfies Record<string, TextRule>;
export type TextFieldName = keyof typeof textRules;
export const textFieldNames = Object.keys(textRules) as TextFieldName[];
export type TextClaim = (typeof textRules)[TextFieldName]['claim'];

interface TextField extends TextRule {
  claim: TextClaim;
  label: PageText;
  hint?: PageText;
}

export const textFields = Object.fromEntries(
  textFieldNames.map((field): [TextFieldName, TextField] => {
    const { claim } = textRules[field];
    const hint = textAt(`profile.${claim}-hint`);
    return [field, { ...textRules[field], label: t(`profile.${claim}`), ...(hint && { hint }) }];
  }),
) as Record<TextFieldName, TextField>;
export const textClaims = textFieldNames.map((field) => textFields[field].claim);

/** The parts of a postal address (OpenID Connect Core 5.1.1). */
export const addressParts = {
  formatted: { label: t('profile.formatted'), autocomplete: 'off', lines: 4 },
  street_address: { label: t('profile.street_address'), autocomplete: 'street-address', lines: 2 },
  postal_code: { label: t('profile.postal_code'), autocomplete: 'postal-code', lines: 1 },
  locality: { label: t('profile.locality'), autocomplete: 'address-level2', lines: 1 },
  region: { label: t('profile.region'), autocomplete: 'address-level1', lines: 1 },
  country: { label: t('profile.country'), autocomplete: 'country-name', lines: 1 },
} as const;
export type AddressPart = keyof typeof addressParts;
export type Address = { [Part in AddressPart]?: string | undefined };

const part = z.string().max(1000).optional();
/** An address in JSON and YAML. */
export const addressSchema = z.strictObject({
  formatted: part,
  street_address: part,
  locality: part,
  region: part,
  postal_code: part,
  country: part,
});
export const addressPartNames = Object.keys(addressParts) as AddressPart[];

/** Reads the column `users.address`. */
export const addressOf = (text: string | null) => (text === null ? null : (JSON.parse(text) as Address));

/** The name of a part in a form and in a table, where the address is not an object. */
export const addressColumn = <Part extends AddressPart>(part: Part) =>
  (part === 'formatted' ? 'address_formatted' : part) as Part extends 'formatted' ? 'address_formatted' : Part;
/** What a form and a table call the texts of a profile. */
export type ProfileText = TextClaim | 'address_formatted' | Exclude<AddressPart, 'formatted'>;

/** Each claim with this schema, and what it means. */
export function textSchemas<Schema extends z.ZodType>(schema: Schema) {
  const schemas = textFieldNames.map((field) => [textRules[field].claim, schema.describe(textRules[field].meaning)]);
  return Object.fromEntries(schemas) as Record<TextClaim, Schema>;
}

/** Every field without a value, for an account that is not stored yet. */
export const emptyProfile = {
  ...(Object.fromEntries(textFieldNames.map((field) => [field, null])) as Record<TextFieldName, null>),
  phoneNumber: null,
  phoneNumberVerified: false,
  address: null,
};

/** The text fields of a sent form or a row of a table, as an account takes them; absent ones are left out. */
export function profileOfTexts(given: Readonly<Record<string, unknown>>) {
  const text = (name: string) => (typeof given[name] === 'string' ? given[name].trim() : undefined);
  const texts = textFieldNames.flatMap((field) => {
    const value = text(textFields[field].claim);
    return value === undefined ? [] : [[field, value || null] as const];
  });
  const parts = addressPartNames.map((part) => [part, text(addressColumn(part))] as const);
  const address = Object.fromEntries(parts.filter(([, value]) => value)) as Address;
  return {
    ...(Object.fromEntries(texts) as { [Field in TextFieldName]?: string | null }),
    ...(parts.some(([, value]) => value !== undefined) && { address }),
  };
}

/** The fields of an account as texts by their names in forms and tables; the opposite of `profileOfTexts`. */
export function textsOf(account: Readonly<Record<TextFieldName, string | null>> & { address: Address | null }) {
  return Object.fromEntries([
    ...textFieldNames.map((field) => [textFields[field].claim, account[field] ?? '']),
    ...addressPartNames.map((part) => [addressColumn(part), account.address?.[part] ?? '']),
  ]) as Record<ProfileText, string>;
}

/** What is wrong with the value of a field, beyond its length and invisible characters; undefined when it is right. */
export function valueAdvice(field: TextFieldName, text: string): Text | undefined {
  const { kind } = textFields[field];
  if (kind === 'url' && !isWebAddress(text)) return t('profile.not-web-address');
  if (kind === 'birthdate' && !isBirthdate(text)) return t('profile.not-birthdate');
  if (kind === 'language' && languageTag(text) === undefined) return t('profile.not-language');
  return undefined;
}

/** The language tag of a claim `locale`, which may have `_` for `-` (OpenID Connect Core 5.1); undefined for what is none. */
export function languageTag(locale: string): string | undefined {
  return canonicalTag(locale.replaceAll('_', '-'));
}

function isWebAddress(text: string): boolean {
  return /^https?:\/\/\S+$/.test(text) && URL.canParse(text);
}

/** YYYY-MM-DD, 0000-MM-DD where the year is left out, or YYYY. */
function isBirthdate(text: string): boolean {
  if (/^\d{4}$/.test(text)) return text !== '0000';
  if (!/^\d{4}-\d\d-\d\d$/.test(text)) return false;
  // A leap year has every day.
  const day = text.replace(/^0000/, '2000');
  const date = new Date(`${day}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(day);
}

/** The languages to choose from, with their names: the offered ones, and the one that the user has. */
export function languageChoices(stored: string, offered: readonly string[]): LanguageName[] {
  const tag = languageTag(stored);
  const own = { tag: stored, name: tag ? nameWithin(tag, tag) : stored };
  return [...languageNames(offered), ...(stored === '' || offered.includes(stored) ? [] : [own])];
}
