// A SCIM client: the requests of a connection, and the shapes that it gets.
import type { ScimDeclaration } from '../../src/protocols/scim/connections.ts';
import { httpClient, type Page } from '../support/http.ts';
import type { TestIdp } from '../support/idp.ts';

export const USER = 'urn:ietf:params:scim:schemas:core:2.0:User';
export const GROUP = 'urn:ietf:params:scim:schemas:core:2.0:Group';
export const ENTERPRISE = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User';
export const PATCH = 'urn:ietf:params:scim:api:messages:2.0:PatchOp';

type Json = Record<string, unknown>;

/** A connection with a token, and what it can call. The answer to `ok` has the wanted status; `fails` returns scimType and detail. */
export async function aConnection(idp: TestIdp, declared: Partial<ScimDeclaration> = {}) {
  const { scimConnections } = idp.services;
  const connection = await scimConnections.create(
    {
      name: `Directory ${Math.random()}`,
      client_id: null,
      owned_domains: ['corp.example'],
      adopt: 'never',
      may_create: true,
      delete_policy: 'disable',
      mappings: { attributes: {}, groups: {} },
      ...declared,
    },
    {},
  );
  const { text: token } = await scimConnections.addToken(connection.id, undefined, {});
  return { connection, token, ...clientOf(idp, token) };
}

export function clientOf(idp: TestIdp, token: string) {
  const http = httpClient(idp.issuer);
  const send = (method: string, path: string, json?: unknown, headers: Record<string, string> = {}): Promise<Page> =>
    http.request(method, `/scim/v2${path}`, {
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/scim+json', ...headers },
      ...(json !== undefined && { body: JSON.stringify(json) }),
    });
  const ok = async (
    method: string,
    path: string,
    json?: unknown,
    status = method === 'POST' ? 201 : 200,
  ): Promise<Json> => {
    const page = await send(method, path, json);
    if (page.status !== status) throw new Error(`${method} ${path}: ${page.status} ${page.text}`);
    return page.text === '' ? {} : page.json();
  };
  return {
    send,
    ok,
    async fails(method: string, path: string, json?: unknown) {
      const { status, ...page } = await send(method, path, json);
      const { scimType, detail, ...rest } = page.json<{ scimType?: string; detail: string; status: string }>();
      if (rest.status !== String(status)) throw new Error(page.text);
      return { status, scimType, detail };
    },
    find: async (filter: string, type = 'Users') =>
      (await ok('GET', `/${type}?filter=${encodeURIComponent(filter)}`)) as unknown as {
        totalResults: number;
        Resources: Json[];
      },
    patch: (path: string, ...Operations: object[]) => send('PATCH', path, { schemas: [PATCH], Operations }),
  };
}

export type Connection = Awaited<ReturnType<typeof aConnection>>;

/** As if the directory had deleted the person so many days ago. */
export async function setDeletedDaysAgo({ services: { db } }: TestIdp, userId: string, days: number): Promise<void> {
  const deletedAt = new Date(Date.now() - days * 24 * 3600 * 1000);
  await db.scimUser.update({ where: { userId }, data: { deletedAt } });
}
