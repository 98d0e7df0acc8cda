// An endpoint of the admin API: one description, from which its route, its checks and its part of the OpenAPI document are
// made, so that they always agree.
import type { z } from 'zod';
import type { Context } from '../../base/http/context.ts';
import type { Tx } from '../../base/storage/database.ts';
import type { Text } from '../../base/texts/text.ts';
import type { Actor } from '../../core/audit/audit.ts';
import type { Need } from '../../people/rbac/rights.ts';
import type { Caller } from './caller.ts';

/** Where the paths of the endpoints begin. */
export const baseOf = ({ api }: { api?: 'owners' | undefined }): string =>
  api === 'owners' ? '/api/groups' : '/api/admin';

type Method = 'get' | 'post' | 'put' | 'patch' | 'delete';
/** Method and path, such as `GET /mail`. */
export type Request = `${Uppercase<Method>} ${string}`;

/** The parts of a request that begins with the path `base`. */
export function partsOf(request: Request, base = ''): { method: Method; path: string } {
  const [method, path] = request.split(' ');
  return { method: method?.toLowerCase() as Method, path: base + path };
}

export interface Call<Params, Query, Body> {
  params: Params;
  query: Query;
  body: Body;
  /** If-Match; '' where the endpoint changes no version. */
  version: string;
  /** Who acts, and from where, for the audit. */
  by: Actor;
  caller: Caller;
  ctx: Context;
  /** An idempotent endpoint calls it in its transaction with the answer, which a repeated request gets again. */
  record(answer: Answer<unknown>, tx: Tx): Promise<void>;
}

export interface Answer<Body> {
  body: Body;
  /** What the ETag is made of. */
  version?: unknown;
  /** Path of what was created, as `path` of the endpoint. */
  location?: string;
  /** Of an endpoint with `accepted`. */
  status?: 202;
}

/** An answer that is written piece by piece. */
export interface Streamed {
  stream: AsyncIterable<string>;
  type: string;
  /** Absent: not to be stored as a file. */
  fileName?: string;
}

interface Common {
  method: Method;
  /** Of the owners of groups, with the token of a user; absent: the admin API. */
  api?: 'owners';
  /** Below /api/admin or, for owners, /api/groups, with parameters as `{id}`. */
  path: string;
  operationId: string;
  tag: string;
  summary: string;
  description?: string;
  /** What a caller must all have. */
  needs: readonly Need[];
  /** `shows`: the answer has an ETag. `changes`: If-Match is required too (RFC 9110 13.1.1). */
  versioned?: 'shows' | 'changes';
  /** May be repeated with the same Idempotency-Key; it calls `record`. */
  idempotent?: true;
  /** 201 Created, 202 Accepted, 204 without a body; 200 otherwise. */
  status?: 200 | 201 | 202 | 204;
  /** What an answer 202 has: a job, which its Location shows. */
  accepted?: z.ZodType;
  /** A body that is not JSON: its media type. */
  accepts?: string;
  maxBodyBytes?: number;
  /** A list in the body that is checked piece by piece; of more than `max` rows a 413 has the advice. Its schema has no rule across rows. */
  longList?: { name: string; max: number; advice: Text };
  /** Media types of a streamed answer; the first is the default where the caller may choose (Accept, RFC 9110 12.5.1). */
  streams?: readonly string[];
  /** Statuses besides those that follow from the description, with their meaning. */
  rejects?: readonly (readonly [404 | 422, string])[];
}

/** What a schema makes of a part of a request. */
export type Output<S> = S extends z.ZodType ? z.output<S> : undefined;

export interface EndpointSpec<
  P extends z.ZodObject | undefined,
  Q extends z.ZodObject | undefined,
  B extends z.ZodType | undefined,
  R extends z.ZodType | undefined,
> extends Omit<Common, 'method' | 'path' | 'operationId'> {
  params?: P;
  query?: Q;
  body?: B;
  response?: R;
  handle(
    call: Call<Output<P>, Output<Q>, Output<B>>,
  ): Promise<R extends z.ZodType ? Answer<z.input<R>> | Streamed : Streamed | undefined>;
}

/** The same without its types, for lists of endpoints. */
export interface Endpoint extends Common {
  params?: z.ZodObject | undefined;
  query?: z.ZodObject | undefined;
  body?: z.ZodType | undefined;
  response?: z.ZodType | undefined;
  handle(call: Call<unknown, unknown, unknown>): Promise<Answer<unknown> | Streamed | undefined>;
}

/** Checks the types of a description against each other, and drops them. */
export function endpoint<
  P extends z.ZodObject | undefined = undefined,
  Q extends z.ZodObject | undefined = undefined,
  B extends z.ZodType | undefined = undefined,
  R extends z.ZodType | undefined = undefined,
>(operationId: string, request: Request, spec: EndpointSpec<P, Q, B, R>): Endpoint {
  // handle() is only called with what these very schemas have parsed.
  return { ...spec, operationId, ...partsOf(request) } as unknown as Endpoint;
}
