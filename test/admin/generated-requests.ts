// Generators of requests from the OpenAPI document, for fast-check.
import type { Arbitrary } from 'fast-check';
import fc from '../support/property.ts';
import type { OpenApi, Operation } from './described.ts';

/** `valid`: as the document says. `broken`: one thing is not. */
export type Kind = 'valid' | 'broken';

export interface Generated {
  target: string;
  headers: Record<string, string>;
  body: unknown;
}

interface Schema {
  $ref?: string;
  type?: string | string[];
  const?: unknown;
  enum?: unknown[];
  anyOf?: Schema[];
  oneOf?: Schema[];
  allOf?: Schema[];
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: boolean | Schema;
  items?: Schema;
  minItems?: number;
  maxItems?: number;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  pattern?: string;
  format?: string;
}

/** Of no type that any field has. */
const WRONG: Arbitrary<unknown> = fc.constantFrom<unknown[]>([[[]]], { 'no such field': 1 }, -1.5, '\u0001');

/** The path and query, with parameters filled in; a broken one has a wrong query. */
export function targetOf(path: string, { parameters }: Operation, document: OpenApi, kind: Kind): Arbitrary<string> {
  const values = Object.fromEntries(
    parameters
      .filter((one) => one.in !== 'header')
      .map(({ name, schema = {}, in: place, required }) => {
        const value = fromSchema(schema as Schema, document).map(String);
        return [name, place === 'path' || required ? value : fc.option(value, { nil: undefined })];
      }),
  );
  const queried = parameters.filter((one) => one.in === 'query').map(({ name }) => name);
  return fc.record(values).map((filled) => {
    const resolved = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(filled[name] ?? ''));
    const query = new URLSearchParams(
      queried.flatMap((name) => (filled[name] === undefined ? [] : [[name, filled[name]]])),
    );
    if (kind === 'broken' && query.has('limit')) query.set('limit', '-1');
    else if (kind === 'broken' && queried.includes('limit')) query.append('limit', 'many');
    const text = query.toString();
    return `${resolved.replace('/api/admin', '')}${text && `?${text}`}`;
  });
}

/** The headers; a broken request lacks them. */
export function headersOf(operation: Operation, document: OpenApi, kind: Kind): Arbitrary<Record<string, string>> {
  const named = operation.parameters.filter((one) => one.in === 'header' && kind === 'valid');
  const values = Object.fromEntries(
    named.map(({ name, schema = {} }) => [name, fromSchema(schema as Schema, document)]),
  );
  const type = Object.keys(operation.requestBody?.content ?? {}).find((one) => one !== 'application/json');
  const headers = fc.record(values) as Arbitrary<Record<string, string>>;
  return headers.map((all) => (type === undefined ? all : { ...all, 'content-type': type }));
}

/** The body; undefined where the operation has none. One field of a broken body is wrong. */
export function bodyOf({ requestBody }: Operation, document: OpenApi, kind: Kind): Arbitrary<unknown> {
  const [[type = '', content] = []] = Object.entries(requestBody?.content ?? {});
  if (!content) return fc.constant(undefined);
  if (type !== 'application/json') return fc.constantFrom(kind === 'valid' ? '{}' : 'no mapping');
  const whole = fromSchema(content.schema as Schema, document);
  if (kind === 'valid') return whole;
  return fc.tuple(whole, WRONG, fc.nat()).map(([value, wrong, at]) => {
    const fields = Object.keys(Object(value));
    const field = fields[at % Math.max(1, fields.length)] ?? 'no such field';
    return { ...Object(value), [field]: wrong };
  });
}

/** Values that a schema of the document allows. */
function fromSchema(schema: Schema, document: OpenApi, depth = 0): Arbitrary<unknown> {
  if (schema.$ref !== undefined) {
    const name = schema.$ref.split('/').at(-1) ?? '';
    return depth > 4
      ? fc.constant(null)
      : fromSchema((document.components.schemas[name] ?? {}) as Schema, document, depth + 1);
  }
  if (schema.const !== undefined) return fc.constant(schema.const);
  if (schema.enum) return fc.constantFrom(...schema.enum);
  const parts = schema.properties ? undefined : (schema.anyOf ?? schema.oneOf);
  if (parts) return fc.oneof(...parts.map((part) => fromSchema(part, document, depth)));
  const [type] = [schema.type ?? (schema.properties ? 'object' : 'null')].flat();
  switch (type) {
    case 'string':
      return textFrom(schema);
    case 'boolean':
      return fc.boolean();
    case 'integer':
    case 'number':
      return fc.integer({
        min: Math.max(schema.minimum ?? 0, -(2 ** 31)),
        max: Math.min(schema.maximum ?? 1000, 2 ** 31 - 1),
      });
    case 'array': {
      const { minItems = 0, maxItems = 2 } = schema;
      const items = fromSchema(schema.items ?? {}, document, depth + 1);
      return fc.uniqueArray(items, {
        minLength: minItems,
        maxLength: Math.max(minItems, Math.min(maxItems, 2)),
        comparator: 'SameValueZero',
      });
    }
    case 'object': {
      const entries = Object.entries(schema.properties ?? {});
      const fields = Object.fromEntries(entries.map(([name, field]) => [name, fromSchema(field, document, depth + 1)]));
      return fc.record(fields, { requiredKeys: schema.required ?? [] });
    }
    default:
      return fc.constant(null);
  }
}

function textFrom({ pattern, format, minLength = 0, maxLength = 200 }: Schema): Arbitrary<string> {
  if (format === 'date-time')
    return fc.date({ min: new Date(0), max: new Date(4e12), noInvalidDate: true }).map((at) => at.toISOString());
  const length = { minLength, maxLength: Math.min(maxLength, Math.max(minLength, 60)) };
  if (pattern === undefined) return fc.string({ ...length, unit: 'grapheme' });
  // A string from a pattern has no length that can be chosen; a filter would search for long ones without end.
  if (minLength > 3 && new RegExp(pattern).test('a'.repeat(minLength))) return fc.constant('a'.repeat(minLength));
  const matching = fc.stringMatching(new RegExp(pattern), { size: 'xsmall' });
  return matching.map((text) =>
    text.length < minLength || text.length > maxLength ? 'a:a'.slice(0, maxLength) : text,
  );
}
