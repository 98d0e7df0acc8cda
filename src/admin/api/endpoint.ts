// What an endpoint of the admin API is: one description from which the route, its checks and its part of the OpenAPI
// document are made, so that none of them says what the others do not.
import type { z } from 'zod';
import type { By } from '../../audit/audit.ts';
import type { Context } from '../../http/context.ts';
import type { OwnPermission } from '../../rbac/built-in.ts';
import type { Caller } from '../caller.ts';

export type Method = 'get' | 'post' | 'put' | 'patch' | 'delete';

export interface Call<Params, Query, Body> {
  params: Params;
  query: Query;
  body: Body;
  /** If-Match; present where the endpoint is a change of a version. */
  version: string;
  /** For the functions that are called: who does it, and from where. */
  by: By;
  caller: Caller;
  ctx: Context;
}

export interface Answer<Body> {
  body: Body;
  /** What the ETag is made of, where the answer shows a version. */
  version?: unknown;
  /** Path of what was created, below the API. */
  location?: string;
}

/** An answer that is written piece by piece, and the types that it may have. */
export interface Streamed {
  stream: AsyncIterable<string>;
  type: string;
  fileName: string;
}

interface Common {
  method: Method;
  /** Below /api/admin, with parameters as `{id}`. */
  path: string;
  operationId: string;
  tag: string;
  summary: string;
  description?: string;
  /** All of them. */
  needs: readonly OwnPermission[];
  /** Shows the version that it answers with, or changes the version that it is told. */
  versioned?: 'shows' | 'changes';
  /** May be sent again with the same Idempotency-Key. */
  idempotent?: true;
  /** 201 Created, 202 Accepted, 204 without a body; 200 otherwise. */
  status?: 200 | 201 | 202 | 204;
  /** A body that is not JSON: its media type. */
  accepts?: string;
  maxBodyBytes?: number;
  /** Media types of a streamed answer. */
  streams?: readonly string[];
}

type Output<S> = S extends z.ZodType ? z.output<S> : undefined;

export interface EndpointSpec<
  P extends z.ZodObject | undefined,
  Q extends z.ZodObject | undefined,
  B extends z.ZodType | undefined,
  R extends z.ZodType | undefined,
> extends Common {
  params?: P;
  query?: Q;
  body?: B;
  response?: R;
  handle(
    call: Call<Output<P>, Output<Q>, Output<B>>,
  ): Promise<R extends z.ZodType ? Answer<z.input<R>> : Streamed | undefined>;
}

/** The same without its types, for whoever goes through all of them. */
export interface Endpoint extends Common {
  params?: z.ZodObject | undefined;
  query?: z.ZodObject | undefined;
  body?: z.ZodType | undefined;
  response?: z.ZodType | undefined;
  handle(call: Call<unknown, unknown, unknown>): Promise<Answer<unknown> | Streamed | undefined>;
}

/** Checks that a description fits together, and forgets its types. */
export function endpoint<
  P extends z.ZodObject | undefined = undefined,
  Q extends z.ZodObject | undefined = undefined,
  B extends z.ZodType | undefined = undefined,
  R extends z.ZodType | undefined = undefined,
>(spec: EndpointSpec<P, Q, B, R>): Endpoint {
  // What handle() is called with was parsed by the schemas that its parameter types come from.
  return spec as unknown as Endpoint;
}
