// The edge: what came in becomes typed values, or the request ends here. Only the expected content type, UTF-8, at most
// so many bytes, each parameter once, no characters that storage cannot hold; then the zod schema of the route.
import type { output, ZodType } from 'zod';
import { limits } from '../limits.ts';
import { faultsOf, sentence } from '../platform/faults.ts';
import { isStorable } from '../platform/storable.ts';
import { readBody } from './body.ts';
import type { Context, Middleware } from './context.ts';
import { badRequest, type FieldFault, unsupportedMediaType } from './errors.ts';

export type Fields = Record<string, string | string[]>;

export interface FieldOptions {
  /** Fields that may come more than once, such as a group of check boxes; always arrays then. */
  lists?: readonly string[];
}

const MAX_FIELDS = 200;
const MAX_FAULTS = 20;
const MAX_DEPTH = 32;
const FORM = 'application/x-www-form-urlencoded';
const UPLOAD = 'multipart/form-data';

const bodies = new WeakMap<object, Promise<string>>();
const byteLimits = new WeakMap<object, number>();
const uploads = new WeakMap<object, Promise<Fields> | undefined>();

/** Route middleware, in front of the CSRF check: another body limit than the usual one. */
export function bodyLimit(maxBytes: number): Middleware {
  return (ctx, next) => {
    byteLimits.set(ctx.req, maxBytes);
    return next();
  };
}

/** Route middleware, in front of the CSRF check: a form with files of text, whose content becomes the value of the field. */
export function acceptUploads(maxBytes: number): Middleware {
  const limited = bodyLimit(maxBytes);
  return (ctx, next) => {
    uploads.set(ctx.req, undefined);
    return limited(ctx, next);
  };
}

/** The query, checked by `schema`. */
export function parseQuery<Schema extends ZodType>(ctx: Context, schema: Schema, options?: FieldOptions) {
  return parse(schema, readPairs(ctx.querystring, 'malformed_url', options));
}

/** A form body, checked by `schema`; it may be asked for several times. */
export async function parseForm<Schema extends ZodType>(ctx: Context, schema: Schema, options?: FieldOptions) {
  return parse(schema, await readForm(ctx, options));
}

/** A JSON body, checked by `schema`. */
export async function parseJson<Schema extends ZodType>(ctx: Context, schema: Schema): Promise<output<Schema>> {
  if (!ctx.is('application/json', '+json')) throw unsupportedMediaType('application/json in UTF-8');
  const text = await bodyOf(ctx, limits.http.jsonBytes);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw badRequest('malformed_body', { message: 'The body is not valid JSON.', cause });
  }
  refuseUnstorable(value);
  return parse(schema, value);
}

/** A body of text of this media type. */
export async function readText(ctx: Context, type: string): Promise<string> {
  if (!ctx.is(type)) throw unsupportedMediaType(`${type} in UTF-8`);
  const text = await bodyOf(ctx, limits.http.jsonBytes);
  if (!isStorable(text)) throw badRequest('malformed_body');
  return text;
}

/** The fields of a form body as they are, for callers without a schema. No body at all is an empty form. */
export async function readForm(ctx: Context, options?: FieldOptions): Promise<Fields> {
  const type = ctx.get('Content-Type');
  const isEmpty = !type && !ctx.get('Transfer-Encoding') && Number(ctx.get('Content-Length') || 0) === 0;
  if (isEmpty) return {};
  if (uploads.has(ctx.req) && ctx.is(UPLOAD)) {
    const fields = uploads.get(ctx.req) ?? readUpload(ctx);
    uploads.set(ctx.req, fields);
    return fields;
  }
  if (!ctx.is(FORM)) throw unsupportedMediaType(`${FORM} in UTF-8`);
  return readPairs(await bodyOf(ctx, limits.http.formBytes), 'malformed_body', options);
}

/** A form of RFC 7578, by the parser that Node has for fetch. */
async function readUpload(ctx: Context): Promise<Fields> {
  const body = await bodyOf(ctx, limits.http.formBytes);
  const headers = { 'content-type': ctx.get('Content-Type') };
  const form = await new Response(body, { headers }).formData().catch((cause: unknown) => {
    throw badRequest('malformed_body', { cause });
  });
  const fields: Fields = Object.create(null);
  for (const [name, value] of form) {
    const text = typeof value === 'string' ? value : await value.text();
    if (!isStorable(name) || !isStorable(text)) throw badRequest('malformed_body');
    if (name in fields) throw repeated(name);
    fields[name] = text;
  }
  return fields;
}

/** Checks any value; faults become one 400 that names the fields. */
export function parse<Schema extends ZodType>(schema: Schema, value: unknown): output<Schema> {
  const result = schema.safeParse(value, { error: sentence });
  if (result.success) return result.data;
  const fields: FieldFault[] = result.error.issues
    .flatMap(faultsOf)
    .slice(0, MAX_FAULTS)
    .map(({ path, message }) => ({ field: path.join('.'), message }));
  throw badRequest('invalid_input', { fields, detail: fields });
}

function bodyOf(ctx: Context, usualBytes: number): Promise<string> {
  // Read once and kept: the CSRF check and the handler both look at it.
  const body = bodies.get(ctx.req) ?? readBody(ctx.req, byteLimits.get(ctx.req) ?? usualBytes);
  bodies.set(ctx.req, body);
  return body;
}

function readPairs(text: string, fault: 'malformed_url' | 'malformed_body', options: FieldOptions = {}): Fields {
  const lists = new Set(options.lists);
  const fields = new Map<string, string | string[]>();
  const pairs = text.split('&').filter((pair) => pair !== '');
  if (pairs.length > MAX_FIELDS) throw badRequest(fault, { message: 'There are too many parameters.' });
  for (const pair of pairs) {
    const equals = pair.indexOf('=');
    const name = decode(equals < 0 ? pair : pair.slice(0, equals), fault);
    const value = equals < 0 ? '' : decode(pair.slice(equals + 1), fault);
    const before = fields.get(name);
    if (lists.has(name)) fields.set(name, [...(before ?? []), value]);
    else if (before === undefined) fields.set(name, value);
    // Two readers of one request must not see two values (RFC 6749 3.1 says the same).
    else throw repeated(name);
  }
  return Object.fromEntries(fields);
}

function repeated(name: string) {
  return badRequest('repeated_parameter', { fields: [{ field: name.slice(0, 64), message: 'sent more than once' }] });
}

function decode(text: string, fault: 'malformed_url' | 'malformed_body'): string {
  try {
    const decoded = decodeURIComponent(text.replaceAll('+', ' '));
    if (isStorable(decoded)) return decoded;
  } catch {
    // Falls through to the same refusal.
  }
  throw badRequest(fault);
}

function refuseUnstorable(root: unknown): void {
  // A list of work, not recursion: depth is the client's choice.
  const work: { value: unknown; depth: number }[] = [{ value: root, depth: 0 }];
  for (let item = work.pop(); item; item = work.pop()) {
    const { value, depth } = item;
    if (typeof value === 'string' && !isStorable(value)) throw badRequest('malformed_body');
    if (typeof value !== 'object' || value === null) continue;
    if (depth >= MAX_DEPTH) throw badRequest('malformed_body', { message: 'The JSON is nested too deeply.' });
    for (const [key, child] of Object.entries(value)) {
      if (!isStorable(key)) throw badRequest('malformed_body');
      work.push({ value: child, depth: depth + 1 });
    }
  }
}
