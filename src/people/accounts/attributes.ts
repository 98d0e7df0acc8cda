// Checks the custom attributes of accounts against the JSON Schema of the setting `user_attributes`. Without a schema
// they may be text, numbers, booleans and lists of text.

import { z } from 'zod';
import type { FieldFault } from '../../base/http/errors.ts';
import { faultMessage } from '../../base/platform/fault-messages.ts';
import { compileJsonSchema, type JsonFault } from '../../base/platform/json-schema.ts';
import { canonicalTag } from '../../base/texts/languages.ts';
import type { PageText } from '../../base/texts/text.ts';
import { fieldFault } from './profile.ts';
import { textFieldNames, textFields } from './profile-fields.ts';
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
): FieldFault[] {
  const isWrongTag = (key: string) => !Object.hasOwn(before, key) && hasWrongTag(key, schema);
  const faults: AttributeFault[] = Object.entries(attributes).flatMap(([key, value]): AttributeFault[] => {
    if (!name.test(key)) {
      return [{ path: [key.slice(0, 64)], message: faultMessage('attribute-name-form') }];
    }
    if (isWrongTag(key)) return [{ path: [key], message: faultMessage('attribute-language') }];
    if (Object.keys(schema).length > 0 || plain.safeParse(value).success) return [];
    return [{ path: [key], message: faultMessage('attribute-value') }];
  });
  const others = Object.fromEntries(Object.entries(attributes).filter(([key]) => !isWrongTag(key)));
  faults.push(...schemaFaults(others, schema));
  return faults
    .slice(0, MAX_FAULTS)
    .map(({ path, message }) => ({ field: ['attributes', ...path].map(String).join('.'), message }));
}

/** Whether what is after `#` is no language tag; the schema may have a name with `#` of its own. */
function hasWrongTag(key: string, { properties }: AttributeSchema): boolean {
  const isDeclared = Object.hasOwn((properties ?? {}) as object, key);
  return key.includes('#') && !isDeclared && taggedName(key) === undefined;
}

/** What is wrong at a path of the attributes. */
interface AttributeFault {
  path: JsonFault['path'];
  message: PageText;
}

interface TaggedAttribute {
  /** Its whole name. */
  key: string;
  base: string;
  tag: string;
  value: unknown;
}

/** The faults of attributes and of their values in other languages, which the schema need not name. */
function schemaFaults(attributes: Record<string, unknown>, schema: AttributeSchema): AttributeFault[] {
  const properties = (schema.properties ?? {}) as object;
  const tagged = Object.entries(attributes).flatMap(([key, value]): TaggedAttribute[] => {
    const parts = Object.hasOwn(properties, key) ? undefined : taggedName(key);
    return parts ? [{ key, value, ...parts }] : [];
  });
  const keys = new Set(tagged.map(({ key }) => key));
  const untagged = Object.fromEntries(Object.entries(attributes).filter(([key]) => !keys.has(key)));
  const check = Object.keys(schema).length > 0 ? compileJsonSchema(schema) : () => [];
  const faults = check(untagged);
  const isNew = (fault: JsonFault) => !faults.some((one) => JSON.stringify(one) === JSON.stringify(fault));
  const ofTagged = tagged.flatMap(({ key, base, tag, value }): AttributeFault[] => {
    const canonical = canonicalTag(tag);
    if (canonical && canonical !== tag)
      return [{ path: [key], message: faultMessage('attribute-tag', { tag: canonical }) }];
    if (taggableClaims.has(base) && !Object.hasOwn(properties, base)) return claimFaults(key, base, value);
    // A value in another language must be one that the attribute may have.
    const found = check({ ...untagged, [base]: value }).filter(isNew);
    return found.map(({ path, message }) => ({ path: [key, ...path.slice(1)], message }));
  });
  return [...ofTagged, ...faults];
}

/** What is wrong with the value of a standard claim in another language. */
function claimFaults(key: string, claim: string, value: unknown): AttributeFault[] {
  const field = textFieldNames.find((one) => textFields[one].claim === claim);
  if (typeof value !== 'string') return [{ path: [key], message: faultMessage('attribute-text') }];
  const fault = field && fieldFault(field, value);
  return fault ? [{ path: [key], message: fault.message }] : [];
}
