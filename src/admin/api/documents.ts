// The documents of the API: /api/openapi.json for programs, /api/docs for people. Both are public, as the source is.

import Router from '@koa/router';
import { z } from 'zod';
import type { Extras, State } from '../../base/http/context.ts';
import { present } from '../../base/platform/defined.ts';
import { packageVersion } from '../../base/platform/package.ts';
import { top as sections } from '../../config-file/schema.ts';
import { adminApi, OWNERS_SCOPE, ownersApi } from '../../people/rbac/built-in.ts';
import { type Need, permissionsOf } from '../../people/rbac/rights.ts';
import { baseOf, type Endpoint } from './endpoint.ts';
import { ifMatchPattern } from './versions.ts';

interface JsonSchema {
  type?: string | string[];
  $ref?: string;
  enum?: unknown[];
  const?: unknown;
  items?: JsonSchema;
  anyOf?: JsonSchema[];
  oneOf?: JsonSchema[];
  properties?: Record<string, JsonSchema>;
  required?: string[];
  description?: string;
}

/** GET /api/openapi.json and GET /api/docs. */
export function apiDocumentRoutes(endpoints: readonly Endpoint[], issuer: string): Router<State, Extras> {
  // Created at the first request: it takes a tenth of a second, which no start has to wait for.
  let cached: { text: string; page: ReturnType<typeof pageOf> } | undefined;
  const documents = () => {
    if (cached) return cached;
    const document = openApiDocument(endpoints, { issuer, version: packageVersion() });
    cached = { text: JSON.stringify(document), page: pageOf(endpoints, document) };
    return cached;
  };
  const router = new Router<State, Extras>();
  router.get('/api/openapi.json', (ctx) => {
    ctx.set('Cache-Control', 'no-cache');
    ctx.body = documents().text;
    ctx.type = 'application/json; charset=utf-8';
  });
  router.get('/api/docs', (ctx) => {
    ctx.render('api/docs', { issuer, ...documents().page });
  });
  return router;
}

const pathOf = (endpoint: Endpoint): string => `${baseOf(endpoint)}${endpoint.path}`;

/** The document as the tables of the page. */
function pageOf(endpoints: readonly Endpoint[], document: Record<string, unknown>) {
  const { components } = document as { components: { schemas: Record<string, JsonSchema> } };
  const paths = document.paths as Record<string, Record<string, Operation>>;
  const tags = [...new Set(endpoints.map(({ tag }) => tag))];
  return {
    groups: tags.map((tag) => ({
      tag,
      operations: endpoints
        .filter((one) => one.tag === tag)
        .map((endpoint) => {
          const { method, operationId, summary, description, needs } = endpoint;
          const path = pathOf(endpoint);
          const { parameters, requestBody, responses } = paths[path]?.[method] ?? {};
          const [status, answer] = Object.entries(responses ?? {})[0] ?? ['', {}];
          return {
            id: operationId,
            method: method.toUpperCase(),
            path,
            summary,
            description,
            needs: endpoint.api === 'owners' ? [OWNERS_SCOPE] : needs.map((need) => permissionsOf(need).join(' or ')),
            status,
            parameters: (parameters ?? []).map((one) => ({ ...one, type: typeOf(one.schema) })),
            body: fieldsOf(Object.values(requestBody?.content ?? {})[0]?.schema),
            bodyType: Object.keys(requestBody?.content ?? {})[0],
            answer: typeOf(Object.values(answer.content ?? {})[0]?.schema),
          };
        }),
    })),
    schemas: Object.entries(components.schemas)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, schema]) => ({ name, fields: fieldsOf(schema) })),
  };
}

interface Operation {
  parameters?: { name: string; in: string; required: boolean; description?: string; schema: JsonSchema }[];
  requestBody?: { content: Record<string, { schema: JsonSchema }> };
  responses?: Record<string, { content?: Record<string, { schema: JsonSchema }> }>;
}

function fieldsOf(
  schema: JsonSchema | undefined,
): { name: string; type: string; required: boolean; description?: string }[] {
  const parts = schema?.oneOf ?? schema?.anyOf;
  if (parts) return parts.map((part) => ({ name: 'one of', type: typeOf(part), required: true }));
  return Object.entries(schema?.properties ?? {}).map(([name, field]) => ({
    name,
    type: typeOf(field),
    required: schema?.required?.includes(name) ?? false,
    ...(field.description === undefined ? {} : { description: field.description }),
  }));
}

function typeOf(schema: JsonSchema | undefined): string {
  if (!schema) return '';
  if (schema.$ref) return schema.$ref.split('/').at(-1) ?? '';
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(' | ');
  const parts = schema.anyOf ?? schema.oneOf;
  if (parts) return [...new Set(parts.map(typeOf))].join(' | ');
  if (schema.type === 'array') return `${typeOf(schema.items) || 'any'}[]`;
  if (schema.type === 'object' && schema.properties?.items) return `page of ${typeOf(schema.properties.items)}`;
  return Array.isArray(schema.type) ? schema.type.join(' | ') : (schema.type ?? 'any');
}

// The OpenAPI 3.1 document of the admin API, made of the same descriptions and schemas as its routes.

type Json = Record<string, unknown>;

interface OpenApiOptions {
  issuer: string;
  version: string;
}

/** The body of every error (RFC 9457). */
const problem = z
  .object({
    type: z.string().describe('urn:gatehouse:error:CODE'),
    title: z.string(),
    status: z.int(),
    detail: z.string().describe('What happened and what to do next, in one or two sentences'),
    code: z.string().describe('Stable, for programs'),
    requestId: z.string().describe('Finds the log line and the audit entries'),
    errors: z
      .array(
        z.object({
          path: z.string().describe('Of the wrong value, such as redirect_uris[0]'),
          code: z.string().describe('Stable, for programs'),
          message: z.string(),
          line: z.int().optional().describe('In a configuration file'),
          column: z.int().optional(),
        }),
      )
      .optional()
      .describe('The values that are wrong'),
  })
  .meta({ id: 'Problem' });

const ETAG = { ETag: { description: 'The version, for If-Match', schema: { type: 'string' } } };

const KEY = '^[!-~]{1,255}$';
const YAML_TYPE = 'application/yaml';
/** A document of the configuration file, as a parser of YAML gives it. */
const CONFIGURATION = {
  ...withoutDialect(z.toJSONSchema(sections, { io: 'input' })),
  description: 'A configuration file (docs/configuration.md)',
};

const API_KEY = {
  type: 'http',
  scheme: 'bearer',
  description: 'An API key, which acts for its owner. Changes that need a fresh sign-in take an access token.',
};

const LOCATION = { Location: { description: 'URL of what was created', schema: { type: 'string' } } };

/** The document as JSON. Throws an Error when two schemas have the same name. */
export function openApiDocument(endpoints: readonly Endpoint[], { issuer, version }: OpenApiOptions): Json {
  const schemas: Json = {};
  const schemaOf = (schema: z.ZodType, io: 'input' | 'output') => withSharedSchemas(schema, io, schemas);
  const problemRef = schemaOf(problem, 'output');
  const paths: Record<string, Json> = {};
  for (const endpoint of endpoints) {
    const path = pathOf(endpoint);
    paths[path] = { ...paths[path], [endpoint.method]: operation(endpoint, schemaOf, problemRef) };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Gatehouse admin API',
      version,
      summary: 'Users, applications, roles, sessions, keys, audit and settings of a Gatehouse server',
      description: `Access tokens are issued by this server for the resource ${adminApi(issuer)}: to a user, with the permissions of the user’s roles, or to an application without a user (client_credentials). Each scope is the name of a permission; admin:* stands for all of them. An API key (gh_…) has permissions of the same names. Owners of groups, who need no permission, call ${ownersApi(issuer)} with a token for that resource.`,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: issuer }],
    security: [{ oauth: [] }, { api_key: [] }],
    tags: [...new Set(endpoints.map(({ tag }) => tag))].map((name) => ({ name })),
    paths,
    components: {
      schemas,
      securitySchemes: { oauth: securityScheme(endpoints, issuer), owner: ownersScheme(issuer), api_key: API_KEY },
    },
  };
}

function operation(
  endpoint: Endpoint,
  schemaOf: (schema: z.ZodType, io: 'input' | 'output') => Json,
  problemRef: Json,
): Json {
  const { operationId, tag, summary, description, needs, body, accepts } = endpoint;
  const isOwners = endpoint.api === 'owners';
  const notes = [description, isOwners ? `Needs the scope ${OWNERS_SCOPE}, and the ownership.` : needsText(needs)];
  return {
    operationId,
    tags: [tag],
    summary,
    description: notes.filter(Boolean).join('\n\n'),
    security: isOwners
      ? [{ owner: [OWNERS_SCOPE] }]
      : ['oauth', 'api_key'].flatMap((scheme) => alternatives(needs).map((scopes) => ({ [scheme]: scopes }))),
    parameters: parametersOf(endpoint, schemaOf),
    ...(body && {
      requestBody: {
        required: !body.safeParse(undefined).success,
        content: {
          [accepts ?? 'application/json']: { schema: accepts === YAML_TYPE ? CONFIGURATION : schemaOf(body, 'input') },
        },
      },
    }),
    responses: responsesOf(endpoint, schemaOf, problemRef),
  };
}

/** The sets of scopes of which one is enough. */
function alternatives(needs: readonly Need[]): string[][] {
  return needs.reduce<string[][]>(
    (sets, need) => permissionsOf(need).flatMap((one) => sets.map((set) => [...set, one])),
    [[]],
  );
}

function needsText(needs: readonly Need[]): string {
  if (needs.length === 0) return 'Needs any token of this API.';
  const text = `Needs ${needs.map((need) => permissionsOf(need).join(' or ')).join(' and ')}`;
  const isLimited = needs.some((need) => typeof need !== 'string' && need.limited);
  return isLimited ? `${text}, which may be limited: then it covers only those users or applications.` : `${text}.`;
}

function parametersOf(
  { params, query, versioned, idempotent }: Endpoint,
  schemaOf: (schema: z.ZodType, io: 'input') => Json,
) {
  const listed = (object: z.ZodObject | undefined, place: 'path' | 'query') =>
    Object.entries(object?.shape ?? {}).map(([name, schema]) => {
      const { description, ...rest } = schemaOf(schema as z.ZodType, 'input');
      const isOptional = (schema as z.ZodType).safeParse(undefined).success;
      return {
        name,
        in: place,
        required: place === 'path' || !isOptional,
        ...(description ? { description } : {}),
        schema: rest,
      };
    });
  const header = (name: string, required: boolean, description: string, pattern: string) => ({
    name,
    in: 'header',
    required,
    description,
    schema: { type: 'string', pattern },
  });
  return present([
    ...listed(params, 'path'),
    ...listed(query, 'query'),
    versioned === 'changes' && header('If-Match', true, 'ETag of the version that is changed, or *', ifMatchPattern),
    idempotent &&
      header('Idempotency-Key', false, 'Chosen by the caller: the same request may be repeated for a day', KEY),
  ]);
}

function responsesOf(
  {
    method,
    status = 200,
    response,
    accepted,
    streams,
    rejects = [],
    versioned,
    idempotent,
    params,
    body,
    query,
  }: Endpoint,
  schemaOf: (schema: z.ZodType, io: 'output') => Json,
  problemRef: Json,
): Json {
  const content = response
    ? { 'application/json': { schema: schemaOf(response, 'output') } }
    : Object.fromEntries(
        (streams ?? []).map((type) => [
          type,
          { schema: type === YAML_TYPE || type === 'application/json' ? CONFIGURATION : { type: 'string' } },
        ]),
      );
  const rejections = present<readonly [number, string]>([
    ...rejects,
    (params || body || query) && [400, 'The request is malformed or invalid'],
    [401, 'No valid token'],
    [403, 'The token lacks a permission'],
    params && [404, 'Not found'],
    method !== 'get' && [409, 'It conflicts with what is stored'],
    versioned === 'changes' && [412, 'Someone changed it in the meantime'],
    body && [413, 'The body is too long'],
    body && [415, 'Another media type is needed'],
    idempotent && [
      422,
      'The Idempotency-Key was used for another request, or a role that the body names does not exist',
    ],
    versioned === 'changes' && [428, 'If-Match is missing'],
    [429, 'Too many calls'],
  ]);
  const words = { 200: 'OK', 201: 'Created', 202: 'Accepted', 204: 'Done' } as const;
  return {
    [status]: {
      description: words[status],
      ...(versioned && response ? { headers: status === 201 ? { ...ETAG, ...LOCATION } : ETAG } : {}),
      ...(Object.keys(content).length > 0 ? { content } : {}),
    },
    ...(accepted && {
      202: {
        description: 'Accepted: a job does it, which Location shows',
        headers: LOCATION,
        content: { 'application/json': { schema: schemaOf(accepted, 'output') } },
      },
    }),
    ...Object.fromEntries(
      rejections.map(([code, description]) => [
        code,
        { description, content: { 'application/problem+json': { schema: problemRef } } },
      ]),
    ),
  };
}

/** Text of any kind is without NUL, which no database stores (base/http/input.ts). */
function markStorable(schema: unknown): void {
  if (typeof schema !== 'object' || schema === null) return;
  const one = schema as Json;
  const isFree = !['pattern', 'enum', 'const', 'format'].some((key) => key in one);
  if (one.type === 'string' && isFree) one.pattern = '^[^\\u0000]*$';
  for (const part of Object.values(one)) markStorable(part);
}

/** Descriptions of fields are those of docs/configuration.md, whose links lead nowhere here. */
function withoutLinks(schema: unknown): void {
  if (typeof schema !== 'object' || schema === null) return;
  const one = schema as Json;
  if (typeof one.description === 'string') one.description = one.description.replaceAll(/\[([^\]]+)\]\([^)]*\)/g, '$1');
  for (const part of Object.values(one)) withoutLinks(part);
}

/** A schema, its named parts moved to the components. */
function withSharedSchemas(schema: z.ZodType, io: 'input' | 'output', schemas: Json): Json {
  const {
    $schema: _dialect,
    $defs = {},
    ...json
  } = z.toJSONSchema(schema, { io, unrepresentable: 'any' }) as Json & { $defs?: Json };
  // Zod numbers recursive schemas without a name; the only one is `z.json()`.
  const named = (name: string) => name.replaceAll(/__schema\d+/g, 'Json');
  const text = (value: unknown) => named(JSON.stringify(value)).replaceAll('"#/$defs/', '"#/components/schemas/');
  markStorable(json);
  markStorable($defs);
  withoutLinks(json);
  withoutLinks($defs);
  for (const [name, part] of Object.entries($defs)) {
    const known = JSON.stringify(schemas[named(name)] ?? null);
    if (known !== 'null' && known !== text(part)) throw new Error(`two schemas are called ${named(name)}`);
    schemas[named(name)] = JSON.parse(text(part));
  }
  return JSON.parse(text(json)) as Json;
}

function withoutDialect({ $schema: _dialect, ...json }: Json): Json {
  withoutLinks(json);
  return json;
}

/** Only for users: an application owns no groups. */
function ownersScheme(issuer: string): Json {
  const scopes = { [OWNERS_SCOPE]: 'the groups that the user owns' };
  return {
    type: 'oauth2',
    flows: {
      authorizationCode: { authorizationUrl: `${issuer}/authorize`, tokenUrl: `${issuer}/token`, scopes },
    },
  };
}

function securityScheme(endpoints: readonly Endpoint[], issuer: string): Json {
  const scopes = [...new Set(endpoints.flatMap(({ needs }) => needs.flatMap(permissionsOf)))].sort();
  const all = Object.fromEntries([['admin:*', 'everything'], ...scopes.map((scope) => [scope, scope])]);
  return {
    type: 'oauth2',
    flows: {
      clientCredentials: { tokenUrl: `${issuer}/token`, scopes: all },
      authorizationCode: { authorizationUrl: `${issuer}/authorize`, tokenUrl: `${issuer}/token`, scopes: all },
    },
  };
}
