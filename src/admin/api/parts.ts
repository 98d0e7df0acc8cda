// Schemas and small helpers that the nouns of the API share.

import { z } from 'zod';
import { fullName } from '../../base/http/pages/tokens.ts';
import { limits } from '../../base/limits.ts';
import type { DomainProof } from '../../base/network/domains.ts';
import { defined } from '../../base/platform/defined.ts';
import { fromValueCursor, toValueCursor } from '../../base/storage/cursors.ts';
import { isStorable, isStorableTime } from '../../base/storage/storable-text.ts';
import { rule } from '../../base/texts/faults.ts';
import { Text } from '../../base/texts/text.ts';

/** A time as the API writes it. */
export const time = z.iso.datetime();

/** A time as a caller writes it (RFC 3339), in the years that the databases have; a Date. */
export const givenTime = z.iso
  .datetime({ offset: true, abort: true })
  .refine((text) => isStorableTime(new Date(text)), rule('since-year-one'))
  .transform((text) => new Date(text));

export const id = z.string().min(1).max(64);
export const byId = z.object({ id });

/** Text of a query. NUL, which cannot be stored, was rejected when the query was read. */
export const text = z.string().min(1).max(200);

/** The query of every list. */
export const paged = {
  limit: z.coerce
    .number()
    .int()
    .min(1)
    .max(limits.api.maxPageSize)
    .default(limits.api.pageSize)
    .describe(`How many, at most ${limits.api.maxPageSize}`),
  cursor: z.string().max(1000).refine(isCursor, rule('not-a-page')).optional().describe('`next` of the previous page'),
};

/** As the lists write it: a number, a time and an id, or (`toCursor`) the name of an entry in base64url. */
function isCursor(text: string): boolean {
  return /^\d{1,15}(\.[\w.~|-]{1,200})?$/.test(text) || placeIn(text) !== undefined;
}

const place = z
  .array(z.union([z.string().refine(isStorable), z.number()]))
  .refine((parts) => parts.some((part) => typeof part === 'string'));

const placeIn = (cursor: string | undefined) => place.safeParse(fromValueCursor(cursor)).data;

/** The cursor of the page after this name, for the API and the console; null after the last. */
export const toCursor = (name: string | undefined): string | null =>
  name === undefined ? null : toValueCursor([name]);

/** The name of such a cursor; that of another list begins at the first page. */
export function fromCursor(cursor: string | undefined): string | undefined {
  const [name, ...more] = placeIn(cursor) ?? [];
  return typeof name === 'string' && more.length === 0 ? name : undefined;
}

export const flag = z.enum(['true', 'false']).transform((value) => value === 'true');

/** A page of a list. */
export function pageOf<Item extends z.ZodType>(item: Item) {
  return z.object({
    items: z.array(item),
    next: z.string().nullable().describe('The cursor of the next page; null on the last one'),
  });
}

/** Who has, does or gets what an answer is about. */
export const personFields = {
  user: z.string().describe('Id of the account'),
  username: z.string(),
  name: z.string().nullable().describe('As pages display it: without a `name`, the given and family name'),
};

export const personJson = (one: Parameters<typeof fullName>[0] & { id: string; username: string }) => ({
  user: one.id,
  username: one.username,
  name: fullName(one),
});

export const done = z.object({ done: z.literal(true) });

export function iso(date: Date): string;
export function iso(date: Date | null | undefined): string | null;
export function iso(date: Date | null | undefined): string | null {
  return date ? date.toISOString() : null;
}

type CamelCase<Name extends string> = Name extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<CamelCase<Tail>>}`
  : Name;

/** `given_name` -> `givenName` */
const camelCase = (name: string) => name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());

/**
 * An item as its schema has it: each field is the property of its name in camelCase, unless `own` gives it, and so are the fields of objects
 * in it. Times are in ISO 8601, texts in words, and a nullable field without a value is null. What the schema does not name is left out.
 */
export function jsonOf<Shape extends z.core.$ZodShape, const Own extends { [Name in keyof Shape]?: unknown }>(
  schema: z.ZodObject<Shape>,
  item: { readonly [Name in Exclude<keyof Shape & string, keyof Own> as CamelCase<Name>]: unknown },
  own: Own,
): z.output<z.ZodObject<Shape>> {
  return { ...(jsonValue(schema, item) as object), ...own } as z.output<z.ZodObject<Shape>>;
}

function jsonValue(schema: unknown, value: unknown): unknown {
  if (value instanceof Date) return iso(value);
  if (value instanceof Text) return String(value);
  if (schema instanceof z.ZodNullable) return jsonValue(schema.unwrap(), value) ?? null;
  if (schema instanceof z.ZodArray && Array.isArray(value)) return value.map((one) => jsonValue(schema.element, one));
  if (!(schema instanceof z.ZodObject) || typeof value !== 'object' || value === null) return value;
  const values = value as Readonly<Record<string, unknown>>;
  const fields = Object.entries(schema.shape).map(([name, field]) => [name, jsonValue(field, values[camelCase(name)])]);
  return Object.fromEntries(fields);
}

/** The other way: the fields of a body that are given, by their names in camelCase. */
export function givenIn<Body extends object>(body: Body) {
  const fields = Object.entries(body).map(([name, value]) => [camelCase(name), value]);
  return defined(Object.fromEntries(fields) as { [Name in keyof Body & string as CamelCase<Name>]: Body[Name] });
}

/** The body of a change: an absent field stays as it is, and gets no default. */
export function changesOf<Shape extends Record<string, z.ZodType>>(shape: Shape) {
  const fields = Object.entries(shape).map(([name, field]) => {
    const schema = field instanceof z.ZodDefault ? (field.unwrap() as z.ZodType) : field;
    return [name, schema.optional()];
  });
  return z.strictObject(
    Object.fromEntries(fields) as {
      [Name in keyof Shape]: z.ZodOptional<Shape[Name] extends z.ZodDefault<infer Inner> ? Inner : Shape[Name]>;
    },
  );
}

/** The body of a PATCH: null empties a field, an absent field stays as it is. Defaults do not apply to a change. */
export function patchOf<Shape extends z.core.$ZodShape>(object: z.ZodObject<Shape>): z.ZodObject {
  const fields = Object.entries(object.shape).map(([name, one]) => {
    const schema = one as z.ZodType;
    const changed = inner(schema).nullable().optional();
    return [name, schema.description === undefined ? changed : changed.describe(schema.description)];
  });
  return z.strictObject(Object.fromEntries(fields) as Record<string, z.ZodType>);
}

function inner(schema: z.ZodType): z.ZodType {
  if (schema instanceof z.ZodDefault || schema instanceof z.ZodOptional || schema instanceof z.ZodNullable)
    return inner(schema.unwrap() as z.ZodType);
  return schema;
}

/** An email domain of a connection or a group. */
export const domainProof = z
  .object({
    domain: z.string(),
    record_name: z.string().describe('Where the TXT record is looked up'),
    record_value: z.string().describe('What it must be'),
    proven_at: time.nullable(),
    checked_at: time.nullable(),
  })
  .meta({ id: 'DomainProof' });
export const domainCheck = z.object({ result: z.enum(['proven', 'missing', 'unreachable']) });

export const domainProofJson = (proof: DomainProof) =>
  jsonOf(domainProof, proof, { record_name: proof.record.name, record_value: proof.record.value });
