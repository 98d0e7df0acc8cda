// What is known about a field beside its schema, in a registry of zod: which part of a form it belongs to and how it is displayed. Kind,
// range and default follow from the schema, label and hint from the name (admin/console/form-fields.ts), the sentence of the documents is
// the schema's `describe()`. Each noun adds what it needs, such as who may set a field.
import { z } from 'zod';

export interface DescribedField<Section extends string = string> {
  /** The part of the console's forms that it belongs to; null: it is in none of them. */
  section: Section | null;
  /** Beside another one that is half as wide. */
  isHalf?: true;
  /** Free text, such as a name: neither an address nor an identifier. */
  isFreeText?: true;
  isRequired?: true;
  /** Of a long text. */
  rows?: number;
  /** Of a number. */
  unit?: 'seconds' | 'minutes' | 'hours' | 'days' | 'sessions' | 'characters';
  /** Of two values that a switch displays: that of each side. An absent one leaves the field out. */
  switch?: { on?: unknown; off?: unknown };
  /** Of a boolean that may be absent: three choices. */
  isChoice?: true;
  /** The list that its values are chosen from, where the schema does not name them. */
  options?: string;
  /** Instead of its name in the keys of its texts, where another noun has a field of this name. */
  text?: string;
}

/** The fields of an object with their schemas and descriptions, in the order of the object. Throws an Error for one without a description. */
export function describedFields<Description extends object>(
  shape: Readonly<Record<string, z.ZodType>>,
  registry: z.core.$ZodRegistry<Description>,
): { name: string; schema: z.ZodType; about: Description }[] {
  return Object.entries(shape).map(([name, schema]) => {
    const about = registry.get(schema);
    if (!about) throw new Error(`the field ${name} has no description beside its schema`);
    return { name, schema, about: about as Description };
  });
}

const jsonSchemas = new WeakMap<z.ZodType, ReturnType<typeof convertToJsonSchema>>();
const convertToJsonSchema = (schema: z.ZodType) => z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });

/** The JSON Schema of what a field takes. */
export function jsonSchemaOf(schema: z.ZodType) {
  const found = jsonSchemas.get(schema) ?? convertToJsonSchema(schema);
  jsonSchemas.set(schema, found);
  return found;
}
