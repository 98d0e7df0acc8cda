// Checks requests and responses of the API against its own OpenAPI document.
import { Ajv2020, type AnySchemaObject, type ValidateFunction } from 'ajv/dist/2020.js';
import { expect } from 'vitest';
import { httpClient, type Page } from '../support/http.ts';

interface Content {
  content?: Record<string, { schema: AnySchemaObject }>;
  headers?: Record<string, unknown>;
}
export interface Operation {
  operationId: string;
  /** Alternatives: the scopes of an access token, or the permissions of an API key. */
  security: ({ oauth: string[] } | { api_key: string[] } | { owner: string[] })[];
  parameters: { name: string; in: string; required: boolean; schema?: AnySchemaObject }[];
  requestBody?: Content & { required?: boolean };
  responses: Record<string, Content>;
}
export interface OpenApi {
  openapi: string;
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, AnySchemaObject> };
}

export interface Description {
  document: OpenApi;
  /** operationId -> the statuses of its responses so far. */
  statuses: Map<string, Set<number>>;
  /** Throws unless the document describes this response to this request. */
  check(method: string, path: string, sent: unknown, page: Page): void;
}

/** The paths of the admin API, or of the owners of groups. */
export const pathsBelow = ({ paths }: OpenApi, base: '/api/admin' | '/api/groups') =>
  Object.entries(paths).filter(([path]) => path === base || path.startsWith(`${base}/`));

const judges = new Map<string, (schema: AnySchemaObject) => ValidateFunction>();

/** Compiles schemas of the document, each once per process: a server of each file has the same one. */
function judgesOf({ components }: OpenApi): (schema: AnySchemaObject) => ValidateFunction {
  const text = JSON.stringify(components);
  const ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: false });
  ajv.addSchema({ $id: 'api', components });
  const compiled = new Map<string, ValidateFunction>();
  const judgeOf =
    judges.get(text) ??
    ((schema: AnySchemaObject) => {
      const absolute = JSON.stringify(schema).replaceAll('"#/components/', '"api#/components/');
      const judge = compiled.get(absolute) ?? ajv.compile(JSON.parse(absolute));
      compiled.set(absolute, judge);
      return judge;
    });
  judges.set(text, judgeOf);
  return judgeOf;
}

/** Reads the document of a running server. */
export async function descriptionOf(issuer: string): Promise<Description> {
  const document = (await httpClient(issuer).get('/api/openapi.json')).json<unknown>() as OpenApi;
  const judgeOf = judgesOf(document);
  const statuses = new Map<string, Set<number>>();

  function validate(schema: AnySchemaObject, value: unknown, what: string): void {
    const judge = judgeOf(schema);
    expect(judge(value) ? [] : judge.errors, `${what}: ${JSON.stringify(value)?.slice(0, 500)}`).toEqual([]);
  }

  return {
    document,
    statuses,
    check(method, path, sent, page) {
      const operation = find(document, method, path);
      const name = `${operation.operationId} ${page.status}`;
      statuses.set(operation.operationId, (statuses.get(operation.operationId) ?? new Set()).add(page.status));
      const described = operation.responses[String(page.status)];
      expect(Object.keys(operation.responses), `${name}: ${page.text.slice(0, 500)}`).toContain(String(page.status));
      const type = page.headers['content-type']?.split(';')[0];
      const types = Object.keys(described?.content ?? {});
      expect(type === undefined ? [] : [type], name).toEqual(types.filter((one) => one === type || types.length === 1));
      for (const header of Object.keys(described?.headers ?? {}))
        expect(page.headers, name).toHaveProperty(header.toLowerCase());
      const schema = described?.content?.[type ?? '']?.schema;
      if (schema && type?.endsWith('json')) validate(schema, page.json(), name);
      const body = operation.requestBody?.content?.['application/json']?.schema;
      const isSent = sent !== undefined || operation.requestBody?.required;
      if (body && isSent && page.status < 300) validate(body, sent, `the request of ${name}`);
    },
  };
}

function find({ paths }: OpenApi, method: string, target: string): Operation {
  const [pathname = ''] = target.split('?');
  const fits = (template: string) => new RegExp(`^${template.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(pathname);
  // Literal paths before those with parameters.
  const templates = Object.keys(paths).sort((a, b) => Number(a.includes('{')) - Number(b.includes('{')));
  const operation = templates.filter(fits).map((template) => paths[template]?.[method.toLowerCase()]);
  const [found] = operation.filter((one) => one !== undefined);
  if (!found) throw new Error(`the document has no ${method} ${target}`);
  return found;
}
