// The values of a resource: read from a body over the table of attributes, kept as the client sent them, and written again (RFC 7643 2, 3).
// Attributes that the table does not have are ignored, and so are those that only the server sets.
import { scimError } from './errors.ts';
import type { Complex, Value } from './filter.ts';
import type { Attribute, ResourceType } from './schemas.ts';

/** Values of a list; members of a group have a limit of their own. */
const MAX_VALUES = 100;
export const MAX_MEMBERS = 20_000;
const MAX_TEXT = 4096;
/** Of what an index has. */
const MAX_ID = 500;

export type Values = Map<string, Value>;

/** A user or group as the client sees it. */
export interface Resource {
  id: string;
  values: Values;
  createdAt: Date;
  updatedAt: Date;
}

/** Whether the version in If-Match is that of the resource (RFC 7644 3.14). */
export type IfMatch = (resource: Resource) => boolean;

/** The attributes of a body. Throws invalidValue and invalidSyntax. */
export function readResource(body: Readonly<Record<string, unknown>>, type: ResourceType): Values {
  const values: Values = new Map();
  for (const [key, raw] of Object.entries(body)) {
    const attribute = type.attributes.get(key.toLowerCase());
    if (!attribute || attribute.mutability === 'readOnly') continue;
    const value = readValue(attribute, raw);
    if (value !== undefined) values.set(attribute.name, value);
  }
  return values;
}

/** The value of an attribute; undefined where it is empty. Throws invalidValue. */
export function readValue(attribute: Attribute, raw: unknown, name = attribute.name): Value | undefined {
  if (raw === null || raw === undefined || raw === '') return undefined;
  if (attribute.multiValued) return readList(attribute, Array.isArray(raw) ? raw : [raw], name);
  // Okta and Entra send a single value in an array at times.
  const one: unknown = Array.isArray(raw) && raw.length === 1 ? raw[0] : raw;
  return attribute.type === 'complex' ? readComplex(attribute, one, name) : readSimple(attribute, one, name);
}

function readList(attribute: Attribute, list: readonly unknown[], name: string): Complex[] | undefined {
  const values = limitedList(list, name).flatMap((one, index) => {
    const value = readComplex(attribute, one, `${name}[${index}]`);
    // A member who is left out would leave the group.
    if (name === 'members' && !value?.has('value'))
      throw scimError('invalidValue', `${name}[${index}] has no value: the id of a user.`);
    return value ?? [];
  });
  return values.length === 0 ? undefined : onePrimary(values);
}

/** The list. Throws tooMany. */
export function limitedList<Item>(list: readonly Item[], name: string): readonly Item[] {
  const most = name === 'members' ? MAX_MEMBERS : MAX_VALUES;
  if (list.length > most) throw scimError('tooMany', `${name} has more than ${most} values.`);
  return list;
}

/** The last value that is set as the first one is (RFC 7643 2.4). */
export function onePrimary(values: readonly Complex[]): Complex[] {
  const last = values.findLast((one) => one.get('primary') === true);
  return values.map((one) =>
    one === last || one.get('primary') !== true ? one : new Map([...one, ['primary', false] as const]),
  );
}

function readComplex(attribute: Attribute, raw: unknown, name: string): Complex | undefined {
  if (raw === null || raw === undefined || raw === '') return undefined;
  const value = attribute.subAttributes.get('value');
  if (typeof raw !== 'object' && value) return new Map([['value', readSimple(value, raw, name)]]);
  if (typeof raw !== 'object' || Array.isArray(raw)) throw scimError('invalidValue', `${name} is an object.`);
  const parts: Values = new Map();
  for (const [key, part] of Object.entries(raw)) {
    const sub = attribute.subAttributes.get(key.toLowerCase());
    const read = sub && readValue(sub, part, `${name}.${sub.name}`);
    if (sub && read !== undefined) parts.set(sub.name, read);
  }
  return parts.size === 0 ? undefined : parts;
}

function readSimple({ type, name: own }: Attribute, raw: unknown, name: string): string | boolean {
  if (type === 'boolean') {
    // Entra sends "True" and "False".
    const text = String(raw).toLowerCase();
    if (typeof raw === 'object' || !['true', 'false'].includes(text))
      throw scimError('invalidValue', `${name} is true or false.`);
    return text === 'true';
  }
  if (typeof raw !== 'string' && typeof raw !== 'number') throw scimError('invalidValue', `${name} is a text.`);
  const text = String(raw);
  const most = own === 'externalId' ? MAX_ID : MAX_TEXT;
  if (text.length > most) throw scimError('invalidValue', `${name} is longer than ${most} characters.`);
  return text;
}

/** As a JSON object. */
export function toJson(values: Complex): Record<string, unknown> {
  return Object.fromEntries([...values].map(([name, value]) => [name, jsonOf(value)]));
}

function jsonOf(value: Value): unknown {
  if (typeof value === 'string' || typeof value === 'boolean') return value;
  return value instanceof Map ? toJson(value as Complex) : (value as readonly Complex[]).map(toJson);
}

/** The values of a row, which `toJson` wrote. */
export const valuesOf = ({ content }: { content: string }): Values => fromJson(JSON.parse(content) as object);

function fromJson(json: object): Values {
  return new Map(Object.entries(json).map(([name, value]) => [name, valueFrom(value)]));
}

/** A text of a resource; undefined where there is none. */
export function textAt(values: Complex, ...path: readonly string[]): string | undefined {
  const [name = '', ...rest] = path;
  const value = values.get(name);
  if (rest.length > 0) return value instanceof Map ? textAt(value as Complex, ...rest) : undefined;
  return typeof value === 'string' ? value : undefined;
}

function valueFrom(value: unknown): Value {
  if (Array.isArray(value)) return value.map((one: object) => fromJson(one));
  return typeof value === 'object' && value !== null ? fromJson(value) : (value as string | boolean);
}
