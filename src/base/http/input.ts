// Parses and validates request input. Accepts only the expected content type, UTF-8, a limited size, each parameter once
// and storable characters; then applies the zod schema of the route. Anything else is a 400, 413 or 415.

import { isUtf8 } from 'node:buffer';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { output, ZodType } from 'zod';
import { limits } from '../limits.ts';
import { isStorable } from '../storage/storable-text.ts';
import { check, fault } from '../texts/faults.ts';
import { t } from '../texts/text.ts';
import { readBody, readBytes } from './body.ts';
import type { Context, Middleware } from './context.ts';
import { badRequest, invalidInput, unsupportedMediaType } from './errors.ts';

export type Fields = Record<string, string | string[]>;

export interface FieldOptions {
  /** Fields that may be repeated, such as a group of check boxes; their values are always arrays. */
  lists?: readonly string[] | 'every field';
}

type Pair = readonly [name: string, value: string];

const MAX_FIELDS = 200;
/** Of a form with a larger body, whose lists have a field for each entry. */
const MAX_FIELDS_OF_LONG_FORMS = 2000;
const MAX_FAULTS = 20;
const MAX_DEPTH = 32;
/** Values of a JSON body that are looked at in one turn of the event loop. */
const VALUES = 2000;
const FORM = 'application/x-www-form-urlencoded';
const UPLOAD = 'multipart/form-data';

/** What is known of the body of a request. It is read once, for the CSRF check and for the route. */
interface RequestBody {
  /** Instead of the usual limit. */
  maxBytes?: number;
  /** Accepts a form with files: what becomes the value of their fields. */
  files?: 'text' | 'data URLs';
  text?: Promise<string>;
  /** The fields of a form with files. */
  upload?: Promise<Pair[]>;
  /** The fields of a form that was sent before, instead of the body. */
  resumed?: Pair[];
}
const requestBodies = new WeakMap<object, RequestBody>();

function requestBodyOf(ctx: Context): RequestBody {
  const body = requestBodies.get(ctx.req) ?? {};
  requestBodies.set(ctx.req, body);
  return body;
}

function expecting(expected: RequestBody): Middleware {
  return (ctx, next) => {
    Object.assign(requestBodyOf(ctx), expected);
    return next();
  };
}

/** Route middleware, before the CSRF check: replaces the usual body limit, and allows more fields. */
export const bodyLimit = (maxBytes: number): Middleware => expecting({ maxBytes });

/** The same for a form with text files; the content of a file becomes the field's value. */
export const acceptUploads = (maxBytes: number): Middleware => expecting({ maxBytes, files: 'text' });

/** The same with files that are no text: the field's value is a data URL, and empty where no file was chosen. */
export const acceptPictures = (maxBytes: number): Middleware => expecting({ maxBytes, files: 'data URLs' });

/** Returns the query, validated by `schema`; throws 400. */
export function parseQuery<Schema extends ZodType>(ctx: Context, schema: Schema, options?: FieldOptions) {
  return parse(schema, grouped(readPairs(ctx.querystring, 'malformed_url'), options));
}

/** Returns the form body, validated by `schema`; throws 400. Can be called several times for one request. */
export async function parseForm<Schema extends ZodType>(ctx: Context, schema: Schema, options?: FieldOptions) {
  return parse(schema, await readForm(ctx, options));
}

/** Returns the JSON body, validated by `schema`; throws 400, 413 or 415. */
export async function parseJson<Schema extends ZodType>(ctx: Context, schema: Schema): Promise<output<Schema>> {
  if (!ctx.is('application/json', '+json')) throw unsupportedMediaType('application/json in UTF-8');
  const text = await bodyOf(ctx, limits.http.jsonBytes);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw badRequest('malformed_body', { message: 'The body isn’t valid JSON.', cause });
  }
  await rejectUnstorable(value);
  return parse(schema, value);
}

/** Returns the text body if it has this media type; throws 400, 413 or 415. */
export async function readText(ctx: Context, type: string): Promise<string> {
  if (!ctx.is(type)) throw unsupportedMediaType(`${type} in UTF-8`);
  const text = await bodyOf(ctx, limits.http.jsonBytes);
  if (!isStorable(text)) throw badRequest('malformed_body');
  return text;
}

/** Returns the fields of a form body without a schema. A request without a body is an empty form. */
export async function readForm(ctx: Context, options?: FieldOptions): Promise<Fields> {
  const body = requestBodyOf(ctx);
  if (body.resumed) return grouped(body.resumed, options);
  const type = ctx.get('Content-Type');
  const isEmpty = !type && !ctx.get('Transfer-Encoding') && Number(ctx.get('Content-Length') || 0) === 0;
  if (isEmpty) return {};
  if (body.files && ctx.is(UPLOAD)) {
    body.upload ??= readUpload(ctx, body);
    return grouped(await body.upload, options);
  }
  if (!ctx.is(FORM)) throw unsupportedMediaType(`${FORM} in UTF-8`);
  const maxFields = body.maxBytes === undefined ? MAX_FIELDS : MAX_FIELDS_OF_LONG_FORMS;
  return grouped(readPairs(await bodyOf(ctx, limits.http.formBytes), 'malformed_body', maxFields), options);
}

/** From here on the request has the fields of a form that was sent before and waited (base/http/stored-pages.ts). */
export function resumeForm(ctx: Context, fields: Fields): void {
  requestBodyOf(ctx).resumed = Object.entries(fields).flatMap(([name, values]) =>
    [values].flat().map((value): Pair => [name, value]),
  );
}

/** Reads multipart/form-data (RFC 7578) with Node's own parser. */
async function readUpload(ctx: Context, { maxBytes = limits.http.formBytes, files }: RequestBody): Promise<Pair[]> {
  const isText = files === 'text';
  const body = await readBytes(ctx.req, maxBytes);
  if (isText && !isUtf8(body)) throw badRequest('malformed_body', { message: t('error.not-utf-8') });
  const headers = { 'content-type': ctx.get('Content-Type') };
  const form = await new Response(body, { headers }).formData().catch((cause: unknown) => {
    throw badRequest('malformed_body', { cause });
  });
  const pairs: Pair[] = [];
  for (const [name, value] of form) {
    const text = typeof value === 'string' ? value : await (isText ? value.text() : dataUrlOf(value));
    if (!isStorable(name) || !isStorable(text)) throw badRequest('malformed_body');
    pairs.push([name, text]);
  }
  return pairs;
}

/** Validates a value; errors become one 400 that names the fields. */
export function parse<Schema extends ZodType>(schema: Schema, value: unknown): output<Schema> {
  const checked = check(schema, value);
  if (checked.ok) return checked.value;
  throw invalidInput(checked.faults.slice(0, MAX_FAULTS));
}

async function dataUrlOf(file: File): Promise<string> {
  if (file.size === 0) return '';
  return `data:;base64,${Buffer.from(await file.arrayBuffer()).toString('base64')}`;
}

function bodyOf(ctx: Context, usualBytes: number): Promise<string> {
  const body = requestBodyOf(ctx);
  body.text ??= readBody(ctx.req, body.maxBytes ?? usualBytes);
  return body.text;
}

function readPairs(text: string, code: 'malformed_url' | 'malformed_body', maxFields = MAX_FIELDS): Pair[] {
  const pairs = text.split('&').filter((pair) => pair !== '');
  if (pairs.length > maxFields) throw badRequest(code, { message: t('error.too-many-parameters') });
  return pairs.map((pair) => {
    const equals = pair.indexOf('=');
    const name = decode(equals < 0 ? pair : pair.slice(0, equals), code);
    return [name, equals < 0 ? '' : decode(pair.slice(equals + 1), code)];
  });
}

/** Pairs as fields; throws repeated_parameter for a name that is sent more than once and is no list. */
function grouped(pairs: readonly Pair[], { lists = [] }: FieldOptions = {}): Fields {
  const fields = new Map<string, string | string[]>();
  for (const [name, value] of pairs) {
    const before = fields.get(name);
    if (lists === 'every field' || lists.includes(name)) fields.set(name, [...(before ?? []), value]);
    else if (before === undefined) fields.set(name, value);
    // Two parsers of one request must not see different values (RFC 6749 section 3.1).
    else throw repeated(name);
  }
  return Object.fromEntries(fields);
}

function repeated(name: string) {
  return badRequest('repeated_parameter', { faults: [fault([name.slice(0, 64)], 'repeated')] });
}

function decode(text: string, code: 'malformed_url' | 'malformed_body'): string {
  try {
    const decoded = decodeURIComponent(text.replaceAll('+', ' '));
    if (isStorable(decoded)) return decoded;
  } catch {
    // Falls through to the same error.
  }
  throw badRequest(code);
}

/** Schemas of objects with free keys leave `__proto__` out without a word. */
function unknownKey(path: string[]) {
  return invalidInput([fault(path, 'unknown-key', { advice: 'none', known: '' })]);
}

async function rejectUnstorable(root: unknown): Promise<void> {
  // A work list instead of recursion: the client chooses the depth.
  const work: { value: unknown; path: string[] }[] = [{ value: root, path: [] }];
  let seen = 0;
  for (let item = work.pop(); item; item = work.pop()) {
    const { value, path } = item;
    seen += 1;
    if (seen % VALUES === 0) await nextTurn();
    if (typeof value === 'string' && !isStorable(value)) throw badRequest('malformed_body');
    if (typeof value !== 'object' || value === null) continue;
    if (path.length >= MAX_DEPTH) throw badRequest('malformed_body', { message: 'The JSON is nested too deeply.' });
    for (const [key, child] of Object.entries(value)) {
      if (!isStorable(key)) throw badRequest('malformed_body');
      if (key === '__proto__') throw unknownKey([...path, key]);
      work.push({ value: child, path: [...path, key] });
    }
  }
}
