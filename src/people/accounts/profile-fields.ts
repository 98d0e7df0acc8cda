// The standard claims that are fields of a user (OpenID Connect Core 5.1), by their names in the code: the one list behind
// the console, the account page, the API, the import and the configuration file.

import { z } from 'zod';
import { canonicalTag, type LanguageName, languageNames, nameWithin } from '../../base/texts/languages.ts';
import { type PageText, type Text, t, textAt } from '../../base/texts/text.ts';

/** What every value of a field must be; `pattern` is in the API document too. */
interface Kind {
  /** Characters. */
  max: number;
  pattern?: RegExp;
  isRight?(text: string): boolean;
  /** What is said of a wrong one. */
  advice?: Text;
}
const kinds = {
  text: { max: 200 },
  url: {
    max: 2000,
    pattern: /^https?:\/\/\S+$/,
    isRight: (text) => URL.canParse(text),
    advice: t('profile.not-web-address'),
  },
  birthdate: {
    max: 10,
    pattern: /^\d{4}(-\d\d-\d\d)?$/,
    isRight: isBirthdate,
    advice: t('profile.not-birthdate'),
  },
  language: { max: 200, isRight: (text) => languageTag(text) !== undefined, advice: t('profile.not-language') },
} as const satisfies Record<string, Kind>;

/** What may be left out is the careful answer: administrators alone fill the field, in one language. */
interface TextRule {
  /** The name of the claim, in the API, in the file and in forms. */
  claim: string;
  /** What a browser may fill in (HTML, autofill). */
  autocomplete: string;
  /** `text` by default: a line of 200 characters. A further kind is a row of `kinds`, with a text. */
  kind?: keyof typeof kinds;
  /** In docs/configuration.md and the API document. */
  meaning: string;
  /** It has values in other languages, such as `name#ja`. */
  isTaggable?: true;
  /** A connection can fill it: from the claim of its name, unless it is told another one. */
  isMapped?: true;
  /** The attributes of SCIM that fill it, the first one that has a value (protocols/scim/schemas.ts has what they are). */
  scim?: readonly string[];
  /** Nobody but the SCIM connection of a user changes it. */
  isManaged?: true;
}

/**
 * A further one is a column of `users` with the name of the claim (`@map`), covered in base/storage/protected-rows.ts, with a label `profile.<claim>`.
 * People see and change it where `profileClaims` (core/settings/value-schemas.ts) lists it. A change by an administrator needs no fresh proof,
 * and every application with the scope `profile` receives it: what must not be so is an own field of the setting `user_attributes`.
 */
const textRules = {
  name: {
    claim: 'name',
    autocomplete: 'name',
    meaning: 'full name',
    isTaggable: true,
    isMapped: true,
    scim: ['displayName', 'name.formatted'],
    isManaged: true,
  },
  givenName: {
    claim: 'given_name',
    autocomplete: 'given-name',
    meaning: 'first name',
    isTaggable: true,
    isMapped: true,
    scim: ['name.givenName'],
    isManaged: true,
  },
  middleName: {
    claim: 'middle_name',
    autocomplete: 'additional-name',
    meaning: 'middle name',
    isTaggable: true,
    scim: ['name.middleName'],
    isManaged: true,
  },
  familyName: {
    claim: 'family_name',
    autocomplete: 'family-name',
    meaning: 'last name',
    isTaggable: true,
    isMapped: true,
    scim: ['name.familyName'],
    isManaged: true,
  },
  nickname: {
    claim: 'nickname',
    autocomplete: 'nickname',
    meaning: 'casual name',
    isTaggable: true,
    scim: ['nickName'],
    isManaged: true,
  },
  profile: {
    claim: 'profile',
    autocomplete: 'off',
    kind: 'url',
    meaning: 'web address of a profile page',
    isTaggable: true,
    scim: ['profileUrl'],
  },
  picture: {
    claim: 'picture',
    autocomplete: 'photo',
    kind: 'url',
    meaning: 'web address of a picture',
    isTaggable: true,
    isMapped: true,
  },
  website: {
    claim: 'website',
    autocomplete: 'url',
    kind: 'url',
    meaning: 'web address of the website or blog',
    isTaggable: true,
  },
  gender: { claim: 'gender', autocomplete: 'sex', meaning: "gender, in the user's words", isTaggable: true },
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
    isMapped: true,
    scim: ['preferredLanguage', 'locale'],
  },
  zoneinfo: {
    claim: 'zoneinfo',
    autocomplete: 'off',
    meaning: 'time zone, such as `Europe/Berlin`',
    isMapped: true,
    scim: ['timezone'],
  },
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

/** Those that a connection can fill. */
export type MappedField = {
  [Field in TextFieldName]: (typeof textRules)[Field] extends { isMapped: true } ? Field : never;
}[TextFieldName];
export const mappedFields = textFieldNames.filter((field): field is MappedField => textFields[field].isMapped === true);

/** Of a field that is a text. */
export const kindOf = (field: TextFieldName): Kind => kinds[textFields[field].kind ?? 'text'];

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

/** Each claim with a schema of `text`, whose length and form are in documents only: accounts check them. @param wrap says what it is without a value */
export function textSchemas<Schema extends z.ZodType>(text: z.ZodString, wrap: (text: z.ZodString) => Schema) {
  const schemas = textFieldNames.map((field) => {
    const { max: maxLength, pattern } = kindOf(field);
    const schema = wrap(text.meta({ maxLength, ...(pattern && { pattern: pattern.source }) }));
    return [textRules[field].claim, schema.describe(textRules[field].meaning)];
  });
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
  const { pattern, isRight, advice } = kindOf(field);
  return (pattern && !pattern.test(text)) || (isRight && !isRight(text)) ? advice : undefined;
}

/** The language tag of a claim `locale`, which may have `_` for `-` (OpenID Connect Core 5.1); undefined for what is none. */
export function languageTag(locale: string): string | undefined {
  return canonicalTag(locale.replaceAll('_', '-'));
}

/** YYYY-MM-DD, 0000-MM-DD where the year is left out, or YYYY. */
function isBirthdate(text: string): boolean {
  if (text.length === 4) return text !== '0000';
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
