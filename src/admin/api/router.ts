// The endpoints as routes, each in this order: authenticate the caller, check permissions, parse the request, look for an
// earlier response to the same Idempotency-Key, call the action. Errors are problem+json (src/base/http/error-handler.ts).
import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import Router from '@koa/router';
import { z } from 'zod';
import type { Context, Extras, Middleware, State } from '../../base/http/context.ts';
import { AppError, badRequest, invalidInput, preconditionFailed } from '../../base/http/errors.ts';
import { bodyLimit, parse, parseJson, parseQuery, readText } from '../../base/http/input.ts';
import type { Tx } from '../../base/storage/database.ts';
import { check, type Fault, textFault } from '../../base/texts/faults.ts';
import type { AdminServices } from '../admin-services.ts';
import { assertMay, type Caller, createCallers } from './caller.ts';
import { type Answer, baseOf, type Call, type Endpoint, type Streamed } from './endpoint.ts';
import { createIdempotency, type RecordResponse, type StoredResponse } from './idempotency.ts';
import { etagOf } from './versions.ts';

type LongList = NonNullable<Endpoint['longList']>;
type ReadCall = Omit<Call<unknown, unknown, unknown>, 'record'>;

/** A response that is a stream is not stored. */
const recordNothing = async () => {};
const MAX_FAULTS = 50;
/** Rows of a long list that are checked in one turn of the event loop. */
const ROWS = 500;
const KEY = /^[\x21-\x7e]{1,255}$/;
/** RFC 9110 13.1.1 and 8.8.3. */
const ENTITY_TAG = '(W/)?"[!#-~\\x80-\\xff]*"';
const IF_MATCH = new RegExp(`^(\\*|${ENTITY_TAG}([ \\t]*,[ \\t]*${ENTITY_TAG})*)$`);

/** One route for each endpoint. */
export function apiRouter(services: AdminServices, endpoints: readonly Endpoint[]): Router<State, Extras> {
  const callers = createCallers(services);
  const idempotency = createIdempotency(services);
  const router = new Router<State, Extras>();
  for (const endpoint of endpoints) {
    const path = `${baseOf(endpoint)}${endpoint.path}`.replaceAll(/\{(\w+)\}/g, ':$1');
    const limitBody: Middleware[] = endpoint.maxBodyBytes ? [bodyLimit(endpoint.maxBodyBytes)] : [];
    router[endpoint.method](path, ...limitBody, async (ctx) => {
      const caller = await (endpoint.api === 'owners' ? callers.identifyOwner(ctx) : callers.identify(ctx));
      assertMay(caller, endpoint.needs);
      ctx.state.sender = 'trusted';
      const call = await readCall(ctx, endpoint, caller, ctx.params);
      if (endpoint.streams)
        return sendStream(ctx, (await endpoint.handle({ ...call, record: recordNothing })) as Streamed);
      sendJson(ctx, await respond(ctx, endpoint, call, caller));
    });
  }
  return router;

  /** Calls the endpoint, or repeats an earlier response where it is idempotent. */
  async function respond(
    ctx: Context,
    endpoint: Endpoint,
    call: ReadCall,
    { id: caller }: Caller,
  ): Promise<StoredResponse> {
    const work = async (store?: RecordResponse): Promise<StoredResponse> => {
      const record = async (answer: Answer<unknown>, tx: Tx) => store?.(responseOf(endpoint, answer), tx);
      return responseOf(endpoint, (await endpoint.handle({ ...call, record })) as Answer<unknown> | undefined);
    };
    const { 'idempotency-key': key } = ctx.headers;
    if (!endpoint.idempotent || key === undefined) return work();
    if (typeof key !== 'string' || !KEY.test(key))
      throw badRequest('bad_request', { message: 'An Idempotency-Key is up to 255 visible characters.' });
    const requestHash = await hashOf(endpoint, ctx.path, call.body);
    const { response, isRepeated } = await idempotency.once({ caller, key, requestHash }, work);
    return isRepeated ? { ...response, headers: { ...response.headers, 'Idempotency-Replayed': 'true' } } : response;
  }
}

/** What makes two requests the same; a long list is read piece by piece. */
async function hashOf({ method, longList }: Endpoint, path: string, body: unknown): Promise<string> {
  const hash = createHash('sha256');
  const list = longList ? (body as Record<string, unknown[]>)[longList.name] : undefined;
  hash.update(JSON.stringify([method, path, list && longList ? { ...(body as object), [longList.name]: null } : body]));
  for (let at = 0; list && at < list.length; at += ROWS) {
    hash.update(JSON.stringify(list.slice(at, at + ROWS)));
    await nextTurn();
  }
  return hash.digest('base64url');
}

async function readCall(
  ctx: Context,
  { params, query, body, versioned, accepts, longList }: Endpoint,
  caller: Caller,
  pathParameters: Record<string, string>,
): Promise<ReadCall> {
  const version = versioned === 'changes' ? versionOf(ctx) : '';
  return {
    params: params && parse(params, pathParameters),
    query: query && parseQuery(ctx, query),
    body: body && (await readBody(ctx, { body, accepts, longList })),
    version,
    by: caller.by,
    caller,
    ctx,
  };
}

/** Undefined where the request has none, and needs none. */
async function readBody(
  ctx: Context,
  { body, accepts, longList }: Pick<Endpoint, 'accepts' | 'longList'> & { body: z.ZodType },
): Promise<unknown> {
  const isEmpty = !ctx.get('Content-Type') && !ctx.get('Transfer-Encoding') && (ctx.request.length ?? 0) === 0;
  if (isEmpty && body.safeParse(undefined).success) return undefined;
  if (accepts) return parseBody(body, await readText(ctx, accepts), longList);
  const value = await parseJson(ctx, z.unknown()).catch((error: unknown) => {
    throw longList && error instanceof AppError && error.code === 'body_too_large' ? tooLong(longList, error) : error;
  });
  return parseBody(body, value, longList);
}

/** 413 that names the list. @param error of a body with too many octets, which may have an advice of its own */
const tooLong = ({ name, advice }: LongList, error?: AppError): AppError =>
  new AppError('body_too_large', {
    advice: error?.advice ?? advice,
    headers: error?.headers,
    faults: [textFault([name], advice)],
  });

/** If-Match, well-formed. */
function versionOf(ctx: Context): string {
  const { 'if-match': version } = ctx.headers;
  if (version === undefined) throw preconditionFailed('precondition_required');
  if (IF_MATCH.test(version)) return version;
  throw badRequest('bad_request', { message: 'If-Match is *, or ETags in quotes as they were sent.' });
}

/** Throws invalid_input with the paths and messages that the configuration file uses for the same fields. */
async function parseBody(schema: z.ZodType, value: unknown, longList: LongList | undefined): Promise<unknown> {
  const rows = longList && (value as Record<string, unknown> | null)?.[longList.name];
  if (!longList || !Array.isArray(rows) || rows.length <= ROWS) return checked(schema, value);
  if (rows.length > longList.max) throw tooLong(longList);
  return parseLongList(schema, value as Record<string, unknown>, longList.name, rows);
}

/** The same piece by piece: the body is checked with some rows of its list at a time, and other requests have their turns between. */
async function parseLongList(
  schema: z.ZodType,
  body: Record<string, unknown>,
  list: string,
  rows: readonly unknown[],
): Promise<unknown> {
  const parsed: unknown[] = [];
  const faults: Fault[] = [];
  let beside = {};
  for (let start = 0; start < rows.length && faults.length < MAX_FAULTS; start += ROWS) {
    const result = check(schema, { ...body, [list]: rows.slice(start, start + ROWS) });
    if (result.ok) {
      const { [list]: piece = [], ...others } = result.value as Record<string, unknown[]>;
      parsed.push(...piece);
      beside = others;
    } else faults.push(...faultsOfPiece(result.faults, list, start));
    await nextTurn();
  }
  if (faults.length > 0) throw invalidInput(faults.slice(0, MAX_FAULTS));
  return { ...beside, [list]: parsed };
}

/** At the rows of the whole list. What is wrong beside the list is found again with each piece, and counts with the first. */
function faultsOfPiece(found: readonly Fault[], list: string, start: number): Fault[] {
  const own = found.filter(({ path }) => start === 0 || path[0] === list).slice(0, MAX_FAULTS);
  return own.map((one) => {
    const [first, row, ...rest] = one.path;
    return first === list && row !== undefined ? { ...one, path: [list, start + Number(row), ...rest] } : one;
  });
}

function checked(schema: z.ZodType, value: unknown): unknown {
  const result = check(schema, value);
  if (result.ok) return result.value;
  throw invalidInput(result.faults.slice(0, MAX_FAULTS));
}

function responseOf({ api, status = 200 }: Endpoint, answer: Answer<unknown> | undefined): StoredResponse {
  const headers: Record<string, string> = {};
  if (answer?.version !== undefined) headers.ETag = etagOf(answer.version);
  if (answer?.location !== undefined) headers.Location = `${baseOf({ api })}${answer.location}`;
  return { status: answer?.status ?? status, headers, body: status === 204 ? undefined : answer?.body };
}

function sendJson(ctx: Context, { status, headers, body }: StoredResponse): void {
  ctx.status = status;
  ctx.set('Cache-Control', 'no-store');
  ctx.set(headers);
  if (body === undefined) return;
  ctx.body = JSON.stringify(body);
  ctx.type = 'application/json; charset=utf-8';
}

export function sendStream(ctx: Context, { stream, type, fileName }: Streamed): void {
  ctx.status = 200;
  ctx.set('Cache-Control', 'no-store');
  if (fileName !== undefined) ctx.set('Content-Disposition', `attachment; filename="${fileName}"`);
  ctx.type = type;
  ctx.body = Readable.from(stream);
}
