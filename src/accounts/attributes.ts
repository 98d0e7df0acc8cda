// Checks the custom attributes of accounts against the JSON Schema of the setting `user_attributes`. Without a schema
// they may be text, numbers, booleans and lists of text.
import { z } from 'zod';
import type { FieldFault } from '../http/errors.ts';
import { compileJsonSchema, type JsonFault } from '../platform/json-schema.ts';

export type AttributeSchema = Readonly<Record<string, unknown>>;

const MAX_FAULTS = 20;
const plain = z.union([z.string(), z.number(), z.boolean(), z.array(z.string())]);
// Mappings name an attribute as `attributes.NAME`.
const name = /^[^\s.\p{C}][^\s\p{C}]{0,63}$/u;

/** What is wrong with these attributes, at most 20 faults; an empty `schema` means that there is none. */
export function attributeFaults(attributes: Record<string, unknown>, schema: AttributeSchema): FieldFault[] {
  const faults: JsonFault[] = Object.entries(attributes).flatMap(([key, value]): JsonFault[] => {
    if (!name.test(key)) {
      return [{ path: [key.slice(0, 64)], message: 'Use up to 64 characters without spaces for the attribute name.' }];
    }
    if (Object.keys(schema).length > 0 || plain.safeParse(value).success) return [];
    return [{ path: [key], message: 'Use text, a number, true, false, or a list of text values.' }];
  });
  if (Object.keys(schema).length > 0) faults.push(...compileJsonSchema(schema)(attributes));
  return faults
    .slice(0, MAX_FAULTS)
    .map(({ path, message }) => ({ field: ['attributes', ...path].map(String).join('.'), message }));
}
