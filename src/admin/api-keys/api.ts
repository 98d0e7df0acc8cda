// /api/admin/api-keys: keys with which programs call this API for their owners.
import { z } from 'zod';
import { limits } from '../../base/limits.ts';
import { permissionSchema } from '../../people/rbac/names.ts';
import { isOwnPermission } from '../../people/rbac/rights.ts';
import { type Endpoint, endpoint } from '../api/endpoint.ts';
import { byId, id, iso, paged, pageOf, time } from '../api/parts.ts';
import type { ApiKeyAdmin, CreatedKey, KeyView } from './actions.ts';

const tag = 'API keys';
const { maxDays: MAX_DAYS } = limits.apiKey;
const READ = ['gatehouse.api-keys:read'] as const;
const WRITE = ['gatehouse.api-keys:write'] as const;

const fields = {
  id: z.string(),
  name: z.string(),
  owner: z.object({ id: z.string(), username: z.string() }),
  permissions: z.array(z.string()).describe('What it may do is what its owner has of them at each call'),
  last_four: z.string().describe('Of the key, to recognize it'),
  state: z.enum(['active', 'expired', 'revoked']),
  created_by: z.string().nullable().describe('Id of the account; null: the command line'),
  created_at: time,
  expires_at: time,
  revoked_at: time.nullable(),
  last_used_at: time.nullable().describe('At most an hour old'),
};
const apiKey = z.object(fields).meta({ id: 'ApiKey' });
const newApiKey = z
  .object({ ...fields, api_key: z.string().describe('The key; it is in this answer only') })
  .meta({ id: 'NewApiKey' });

/** /api-keys. */
export function apiKeyEndpoints(apiKeys: ApiKeyAdmin): Endpoint[] {
  return [
    endpoint({
      method: 'get',
      path: '/api-keys',
      operationId: 'listApiKeys',
      tag,
      needs: READ,
      summary: 'The API keys, newest first',
      description:
        'The keys of the caller and of users with no more permissions. Expired and revoked ones are listed for 30 days after their end.',
      query: z.object({
        ...paged,
        state: z.enum(['active', 'ended']).default('active'),
        owner: id.optional().describe('Id of the account'),
      }),
      response: pageOf(apiKey),
      async handle({ query: { owner, ...query }, by }) {
        const { keys, next = null } = await apiKeys.list({ ...query, ownerId: owner }, by);
        return { body: { items: keys.map(keyJson), next } };
      },
    }),
    endpoint({
      method: 'post',
      path: '/api-keys',
      operationId: 'createApiKey',
      tag,
      needs: WRITE,
      summary: 'A new API key of the user who calls',
      description:
        'It contains only permissions that the caller has. A call with an API key, or without a user, creates none. The owner is notified by email.',
      body: z.strictObject({
        name: z.string().trim().min(1).max(100),
        permissions: z
          .array(z.string().refine(isOwnPermission, 'must be a permission in Gatehouse').meta(permissionSchema))
          .min(1)
          .max(100),
        expires_in_days: z
          .int()
          .min(1)
          .max(MAX_DAYS)
          .optional()
          .describe('At most the setting api_key_max_days; 90 by default'),
      }),
      response: newApiKey,
      status: 201,
      idempotent: true,
      async handle({ body: { expires_in_days: days, ...body }, by, record }) {
        const input = { ...body, days };
        return created(await apiKeys.create(input, by, (made, tx) => record(created(made), tx)));
      },
    }),
    ...singleKeyEndpoints(apiKeys),
  ];
}

/** /api-keys/{id}. */
function singleKeyEndpoints(apiKeys: ApiKeyAdmin): Endpoint[] {
  return [
    endpoint({
      method: 'get',
      path: '/api-keys/{id}',
      operationId: 'getApiKey',
      tag,
      needs: READ,
      summary: 'One API key',
      params: byId,
      response: apiKey,
      handle: async ({ params, by }) => ({ body: keyJson(await apiKeys.get(params.id, by)) }),
    }),
    endpoint({
      method: 'delete',
      path: '/api-keys/{id}',
      operationId: 'revokeApiKey',
      tag,
      needs: WRITE,
      summary: 'Revokes the key: its next call is rejected',
      params: byId,
      status: 204,
      handle: async ({ params, by }) => void (await apiKeys.revoke(params.id, by)),
    }),
  ];
}

function created({ key, text }: CreatedKey) {
  return { body: { ...keyJson(key), api_key: text }, location: `/api-keys/${key.id}` };
}

function keyJson(key: KeyView) {
  const { id, name, permissions, lastFour, state, createdBy } = key;
  return {
    id,
    name,
    owner: { id: key.ownerId, username: key.username },
    permissions: [...permissions],
    last_four: lastFour,
    state,
    created_by: createdBy,
    created_at: iso(key.createdAt),
    expires_at: iso(key.expiresAt),
    revoked_at: iso(key.revokedAt),
    last_used_at: iso(key.lastUsedAt),
  };
}
