// The documents of the API: /api/openapi.json for programs, /api/docs for people. Both are public, as the source is.

import Router from '@koa/router';
import type { Extras, State } from '../../base/http/context.ts';
import { packageVersion } from '../../base/platform/package.ts';
import { permissionsOf } from '../../people/rbac/rights.ts';
import type { Endpoint } from './endpoint.ts';
import { openApiDocument } from './openapi.ts';
import { API } from './router.ts';

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
export function documentRoutes(endpoints: readonly Endpoint[], issuer: string): Router<State, Extras> {
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
        .map(({ method, path, operationId, summary, description, needs }) => {
          const { parameters, requestBody, responses } = paths[`${API}${path}`]?.[method] ?? {};
          const [status, answer] = Object.entries(responses ?? {})[0] ?? ['', {}];
          return {
            id: operationId,
            method: method.toUpperCase(),
            path: `${API}${path}`,
            summary,
            description,
            needs: needs.map((need) => permissionsOf(need).join(' or ')),
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
