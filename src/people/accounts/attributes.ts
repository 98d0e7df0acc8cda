// Checks the custom attributes of accounts against the JSON Schema of the setting `user_attributes`. Without a schema
// they may be text, numbers, booleans and lists of text.

import { z } from 'zod';
import { compileJsonSchema } from '../../base/schemas/json-schema.ts';
import { at, type Fault, fault } from '../../base/texts/faults.ts';
import { canonicalTag } from '../../base/texts/languages.ts';
import { fieldFault } from './profile.ts';
import { textClaims, textFieldNames, textFields } from './profile-fields.ts';
import { taggableClaims, taggedName } from './tagged-values.ts';

export type AttributeSchema = Readonly<Record<string, unknown>>;

const MAX_FAULTS = 20;
const plain = z.union([z.string(), z.number(), z.boolean(), z.array(z.string())]);
// Mappings name an attribute as `attributes.NAME`.
const name = /^[^\s.\p{C}][^\s\p{C}]{0,63}$/u;

/**
 * What is wrong with these attributes, at most 20 faults; an empty `schema` means that there is none. Names without a language after `#` stay
 * where `before`, the stored attributes, has them.
 */
export function attributeFaults(
  attributes: Record<string, unknown>,
  schema: AttributeSchema,
  before: Readonly<Record<string, unknown>> = {},
): Fault[] {
  const isWrongTag = (key: string) => !Object.hasOwn(before, key) && hasWrongTag(key, schema);
  const faults: Fault[] = Object.entries(attributes).flatMap(([key, value]): Fault[] => {
    if (!name.test(key)) {
      return [fault([key.slice(0, 64)], 'attribute-name-form')];
    }
    if (isWrongTag(key)) return [fault([key], 'attribute-language')];
    if (Object.keys(schema).length > 0 || plain.safeParse(value).success) return [];
    return [fault([key], 'attribute-value')];
  });
  const others = Object.fromEntries(Object.entries(attributes).filter(([key]) => !isWrongTag(key)));
  faults.push(...schemaFaults(others, schema));
  return at(['attributes'], faults.slice(0, MAX_FAULTS));
}

/** Whether what is after `#` is no language tag; the schema may have a name with `#` of its own. */
function hasWrongTag(key: string, { properties }: AttributeSchema): boolean {
  const isDeclared = Object.hasOwn((properties ?? {}) as object, key);
  return key.includes('#') && !isDeclared && taggedName(key) === undefined;
}

/** Warnings about own fields with the name of a standard claim, such as one that this version is the first to have. */
export function namedAsClaims({ properties }: AttributeSchema): string[] {
  return ([...textClaims, 'phone_number', 'address'] as string[])
    .filter((claim) => Object.hasOwn((properties ?? {}) as object, claim))
    .map(
      (claim) => `user_attributes has the field ${claim}, but a column ${claim} of an import fills the standard claim`,
    );
}

interface TaggedAttribute {
  /** Its whole name. */
  key: string;
  base: string;
  tag: string;
  value: unknown;
}

/** The faults of attributes and of their values in other languages, which the schema need not name. */
function schemaFaults(attributes: Record<string, unknown>, schema: AttributeSchema): Fault[] {
  const properties = (schema.properties ?? {}) as object;
  const tagged = Object.entries(attributes).flatMap(([key, value]): TaggedAttribute[] => {
    const parts = Object.hasOwn(properties, key) ? undefined : taggedName(key);
    return parts ? [{ key, value, ...parts }] : [];
  });
  const keys = new Set(tagged.map(({ key }) => key));
  const untagged = Object.fromEntries(Object.entries(attributes).filter(([key]) => !keys.has(key)));
  const check = Object.keys(schema).length > 0 ? compileJsonSchema(schema) : () => [];
  const faults = check(untagged);
  const isNew = (found: Fault) => !faults.some((one) => JSON.stringify(one) === JSON.stringify(found));
  const ofTagged = tagged.flatMap(({ key, base, tag, value }): Fault[] => {
    const canonical = canonicalTag(tag);
    if (canonical && canonical !== tag) return [fault([key], 'attribute-tag', { tag: canonical })];
    if (taggableClaims.has(base) && !Object.hasOwn(properties, base)) return claimFaults(key, base, value);
    // A value in another language must be one that the attribute may have.
    const found = check({ ...untagged, [base]: value }).filter(isNew);
    return found.map((one) => ({ ...one, path: [key, ...one.path.slice(1)] }));
  });
  return [...ofTagged, ...faults];
}

/** What is wrong with the value of a standard claim in another language. */
function claimFaults(key: string, claim: string, value: unknown): Fault[] {
  const field = textFieldNames.find((one) => textFields[one].claim === claim);
  if (typeof value !== 'string') return [fault([key], 'attribute-text')];
  const found = field && fieldFault(field, value);
  return found ? [{ ...found, path: [key] }] : [];
}
