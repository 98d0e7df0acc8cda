import { z } from 'zod';
import type { Tx } from '../base/storage/database.ts';
import type { PageText } from '../base/texts/text.ts';
import type { FileEntry } from '../config-file/release.ts';
import type { Actor } from '../core/audit/audit.ts';
import type { Need } from '../people/rbac/rights.ts';
import { type Answer, type Call, type Endpoint, type Output, partsOf, type Request } from './api/endpoint.ts';
import type { OnCreated } from './api/idempotency.ts';
import { byId } from './api/parts.ts';

/** What the configuration file may declare, in the words of the notices about it. */
export type Declared = 'user' | 'role' | 'group' | 'connection' | 'api' | 'application' | 'settings' | 'sign-up-codes';

/**
 * A noun of administration, described once: what it is called, what it needs, how it is found and represented. Its endpoints (`endpointsOf`)
 * and its pages (`pagesOf` in noun-pages.ts) are made from it and call the same actions.
 */
export interface Resource<Item> {
  /** As in the operations `getRole` and `listRoles`. */
  names: readonly [one: string, many: string];
  tag: string;
  /** The path of the list below /api/admin. */
  api: string;
  /** The path of the list in the console. */
  home: string;
  /** What the list is called, where a page leads back to it. */
  title: PageText;
  nameOf(item: Item): string;
  /** How the configuration file declares one. Absent where no file does, and for sign-up codes, which have no page each. */
  declared?: {
    /** What the notice on the page of one calls it. */
    what: Declared;
    /** Its entry in the file, and whether the file declares it. */
    entryOf(item: Item): FileEntry & { source: string };
  };
  /** The parameter of the paths of one; `{ id }` by default. */
  params?: z.ZodObject;
  read: readonly Need[];
  write: readonly Need[];
  keyOf(item: Item): string;
  /** Throws not_found, also where the actor's permission to read does not cover it. */
  get(key: string, by: Actor): Promise<Item>;
  /** The same for the permission to change; absent: the two cover the same. */
  getForChange?(key: string, by: Actor): Promise<Item>;
  schema: z.ZodType;
  json(item: Item): object;
  /** What its ETag is made of (RFC 9110 8.8.3). Absent: a change names no version. */
  version?(item: Item): unknown;
}

interface Described {
  summary: string;
  description?: string;
}

/** The answer with one, and its version. */
export function answerOf<Item>({ json, version }: Resource<Item>, item: Item): Answer<object> {
  return { body: json(item), ...(version && { version: version(item) }) };
}

/** The answer to a creation. @param secret what no later answer has */
export function createdAnswerOf<Item>(noun: Resource<Item>, item: Item, secret: object = {}): Answer<object> {
  const { body, ...rest } = answerOf(noun, item);
  return { body: { ...body, ...secret }, ...rest, location: `${noun.api}/${encodeURIComponent(noun.keyOf(item))}` };
}

/** The endpoints of a noun, each by what is its own. */
export function endpointsOf<Item>(noun: Resource<Item>) {
  const { names, tag, api, params = byId, read, write, get, schema, version } = noun;
  const [one, many] = names;
  const [parameter = 'id'] = Object.keys(params.shape);
  const path = `${api}/{${parameter}}`;
  const keyIn = (call: Call<unknown, unknown, unknown>) => (call.params as Record<string, string>)[parameter] ?? '';
  const shows = version && ({ versioned: 'shows' } as const);
  const changes = version && ({ versioned: 'changes' } as const);

  /** What else is done with one, at a path below its own: a change, unless it says otherwise. */
  const action = <
    Params extends z.ZodObject = z.ZodObject,
    Query extends z.ZodObject | undefined = undefined,
    Body extends z.ZodType | undefined = undefined,
  >(
    operationId: string,
    request: Request,
    { run, ...description }: Action<Params, Query, Body>,
  ): Endpoint => ({
    tag,
    needs: write,
    params,
    ...description,
    operationId,
    ...partsOf(request, path),
    handle: (call) => run({ ...call, key: keyIn(call) } as unknown as Parameters<typeof run>[0]),
  });

  return {
    list: <Query extends z.ZodObject | undefined = undefined>({
      handle,
      ...described
    }: Described & {
      query?: Query;
      response: z.ZodType;
      handle(query: Query extends z.ZodType ? z.output<Query> : undefined, by: Actor): Promise<object>;
    }): Endpoint => ({
      ...described,
      method: 'get',
      path: api,
      operationId: `list${many}`,
      tag,
      needs: read,
      handle: async ({ query, by }) => ({ body: await handle(query as Parameters<typeof handle>[0], by) }),
    }),

    /**
     * `answer`: what is answered, where it is not the noun alone; `response` is its schema. With `tx`, it is the answer that is stored for
     * a repeated request, in the transaction of the creation.
     */
    create: <Body extends z.ZodType, Made = Item>({
      run,
      answer = (made) => createdAnswerOf(noun, made as unknown as Item),
      response = schema,
      ...described
    }: Described &
      Pick<Partial<Endpoint>, 'needs' | 'maxBodyBytes'> & {
        body: Body;
        response?: z.ZodType;
        run(body: z.output<Body>, by: Actor, onCreated: OnCreated<Made>): Promise<Made>;
        answer?(made: Made, tx?: Tx): Answer<object> | Promise<Answer<object>>;
      }): Endpoint => ({
      needs: write,
      ...described,
      method: 'post',
      path: api,
      operationId: `create${one}`,
      tag,
      response,
      status: 201,
      ...shows,
      idempotent: true,
      async handle({ body, by, record }) {
        const made = await run(body as z.output<Body>, by, async (one, tx) => record(await answer(one, tx), tx));
        return answer(made);
      },
    }),

    get: (described: Described): Endpoint => ({
      ...described,
      method: 'get',
      path,
      operationId: `get${one}`,
      tag,
      needs: read,
      params,
      response: schema,
      ...shows,
      handle: async (call) => answerOf(noun, await get(keyIn(call), call.by)),
    }),

    update: <Body extends z.ZodType>({
      run,
      response = schema,
      ...described
    }: Described &
      Pick<Partial<Endpoint>, 'maxBodyBytes'> & {
        body: Body;
        response?: z.ZodType;
        run(key: string, changes: z.output<Body>, by: Actor, version: string): Promise<Answer<object>>;
      }): Endpoint => ({
      ...described,
      method: 'patch',
      path,
      operationId: `update${one}`,
      tag,
      needs: write,
      params,
      response,
      ...changes,
      handle: (call) => run(keyIn(call), call.body as z.output<Body>, call.by, call.version),
    }),

    remove: ({
      verb = 'delete',
      run,
      ...described
    }: Described & { verb?: string; run(key: string, by: Actor, version: string): Promise<unknown> }): Endpoint => ({
      ...described,
      method: 'delete',
      path,
      operationId: `${verb}${one}`,
      tag,
      needs: write,
      params,
      ...changes,
      status: 204,
      handle: async (call) => void (await run(keyIn(call), call.by, call.version)),
    }),

    action,

    /** All of a kind that belong to one, at a path below its own: read as the noun is, unless it says otherwise. */
    items: <Item extends z.ZodType>(
      operationId: string,
      below: string,
      {
        item,
        run,
        ...description
      }: Described & {
        needs?: readonly Need[];
        item: Item;
        run(call: { key: string; by: Actor }): Promise<z.input<Item>[]>;
      },
    ): Endpoint =>
      action(operationId, `GET ${below}`, {
        needs: read,
        ...description,
        response: z.object({ items: z.array(item) }),
        run: async (call) => ({ body: { items: await run(call) } }),
      }),
  };
}

/** What describes the endpoints below the path of one. */
export type EndpointsBelow = Pick<ReturnType<typeof endpointsOf>, 'items' | 'action'>;

interface Action<Params extends z.ZodObject, Query extends z.ZodObject | undefined, Body extends z.ZodType | undefined>
  extends Described,
    Partial<Omit<Endpoint, 'summary' | 'description' | 'handle' | 'params' | 'query' | 'body'>> {
  /** Of the whole path. */
  params?: Params;
  query?: Query;
  body?: Body;
  run(call: Call<z.output<Params>, Output<Query>, Output<Body>> & { key: string }): ReturnType<Endpoint['handle']>;
}
