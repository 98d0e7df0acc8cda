// The part of the JSON Schema of custom attributes that forms can display: a property that is a text, one of some texts, a number, true or
// false, or a list of texts, with nothing else said about it.

import { invalidInput } from '../../base/http/errors.ts';
import { defined } from '../../base/platform/defined.ts';
import type { FieldKeywords } from '../../base/schemas/json-schema.ts';
import { fault } from '../../base/texts/faults.ts';
import { SOURCE_LANGUAGE } from '../../base/texts/languages.ts';
import { nameIn, type PageText } from '../../base/texts/text.ts';
import type { AttributeSchema } from './attributes.ts';
import { taggedName } from './tagged-values.ts';

export type AttributeKind = 'text' | 'number' | 'flag' | 'list';

export interface SimpleAttribute {
  name: string;
  /** What people read: its title, or its name. */
  label: PageText;
  kind: AttributeKind;
  /** Of a text: the values to choose from; empty: any. */
  values: readonly string[];
  isRequired: boolean;
  /** Its label, who may see and change it, its mask, and whether it is asked for. */
  keywords: FieldKeywords;
}

const kinds: Record<string, AttributeKind> = { string: 'text', number: 'number', boolean: 'flag', array: 'list' };
const types: Record<AttributeKind, string> = { text: 'string', number: 'number', flag: 'boolean', list: 'array' };

/** The properties that are simple, in their order. */
export function simpleAttributes(schema: AttributeSchema): SimpleAttribute[] {
  const required = (schema.required ?? []) as string[];
  return Object.entries((schema.properties ?? {}) as Record<string, unknown>).flatMap(([name, property]) => {
    const simple = simpleProperty(property);
    return simple
      ? { name, label: labelOf(name, simple.keywords), ...simple, isRequired: required.includes(name) }
      : [];
  });
}

/** Its title in the language of the page; the name where it has none. */
export function labelOf(name: string, { title = name }: FieldKeywords): PageText {
  if (typeof title === 'string') return title;
  return nameIn(title[SOURCE_LANGUAGE] ?? Object.values(title)[0] ?? name, title);
}

/** Its titles in all languages. */
export const titlesOf = ({ title = {} }: FieldKeywords): string[] =>
  typeof title === 'string' ? [title] : Object.values(title);

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
export function schemaOf(attributes: readonly Omit<SimpleAttribute, 'label'>[], additional: unknown): AttributeSchema {
  if (attributes.length === 0) return {};
  const required = attributes.filter(({ isRequired }) => isRequired).map(({ name }) => name);
  return {
    type: 'object',
    properties: Object.fromEntries(
      attributes.map(({ name, kind, values, keywords }) => [name, { ...propertyOf(kind, values), ...keywords }]),
    ),
    ...(required.length > 0 && { required }),
    ...(additional !== undefined && { additionalProperties: additional }),
  };
}

function propertyOf(kind: AttributeKind, values: readonly string[]): Record<string, unknown> {
  if (kind === 'list') return { type: 'array', items: { type: 'string' } };
  return { type: types[kind], ...(values.length > 0 && { enum: [...values] }) };
}

function simpleProperty(property: unknown): Pick<SimpleAttribute, 'kind' | 'values' | 'keywords'> | undefined {
  const {
    type,
    enum: values = [],
    title,
    visible_to,
    editable_by,
    mask,
    ask,
    ...rest
  } = property as Record<string, unknown>;
  const keywords = defined({ title, visible_to, editable_by, mask, ask }) as FieldKeywords;
  const kind = typeof type === 'string' ? kinds[type] : undefined;
  const isOfTexts = Array.isArray(values) && values.every((one) => typeof one === 'string');
  if (!kind || !isOfTexts || (values.length > 0 && kind !== 'text')) return undefined;
  const isPlain = JSON.stringify(rest) === (kind === 'list' ? '{"items":{"type":"string"}}' : '{}');
  return isPlain ? { kind, values, keywords } : undefined;
}

/** Who sees and changes attributes: the person, the desk (who may change users and no settings), administrators. */
export type Audience = 'person' | 'desk' | 'administrator';

/** Whether they may see or change this attribute. What the schema does not say is for the desk and administrators. */
export function isFor(audience: Audience, schema: AttributeSchema, key: string, what: 'visible_to' | 'editable_by') {
  if (audience === 'administrator') return true;
  const properties = (schema.properties ?? {}) as Record<string, FieldKeywords>;
  // A value in another language (`name#ja`) is as the one without a tag, unless the schema names it.
  const base = taggedName(key)?.base ?? '';
  const name = [key, base].find((one) => Object.hasOwn(properties, one));
  const keywords: FieldKeywords = name === undefined ? {} : (properties[name] ?? {});
  const { visible_to: readers = ['desk'] } = keywords;
  const { editable_by: writers = readers.filter((one) => one === 'desk') } = keywords;
  return (what === 'visible_to' ? readers : writers).includes(audience);
}

type Attributes = Readonly<Record<string, unknown>>;

/** The attributes that they may see or change. */
export const attributesFor = (
  audience: Audience,
  schema: AttributeSchema,
  attributes: Attributes,
  what: 'visible_to' | 'editable_by' = 'visible_to',
): Record<string, unknown> =>
  Object.fromEntries(Object.entries(attributes).filter(([key]) => isFor(audience, schema, key, what)));

/** In place of own fields of which the audit log has only the beginning (core/audit/audit.ts): it does not say which field is whose. */
export const CUT = '[cut]';

/** Those that they may see, of an entry of the audit log. */
export function loggedAttributes(audience: Audience, schema: AttributeSchema, json: string) {
  try {
    return attributesFor(audience, schema, JSON.parse(json) as Attributes);
  } catch {
    return CUT;
  }
}

/** The schema with what they may change. */
export function schemaFor(audience: Audience, schema: AttributeSchema): AttributeSchema {
  const { properties } = schema;
  if (!properties) return schema;
  return { ...schema, properties: attributesFor(audience, schema, properties as Attributes, 'editable_by') };
}

/** The attributes after a change by them, which keeps what they may not change. Throws invalid_input where it does not. */
export function changedBy(
  audience: Audience,
  schema: AttributeSchema,
  before: Attributes,
  after: Attributes,
): Record<string, unknown> {
  // Of what they do not see, also the right value is rejected: the answer must not tell whether a guess is right.
  const isSame = (key: string, value: unknown) =>
    isFor(audience, schema, key, 'visible_to') && JSON.stringify(value) === JSON.stringify(before[key]);
  const foreign = Object.entries(after).find(
    ([key, value]) => !isFor(audience, schema, key, 'editable_by') && !isSame(key, value),
  );
  if (foreign) throw invalidInput([fault(['attributes', foreign[0]], 'not-yours')]);
  const kept = Object.entries(before).filter(([key]) => !isFor(audience, schema, key, 'editable_by'));
  return { ...Object.fromEntries(kept), ...after };
}
