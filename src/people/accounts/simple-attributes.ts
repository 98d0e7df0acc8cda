// The part of the JSON Schema of custom attributes that forms can display: a property that is a text, one of some texts, a number, true or
// false, or a list of texts, with nothing else said about it.
import type { AttributeSchema } from './attributes.ts';

export type AttributeKind = 'text' | 'number' | 'flag' | 'list';

export interface SimpleAttribute {
  name: string;
  kind: AttributeKind;
  /** Of a text: the values to choose from; empty: any. */
  values: readonly string[];
  isRequired: boolean;
}

const kinds: Record<string, AttributeKind> = { string: 'text', number: 'number', boolean: 'flag', array: 'list' };
const types: Record<AttributeKind, string> = { text: 'string', number: 'number', flag: 'boolean', list: 'array' };

/** The properties that are simple, in their order. */
export function simpleAttributes(schema: AttributeSchema): SimpleAttribute[] {
  const required = (schema.required ?? []) as string[];
  return Object.entries((schema.properties ?? {}) as Record<string, unknown>).flatMap(([name, property]) => {
    const simple = simpleProperty(property);
    return simple ? { name, ...simple, isRequired: required.includes(name) } : [];
  });
}

/** Whether the schema says no more than its simple attributes do. */
export function isSimpleSchema(schema: AttributeSchema): boolean {
  const known = ['type', 'properties', 'required', 'additionalProperties'];
  const { properties = {}, required = [], additionalProperties = false } = schema;
  const names = Object.keys(properties as object);
  return (
    Object.keys(schema).every((key) => known.includes(key)) &&
    typeof additionalProperties === 'boolean' &&
    (required as string[]).every((name) => names.includes(name)) &&
    simpleAttributes(schema).length === names.length
  );
}

/** The schema with these attributes; empty, which allows any, without one. `additional`: whether others are allowed; undefined: yes. */
export function schemaOf(attributes: readonly SimpleAttribute[], additional: unknown): AttributeSchema {
  if (attributes.length === 0) return {};
  const required = attributes.filter(({ isRequired }) => isRequired).map(({ name }) => name);
  return {
    type: 'object',
    properties: Object.fromEntries(attributes.map(({ name, kind, values }) => [name, propertyOf(kind, values)])),
    ...(required.length > 0 && { required }),
    ...(additional !== undefined && { additionalProperties: additional }),
  };
}

function propertyOf(kind: AttributeKind, values: readonly string[]): Record<string, unknown> {
  if (kind === 'list') return { type: 'array', items: { type: 'string' } };
  return { type: types[kind], ...(values.length > 0 && { enum: [...values] }) };
}

function simpleProperty(property: unknown): Pick<SimpleAttribute, 'kind' | 'values'> | undefined {
  const { type, enum: values = [], ...rest } = property as Record<string, unknown>;
  const kind = typeof type === 'string' ? kinds[type] : undefined;
  const isOfTexts = Array.isArray(values) && values.every((one) => typeof one === 'string');
  if (!kind || !isOfTexts || (values.length > 0 && kind !== 'text')) return undefined;
  const isPlain = JSON.stringify(rest) === (kind === 'list' ? '{"items":{"type":"string"}}' : '{}');
  return isPlain ? { kind, values } : undefined;
}
