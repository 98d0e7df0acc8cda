// /scim/v2: the SCIM 2.0 server (RFC 7643, RFC 7644, RFC 9865). The token decides the connection.
import Router from '@koa/router';
import { z } from 'zod';
import { bearerOf } from '../../base/http/authorization-header.ts';
import type { Context, Extras, Middleware, State } from '../../base/http/context.ts';
import { logError, toAppError } from '../../base/http/error-handler.ts';
import { AppError, methodNotAllowed, notFound, tooManyRequests, unauthorized } from '../../base/http/errors.ts';
import { bodyLimit, parse, parseJson, parseQuery } from '../../base/http/input.ts';
import { limits } from '../../base/limits.ts';
import { defined } from '../../base/platform/defined.ts';
import { sha256 } from '../../base/platform/random.ts';
import { inTurns } from '../../base/platform/turns.ts';
import type { Core } from '../../core/core.ts';
import { type RuleId, ruleResults } from '../../core/rejections/rules.ts';
import { looksLikeKey } from '../../people/api-keys/api-keys.ts';
import type { People } from '../../people/people.ts';
import { SCIM_SCOPE, scimApi } from '../../people/rbac/built-in.ts';
import type { EndSession } from '../logout/end-session.ts';
import type { ApiTokens } from '../oidc/store/api-access-tokens.ts';
import type { ScimConnections } from './connections.ts';
import { errorJson, scimError, scimTypeOf } from './errors.ts';
import { type Complex, type Filter, listOf, type Path, parseFilter, parsePath } from './filter.ts';
import { createScimGroups } from './groups.ts';
import type { Place } from './pages.ts';
import { isObject, patchBody, stepsOf } from './patch.ts';
import { type Resource, toJson } from './resource-values.ts';
import { GROUP, groupType, LIST_RESPONSE, type ResourceType, schemaJson, schemas, userType } from './schemas.ts';
import { createScimUsers, type ScimRequest, schemasOf } from './users.ts';

const BASE = '/scim/v2';
const TYPE = 'application/scim+json';
/** What no other route has. */
const REST = '{/*rest}';
const NO_ADDRESS = `Below ${BASE} are /Users, /Groups, /Schemas, /ResourceTypes and /ServiceProviderConfig.`;

/** A query of a list, or the body of `.search`, which has the same names (RFC 7644 3.4.3). */
const listQuery = z.object({
  filter: z.string().optional(),
  startIndex: z.coerce.number().int().max(Number.MAX_SAFE_INTEGER).optional(),
  count: z.coerce.number().int().max(Number.MAX_SAFE_INTEGER).optional(),
  cursor: z.string().max(500).optional(),
  sortBy: z.string().optional(),
  attributes: z.union([z.string().max(4000), z.array(z.string().max(300)).max(200)]).optional(),
  excludedAttributes: z.union([z.string().max(4000), z.array(z.string().max(300)).max(200)]).optional(),
});
type ListQuery = z.output<typeof listQuery>;

const body = z.record(z.string(), z.unknown());

/** A request whose token was checked, with its body as far as it was read: for the record of a rejection. */
interface Call {
  request: ScimRequest;
  body?: unknown;
}

export function createScim(
  services: Core & People & { endSession: EndSession; scimConnections: ScimConnections; tokens: ApiTokens },
) {
  const { config, rateLimits, scimConnections, tokens } = services;
  const users = createScimUsers(services);
  const groups = createScimGroups({ ...services, users });
  const base = `${config.issuer}${BASE}`;
  const calls = new WeakMap<Context, Call>();

  /** The connection of the caller. Throws 401, and 429 after too many calls. */
  async function identify(ctx: Context): Promise<ScimRequest> {
    const { request } = ctx.state;
    const network = { address: request.address };
    const failures = await rateLimits.peek('api:address', network);
    if (!failures.allowed) throw tooManyRequests(failures.retryAfterSeconds);
    const bearer = bearerOf(ctx);
    const connection = bearer === undefined ? undefined : await connectionOf(bearer);
    if (!connection) {
      await rateLimits.consume('api:address', network);
      const headers = {
        'WWW-Authenticate': `Bearer realm="${base}"${bearer === undefined ? '' : ', error="invalid_token"'}`,
      };
      throw unauthorized(bearer === undefined ? 'unauthenticated' : 'invalid_token', { headers });
    }
    const { allowed, retryAfterSeconds } = await rateLimits.consume('scim:connection', connection.id);
    if (!allowed) throw tooManyRequests(retryAfterSeconds, { message: 'There were too many calls.' });
    ctx.state.sender = 'trusted';
    const { id, name } = connection;
    return { connection, by: { scim: { id, name }, request } };
  }

  const authenticate: Middleware = async (ctx, next) => {
    calls.set(ctx, { request: await identify(ctx) });
    return next();
  };

  const requestOf = (ctx: Context): ScimRequest => (calls.get(ctx) as Call).request;

  async function connectionOf(bearer: string) {
    const own = await scimConnections.present(bearer);
    if (own) return own;
    const token = looksLikeKey(bearer) ? undefined : await tokens.find(bearer);
    const isForUs = token?.audience === scimApi(config.issuer) && token.accountId === undefined;
    return isForUs && token.scopes.includes(SCIM_SCOPE) ? scimConnections.ofClient(token.clientId) : undefined;
  }

  async function bodyOf<Schema extends z.ZodType>(ctx: Context, schema: Schema): Promise<z.output<Schema>> {
    const given = await parseJson(ctx, z.unknown());
    const call = calls.get(ctx);
    if (call) call.body = given;
    return parse(schema, given);
  }

  const locationOf = ({ endpoint }: ResourceType, id: string) => `${base}${endpoint}/${encodeURIComponent(id)}`;

  const withAddresses = (list: readonly Complex[], type: ResourceType) =>
    list.map((one) => ({ ...toJson(one), $ref: locationOf(type, String(one.get('value'))) }));

  /** As the client reads it. */
  function resourceJson(type: ResourceType, { id, values, createdAt, updatedAt }: Resource) {
    const attributes = toJson(values);
    const [groups, members] = [listOf(values.get('groups')), listOf(values.get('members'))];
    if (groups.length > 0) attributes.groups = withAddresses(groups, groupType);
    if (members.length > 0) attributes.members = withAddresses(members, userType);
    const json = { schemas: type === userType ? schemasOf(values) : [GROUP], id, ...attributes };
    // The ETag covers neither the times nor the groups of a user, which change without a change of the user.
    const version = `W/"${sha256(JSON.stringify({ ...json, groups: undefined })).slice(0, 20)}"`;
    const [created, lastModified] = [createdAt.toISOString(), updatedAt.toISOString()];
    const meta = { resourceType: type.name, created, lastModified, location: locationOf(type, id), version };
    return { ...json, meta };
  }

  function send(ctx: Context, type: ResourceType, resource: Resource, query: ListQuery, status = 200): void {
    const json = resourceJson(type, resource);
    ctx.status = status;
    ctx.set('ETag', json.meta.version);
    if (status === 201) ctx.set('Location', json.meta.location);
    if (
      status === 200 &&
      ['GET', 'HEAD'].includes(ctx.method) &&
      ctx.get('If-None-Match').includes(json.meta.version)
    ) {
      ctx.status = 304;
      return;
    }
    ctx.body = JSON.stringify(selected(json, type, query));
  }

  /** Whether the version in If-Match is that of the resource; undefined without a condition. */
  const ifMatch = (ctx: Context, type: ResourceType) => {
    const wanted = ctx.get('If-Match');
    if (wanted === '' || wanted === '*') return undefined;
    return (resource: Resource) => wanted.includes(resourceJson(type, resource).meta.version);
  };

  /** Every error as SCIM has it (RFC 7644 3.12). */
  const scimErrors: Middleware = async (ctx, next) => {
    ctx.type = TYPE;
    try {
      await next();
      if (ctx.status !== 204 && ctx.status !== 304) ctx.type = TYPE;
      ctx.set('Cache-Control', 'no-store');
    } catch (thrown) {
      const error = thrown instanceof AppError ? thrown : toAppError(thrown);
      ctx.state.errorCode = error.code;
      logError(ctx, error);
      ctx.status = error.status;
      ctx.set(error.headers);
      ctx.type = TYPE;
      const call = calls.get(ctx);
      const reference = call && (await recordRejection(services, ctx, call, error));
      const json = errorJson(error);
      ctx.body = JSON.stringify(reference ? { ...json, detail: `${json.detail} Reference: ${reference}` } : json);
    }
  };

  const router = new Router<State, Extras>({ prefix: BASE });
  router.use(scimErrors, bodyLimit(limits.scim.bytes), authenticate);

  router.get('/ServiceProviderConfig', (ctx) => {
    ctx.body = JSON.stringify(serviceProviderConfig(base));
  });
  router.get('/Schemas', (ctx) => {
    ctx.body = JSON.stringify(listJson(schemas.map((schema) => schemaJson(schema, base))));
  });
  router.get('/Schemas/:id', (ctx) => {
    const schema = schemas.find(({ id }) => id.toLowerCase() === ctx.params.id?.toLowerCase());
    if (!schema) throw notFound();
    ctx.body = JSON.stringify(schemaJson(schema, base));
  });
  router.get('/ResourceTypes', (ctx) => {
    ctx.body = JSON.stringify(listJson([userType, groupType].map((type) => resourceTypeJson(type, base))));
  });
  router.get('/ResourceTypes/:name', (ctx) => {
    const type = [userType, groupType].find(({ name }) => name === ctx.params.name);
    if (!type) throw notFound();
    ctx.body = JSON.stringify(resourceTypeJson(type, base));
  });

  const resources = [
    { type: userType, service: users },
    { type: groupType, service: groups },
  ] as const;
  const selectedOf = async (type: ResourceType, found: readonly Resource[], query: ListQuery): Promise<object[]> => {
    const all: object[] = [];
    for await (const one of inTurns(found)) all.push(selected(resourceJson(type, one), type, query));
    return all;
  };
  for (const { type, service } of resources) {
    const { endpoint } = type;
    const answer = async (ctx: Context, query: ListQuery) => {
      const page = await service.list(filterOf(query, type), placeOf(query), requestOf(ctx), needsMembers(query));
      ctx.body = JSON.stringify(pageJson(await selectedOf(type, page.found, query), page, query));
    };
    router.get(endpoint, (ctx) => answer(ctx, queryOf(ctx)));
    router.post(`${endpoint}/.search`, async (ctx) => answer(ctx, await bodyOf(ctx, listQuery)));
    router.post(endpoint, async (ctx) => {
      const query = queryOf(ctx);
      send(ctx, type, await service.create(await bodyOf(ctx, body), requestOf(ctx)), query, 201);
    });
    router.get(`${endpoint}/:id`, async (ctx) => {
      const query = queryOf(ctx);
      send(ctx, type, await service.get(ctx.params.id ?? '', requestOf(ctx), needsMembers(query)), query);
    });
    router.put(`${endpoint}/:id`, async (ctx) => {
      const query = queryOf(ctx);
      const given = await bodyOf(ctx, body);
      send(ctx, type, await service.replace(ctx.params.id ?? '', given, requestOf(ctx), ifMatch(ctx, type)), query);
    });
    router.patch(`${endpoint}/:id`, async (ctx) => {
      const { id = '' } = ctx.params;
      const query = queryOf(ctx);
      const steps = await stepsOf(await bodyOf(ctx, patchBody), type, id);
      // Without members in the answer a change of a large group stays cheap (RFC 7644 3.5.2).
      const isAnswered = type === userType || namesIn(query.attributes).length > 0;
      const hasMembers = isAnswered && needsMembers(query);
      const patched = await service.patch(id, steps, requestOf(ctx), ifMatch(ctx, type), hasMembers);
      if (isAnswered) send(ctx, type, patched, query);
      else ctx.status = 204;
    });
    router.delete(`${endpoint}/:id`, async (ctx) => {
      await service.remove(ctx.params.id ?? '', requestOf(ctx), ifMatch(ctx, type));
      ctx.status = 204;
    });
  }

  // People and groups, one after the other (RFC 7644 3.4.3). A filter that one of them does not have finds none of them.
  router.post('/.search', async (ctx) => {
    const query = await bodyOf(ctx, listQuery);
    const place = placeOf(query);
    if ('cursor' in place) throw scimError('invalidCursor', 'Cursors are for /Users and /Groups.');
    const searches = resources.map(({ type, service }) => ({ type, service, ...filterFor(query, type) }));
    if (searches.every(({ error }) => error)) throw searches[0]?.error;
    const all: object[] = [];
    let total = 0;
    for (const { type, service, filter, error } of searches) {
      if (error) continue;
      const rest = { limit: place.limit - all.length, offset: Math.max(place.offset - total, 0) };
      const page = await service.list(filter, rest, requestOf(ctx), needsMembers(query));
      all.push(...(await selectedOf(type, page.found, query)));
      total += page.total;
    }
    ctx.body = JSON.stringify(pageJson(all, { total }, query));
  });

  router.all(REST, (ctx) => {
    const layers = router.match(ctx.path, ctx.method).path.filter(({ path }) => !String(path).endsWith(REST));
    const methods = [...new Set(layers.flatMap((layer) => layer.methods))];
    if (methods.length === 0) throw notFound({ message: NO_ADDRESS });
    const headers = { Allow: methods.join(', ') };
    throw methodNotAllowed('method_not_allowed', { message: `It allows ${headers.Allow}.`, headers });
  });
  return { router, jobs: [users.deleteOld, users.follow] };
}

const queryOf = (ctx: Context): ListQuery => parseQuery(ctx, listQuery);

function filterOf({ filter, sortBy }: ListQuery, type: ResourceType): Filter | undefined {
  if (sortBy !== undefined)
    throw scimError('invalidValue', 'This server does not sort: send the request without sortBy.');
  return filter === undefined ? undefined : parseFilter(filter, type);
}

function filterFor(query: ListQuery, type: ResourceType): { filter?: Filter | undefined; error?: AppError } {
  try {
    return { filter: filterOf(query, type) };
  } catch (error) {
    if (error instanceof AppError && query.sortBy === undefined) return { error };
    throw error;
  }
}

/** RFC 7644 3.4.2.4: less than 1 is the first, a negative count is none. RFC 9865 2: `cursor` alone decides. */
function placeOf({ startIndex = 1, count = limits.scim.page, cursor }: ListQuery): Place {
  const limit = Math.min(Math.max(count, 0), limits.scim.maxPage);
  return cursor === undefined ? { limit, offset: Math.max(startIndex, 1) - 1 } : { limit, cursor };
}

function pageJson(
  resources: readonly object[],
  { total, next }: { total: number; next?: string },
  { startIndex = 1, cursor }: ListQuery,
) {
  return {
    schemas: [LIST_RESPONSE],
    totalResults: total,
    itemsPerPage: resources.length,
    ...(cursor === undefined && { startIndex: Math.max(startIndex, 1) }),
    ...(next !== undefined && { nextCursor: next }),
    Resources: resources,
  };
}

const listJson = (resources: readonly object[]) => pageJson(resources, { total: resources.length }, {});

const namesIn = (given: ListQuery['attributes']): string[] =>
  (typeof given === 'string' ? given.split(',') : (given ?? []))
    .map((name) => name.trim())
    .filter((name) => name !== '');

/** Whether a request wants the members of a group. */
function needsMembers({ attributes, excludedAttributes }: ListQuery): boolean {
  const isMembers = (name: string) => /(^|:)members($|\.)/i.test(name);
  const wanted = namesIn(attributes);
  return wanted.length > 0 ? wanted.some(isMembers) : !namesIn(excludedAttributes).some(isMembers);
}

/** The attributes that the request wants (RFC 7644 3.9); those that are always returned stay. */
function selected(json: Record<string, unknown>, type: ResourceType, query: ListQuery): Record<string, unknown> {
  const wanted = namesIn(query.attributes);
  const isExclusion = wanted.length === 0;
  const paths = knownPaths(isExclusion ? namesIn(query.excludedAttributes) : wanted, type);
  const kept: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(json)) {
    const isAlways = name === 'schemas' || type.attributes.get(name.toLowerCase())?.returned === 'always';
    const ofName = paths.filter(({ attribute }) => attribute.name === name);
    const isWhole = ofName.some(({ sub }) => sub === undefined);
    const subs = ofName.flatMap(({ sub }) => sub?.name ?? []);
    if (isExclusion) {
      if (isWhole && !isAlways) continue;
      kept[name] = subs.length === 0 ? value : withSubs(value, (sub) => !subs.includes(sub));
    } else {
      if (ofName.length === 0 && !isAlways) continue;
      kept[name] = ofName.length === 0 || isWhole ? value : withSubs(value, (sub) => subs.includes(sub));
    }
  }
  return kept;
}

/** The value, or each of a list, with those of its sub-attributes. */
function withSubs(value: unknown, isKept: (sub: string) => boolean): unknown {
  if (Array.isArray(value)) return value.map((one) => withSubs(one, isKept));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).filter(([name]) => isKept(name)));
}

/** Names that this server does not have are left out. */
function knownPaths(names: readonly string[], type: ResourceType): Path[] {
  return names.flatMap((name) => {
    try {
      return parsePath(name, type);
    } catch {
      return [];
    }
  });
}

function resourceTypeJson({ name, endpoint, schema, extension }: ResourceType, base: string) {
  return {
    schemas: ['urn:ietf:params:scim:schemas:core:2.0:ResourceType'],
    id: name,
    name,
    endpoint,
    description: name === 'User' ? 'People' : 'Groups of people',
    schema,
    ...(extension && { schemaExtensions: [{ schema: extension, required: false }] }),
    meta: { resourceType: 'ResourceType', location: `${base}/ResourceTypes/${name}` },
  };
}

/** RFC 7643 5, RFC 9865 4. */
function serviceProviderConfig(base: string) {
  const { maxPage, page, operations, bytes } = limits.scim;
  return {
    schemas: ['urn:ietf:params:scim:schemas:core:2.0:ServiceProviderConfig'],
    patch: { supported: true },
    // authentik reads from it how many operations a PATCH can have.
    bulk: { supported: false, maxOperations: operations, maxPayloadSize: bytes },
    filter: { supported: true, maxResults: maxPage },
    changePassword: { supported: false },
    sort: { supported: false },
    etag: { supported: true },
    pagination: {
      cursor: true,
      index: true,
      defaultPaginationMethod: 'index',
      defaultPageSize: page,
      maxPageSize: maxPage,
    },
    authenticationSchemes: [
      {
        type: 'oauthbearertoken',
        name: 'Bearer token',
        description: 'A token of the connection, or an access token with the scope `scim`',
        specUri: 'https://www.rfc-editor.org/rfc/rfc6750',
        primary: true,
      },
    ],
    meta: { resourceType: 'ServiceProviderConfig', location: `${base}/ServiceProviderConfig` },
  };
}

const MOST_NAMES = 20;
const MOST_TEXT = 300;

const EXPECTED = {
  scim_address: `a method and address at ${BASE}/ResourceTypes`,
  scim_filter: 'a filter over the attributes at /scim/v2/Schemas',
  scim_owner: 'a user or group that this connection may create and change',
  scim_request: 'attributes, operations and values as at /scim/v2/Schemas',
  scim_resource: 'a user or group of this connection',
  scim_unique: 'a userName, email address, displayName and externalId that nobody else has',
  scim_version: 'the present version (ETag)',
} as const satisfies Partial<Record<RuleId, string>>;

/**
 * Records a rejected request, and returns its reference. Undefined for what is no fault of a request, such as too many of them, or a client that
 * looks whether a user or group exists; and for what is not stored.
 */
async function recordRejection(
  { rejections }: People,
  { method, path, query, state: { request } }: Context,
  { request: { connection }, body }: Call,
  error: AppError,
): Promise<string | undefined> {
  const rule = ruleOf(error, path);
  if (!rule || (rule === 'scim_resource' && ['GET', 'HEAD'].includes(method))) return undefined;
  const given = isObject(body) ? body : undefined;
  const text = (value: unknown) => (typeof value === 'string' ? value.slice(0, MOST_TEXT) : undefined);
  const filter = text(given?.filter) ?? text(query.filter);
  const names = given && (Array.isArray(given.Operations) ? operationsIn(given.Operations) : Object.keys(given));
  const sent = names?.slice(0, MOST_NAMES).join(', ').slice(0, MOST_TEXT);
  // The name is what the administrator looks for.
  const taken = rule === 'scim_unique' ? (text(given?.userName) ?? text(given?.displayName)) : undefined;
  const ofRule: Partial<Record<RuleId, string | undefined>> = {
    scim_filter: filter,
    scim_request: sent,
    scim_unique: taken,
  };
  const received = ofRule[rule] ?? `${method} ${path}`;
  return rejections.recordFirst(request, {
    endpoint: 'scim',
    reason: scimTypeOf(error) ?? error.code,
    message: errorJson(error).detail,
    clientId: connection.id,
    received: defined({ method, path, filter, sent, name: taken, address: request.address }),
    rules: ruleResults([rule], { rule, received, expected: EXPECTED[rule] }),
  });
}

/** The operations of a PATCH by what they do and to which attribute, without values. */
const operationsIn = (operations: readonly unknown[]): string[] =>
  operations.slice(0, MOST_NAMES).map((one) => {
    const { op, path, value } = (one ?? {}) as Readonly<Record<string, unknown>>;
    const names = isObject(value) ? Object.keys(value) : [];
    return [String(op), typeof path === 'string' ? path : names.slice(0, MOST_NAMES).join(' ')].join(' ');
  });

function ruleOf(error: AppError, path: string): keyof typeof EXPECTED | undefined {
  const scimType = scimTypeOf(error);
  if (error.status === 400)
    return scimType === 'invalidFilter' || scimType === 'tooMany' ? 'scim_filter' : 'scim_request';
  if (error.status === 403) return 'scim_owner';
  if (error.status === 404) return /\/(users|groups)\/[^/]+$/i.test(path) ? 'scim_resource' : 'scim_address';
  if (error.status === 405) return 'scim_address';
  if (error.status === 409) return 'scim_unique';
  return error.status === 412 ? 'scim_version' : undefined;
}
