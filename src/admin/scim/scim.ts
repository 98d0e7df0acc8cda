// The SCIM connections, by which directories create, change and disable people: declared, given tokens, and deleted. A connection decides who
// has an account and in which groups people are, so every change asks for a fresh sign-in.

import { z } from 'zod';
import { limits } from '../../base/limits.ts';
import { defined } from '../../base/platform/defined.ts';
import { type Tx, transaction } from '../../base/storage/database.ts';
import { t } from '../../base/texts/text.ts';
import type { Actor } from '../../core/audit/audit.ts';
import {
  declarationOf,
  type ScimConnection,
  type ScimDeclaration,
  type ScimToken,
  scimDeclaration,
} from '../../protocols/scim/connections.ts';
import type { AdminServices } from '../admin-services.ts';
import type { Endpoint } from '../api/endpoint.ts';
import type { OnCreated } from '../api/idempotency.ts';
import { byId, changesOf, jsonOf, time } from '../api/parts.ts';
import { assertVersion, type Expected } from '../api/versions.ts';
import { assertFreshProof } from '../proof/sensitive-changes.ts';
import { answerOf, endpointsOf, type Resource } from '../resource.ts';

/** `text` is readable only now. */
export type CreatedToken = { connection: ScimConnection; token: ScimToken; text: string };

export type ScimAdmin = ReturnType<typeof createScimAdmin>;

/** Changes throw forbidden, StepUpNeeded, owned_by_file, precondition_failed for another version, and not_found. */
export function createScimAdmin({ db, authority, rejections, scimConnections: connections }: AdminServices) {
  const assertMayChange = (by: Actor, tx?: Tx) => authority.assertMay(by, { what: 'connections' }, tx);

  async function assertExpected(id: string, expected: Expected, tx: Tx): Promise<ScimConnection> {
    const connection = await connections.get(id, tx);
    assertVersion(expected, declarationOf(connection));
    return connection;
  }

  return {
    list: connections.list,
    get: (id: string) => connections.get(id),
    tokens: (id: string) => connections.tokens(id),
    counts: connections.counts,
    /** The last rejected requests. */
    rejected: async (id: string) => (await rejections.list({ clientId: id, limit: 5 })).rejections,

    /** `onCreated` runs in the transaction. */
    create: (given: ScimDeclaration, by: Actor, onCreated: OnCreated<ScimConnection> = async () => {}) =>
      transaction(db, async (tx): Promise<ScimConnection> => {
        await assertMayChange(by, tx);
        assertFreshProof(by, 'scim-connection.create', given.name);
        const made = await connections.create(given, by, { tx });
        await onCreated(made, tx);
        return made;
      }),

    update: (id: string, changes: Partial<ScimDeclaration>, by: Actor, expected: Expected = 'any') =>
      transaction(db, async (tx): Promise<ScimConnection> => {
        await assertMayChange(by, tx);
        const before = await assertExpected(id, expected, tx);
        assertFreshProof(by, 'scim-connection.change', before.name);
        return connections.update(id, { ...declarationOf(before), ...changes }, by, { tx });
      }),

    remove: (id: string, by: Actor, expected: Expected = 'any') =>
      transaction(db, async (tx): Promise<void> => {
        await assertMayChange(by, tx);
        const { name } = await assertExpected(id, expected, tx);
        assertFreshProof(by, 'scim-connection.delete', name);
        await connections.remove(id, by, { tx });
      }),

    addToken: (id: string, days: number | undefined, by: Actor, onCreated: OnCreated<CreatedToken> = async () => {}) =>
      transaction(db, async (tx): Promise<CreatedToken> => {
        await assertMayChange(by, tx);
        const connection = await connections.get(id, tx);
        assertFreshProof(by, 'scim-connection.add-token', connection.name);
        const made = { connection, ...(await connections.addToken(id, days, by, tx)) };
        await onCreated(made, tx);
        return made;
      }),

    async revokeToken(id: string, token: string, by: Actor): Promise<void> {
      await assertMayChange(by);
      assertFreshProof(by, 'scim-connection.revoke-token', (await connections.get(id)).name);
      await connections.revokeToken(id, token, by);
    },
  };
}

const { shape } = scimDeclaration;
const schema = z
  .object({
    id: z.string(),
    ...shape,
    client_id: z.string().nullable(),
    source: z.enum(['local', 'file']).describe('file: declared in the configuration file'),
    created_at: time,
    updated_at: time,
    last_request_at: time.nullable().describe('At most a minute old'),
  })
  .meta({ id: 'ScimConnection' });
const tokenFields = {
  id: z.string(),
  last_four: z.string(),
  source: z.enum(['local', 'file']),
  created_at: time,
  expires_at: time.nullable(),
  last_used_at: time.nullable(),
};
const tokenSchema = z.object(tokenFields).meta({ id: 'ScimToken' });

export const scimNoun = (scim: ScimAdmin): Resource<ScimConnection> => ({
  names: ['ScimConnection', 'ScimConnections'],
  tag: 'Connections',
  api: '/scim-connections',
  home: '/admin/scim',
  title: t('console.navigation.scim'),
  nameOf: ({ name }) => name,
  declared: { what: 'connection', entryOf: ({ id, source }) => ({ section: 'scim', name: id, source }) },
  read: ['gatehouse.connections:read'],
  write: ['gatehouse.connections:write'],
  keyOf: ({ id }) => id,
  get: (id) => scim.get(id),
  schema,
  json: (connection) => jsonOf(schema, connection, declarationOf(connection)),
  version: declarationOf,
});

const tokenJson = (token: ScimToken) => jsonOf(tokenSchema, token, {});

export const newToken = z.strictObject({
  expires_in_days: z.int().min(1).max(limits.apiKey.maxDays).optional().describe('Absent: until it is revoked'),
});

/** /api/admin/scim-connections. */
export function scimEndpoints(scim: ScimAdmin): Endpoint[] {
  const noun = scimNoun(scim);
  const { list, create, get, update, remove, action, items } = endpointsOf(noun);
  const byToken = byId.extend({ token: z.string().min(1).max(64) });
  return [
    list({
      summary: 'The SCIM connections, by name',
      response: z.object({ items: z.array(schema) }),
      handle: async () => ({ items: (await scim.list()).map(noun.json) }),
    }),
    create({
      summary: 'A new SCIM connection',
      description:
        'Only full administrators. Its client gets in with a token of the connection, or with an access token of `client_id`.',
      body: scimDeclaration,
      run: scim.create,
    }),
    get({ summary: 'One SCIM connection' }),
    update({
      summary: 'Changes the given fields',
      body: changesOf(shape),
      run: async (id, body, by, version) => answerOf(noun, await scim.update(id, defined(body), by, version)),
    }),
    remove({
      summary: 'Deletes the connection and its tokens',
      description:
        'Its people and groups stay, and are managed here from then on. Whom the directory deleted is still deleted 30 days after that, unless enabled.',
      run: scim.remove,
    }),
    items('listScimTokens', '/tokens', {
      summary: 'The tokens of a connection, newest first',
      item: tokenSchema,
      run: async ({ key }) => {
        await scim.get(key);
        return (await scim.tokens(key)).map(tokenJson);
      },
    }),
    action('createScimToken', 'POST /tokens', {
      summary: 'A new token; a connection can have two, the old and the new one',
      body: newToken,
      response: z
        .object({ ...tokenFields, token: z.string().describe('The token; it is in this answer only') })
        .meta({ id: 'NewScimToken' }),
      status: 201,
      run: async ({ key, body, by }) => {
        const { token, text } = await scim.addToken(key, body.expires_in_days, by);
        return { body: { ...tokenJson(token), token: text } };
      },
    }),
    action('revokeScimToken', 'DELETE /tokens/{token}', {
      params: byToken,
      summary: 'Revokes a token: no more requests get in with it',
      status: 204,
      run: async ({ key, params, by }) => void (await scim.revokeToken(key, params.token, by)),
    }),
  ];
}
