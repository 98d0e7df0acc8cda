// API keys, with which programs call the admin API for their owners: created by administrators for themselves, with no more permissions
// than they have, and revoked. An actor sees and revokes the own keys and those of users whom the actor could change, so none of a user
// with more permissions.

import { z } from 'zod';
import { forbidden, invalidInput, notFound } from '../../base/http/errors.ts';
import { limits } from '../../base/limits.ts';
import { fromTimeCursor, toTimeCursor } from '../../base/storage/cursors.ts';
import { transaction } from '../../base/storage/database.ts';
import { fault, rule } from '../../base/texts/faults.ts';
import { t } from '../../base/texts/text.ts';
import type { Actor } from '../../core/audit/audit.ts';
import type { ApiKey, ApiKeys } from '../../people/api-keys/api-keys.ts';
import { type Change, falseIfForbidden } from '../../people/rbac/authority.ts';
import { ADMIN_ROLE, type OwnPermission, ownPermissions } from '../../people/rbac/built-in.ts';
import { permissionSchema } from '../../people/rbac/names.ts';
import { isOwnPermission } from '../../people/rbac/rights.ts';
import { withGroupIds, withGroupNames } from '../../people/rbac/roles.ts';
import type { AdminServices } from '../admin-services.ts';
import type { Endpoint } from '../api/endpoint.ts';
import type { OnCreated } from '../api/idempotency.ts';
import { id, jsonOf, paged, pageOf, time } from '../api/parts.ts';
import { assertFreshProof } from '../proof/sensitive-changes.ts';
import { createdAnswerOf, endpointsOf, type Resource } from '../resource.ts';

const READ = 'gatehouse.api-keys:read' as const;
const WRITE = 'gatehouse.api-keys:write' as const;

const STATES = ['active', 'stopped', 'expired', 'revoked'] as const;

export interface KeyView extends ApiKey {
  /** Of the owner. */
  username: string;
  /** `stopped`: the account of its owner cannot be used now. */
  state: (typeof STATES)[number];
}

export interface ApiKeyInput {
  name: string;
  permissions: readonly string[];
  /** Until it expires; by default 90, or the longest that the settings allow. */
  days?: number | undefined;
}

/** A new key; `text` is what a program sends, and readable only now. */
export type CreatedKey = { key: KeyView; text: string };

interface KeyQuery {
  state: 'active' | 'ended';
  ownerId?: string | undefined;
  limit: number;
  cursor?: string | undefined;
}

export type ApiKeyAdmin = ReturnType<typeof createApiKeyAdmin>;

type MayAccessKeysOf = (by: Actor, ownerId: string, needs: OwnPermission) => Promise<boolean>;

/** `get` and `revoke` throw not_found for a key that the actor may not see; `create` and `revoke` throw StepUpNeeded. */
export function createApiKeyAdmin(services: AdminServices) {
  const { db, apiKeys, accounts, authority, settings, now } = services;

  const mayAccessKeysOf = createKeyAccess(services);

  async function viewOf(key: ApiKey): Promise<KeyView> {
    const owner = await accounts.find(key.ownerId);
    const valid = owner?.isActive ? 'active' : 'stopped';
    const state = key.revokedAt ? 'revoked' : key.expiresAt <= now() ? 'expired' : valid;
    const permissions = await withGroupNames(key.permissions, db);
    return { ...key, permissions, username: owner?.username ?? '', state };
  }

  async function get(id: string, by: Actor, needs: OwnPermission): Promise<KeyView> {
    const key = await apiKeys.get(id);
    if (!(await mayAccessKeysOf(by, key.ownerId, needs)))
      throw notFound({ message: t('console.api-keys.error.unknown') });
    return viewOf(key);
  }

  const lifetimes = () => {
    const { api_key_max_days: maxDays } = settings.latest();
    return { maxDays, defaultDays: Math.min(limits.apiKey.defaultDays, maxDays) };
  };

  return {
    /** In days: the default, and the longest that the settings allow. */
    lifetimes,
    get: (id: string, by: Actor): Promise<KeyView> => get(id, by, READ),

    async list(query: KeyQuery, by: Actor): Promise<{ keys: KeyView[]; next?: string }> {
      const { keys, next } = await visibleKeys(apiKeys, mayAccessKeysOf, query, by);
      return { keys: await Promise.all(keys.map(viewOf)), ...(next && { next }) };
    },

    /** `onCreated` runs in the transaction. */
    async create(
      input: ApiKeyInput,
      by: Actor,
      onCreated: OnCreated<CreatedKey> = async () => {},
    ): Promise<CreatedKey> {
      const { days = lifetimes().defaultDays } = input;
      assertLifetime(days, lifetimes().maxDays);
      const { key, text } = await createOwn(services, { ...input, days }, by, async (made, tx) =>
        onCreated({ ...made, key: await viewOf(made.key) }, tx),
      );
      return { key: await viewOf(key), text };
    },

    async revoke(id: string, by: Actor): Promise<KeyView> {
      const key = await get(id, by, WRITE);
      // With a stolen session nobody stops the programs of others; the own ones their owner may stop at once.
      if (key.ownerId !== by.actorId) assertFreshProof(by, 'api-key.revoke', key.name);
      await apiKeys.revoke(id, by);
      return get(id, by, WRITE);
    },

    /** What a key of the actor can contain. */
    async grantable(by: Actor): Promise<string[]> {
      const rights = by.grantedRights ?? (by.actorId === undefined ? [] : await authority.rightsOfUser(by.actorId));
      return rights === 'everything' ? [...ownPermissions] : withGroupNames(rights.filter(isOwnPermission).sort(), db);
    },
  };
}

/** Whether the actor may see or revoke the keys of a user, as `needs` says. */
function createKeyAccess({ accounts, authority }: AdminServices): MayAccessKeysOf {
  return async (by, ownerId, needs) => {
    if (by.actorId === ownerId) return true;
    // The permissions of an account that another program changed are unknown, so its keys need all that the role of administrators gives.
    const change: Change = (await accounts.find(ownerId))
      ? { what: 'user', id: ownerId, needs: [needs] }
      : { what: 'role', role: { name: ADMIN_ROLE, permissions: [] } };
    return authority.assertMay(by, change).then(() => true, falseIfForbidden);
  };
}

/** A new key of the actor. The owner is notified, as of every change of credentials. */
async function createOwn(
  { db, apiKeys, accounts, authority, notifyOwner }: AdminServices,
  { name, permissions: written, days }: ApiKeyInput & { days: number },
  by: Actor,
  onCreated: OnCreated<{ key: ApiKey; text: string }>,
): Promise<{ key: ApiKey; text: string }> {
  const owner = by.actorId === undefined ? undefined : await accounts.find(by.actorId);
  if (!owner) throw forbidden('forbidden', { message: t('console.api-keys.error.no-owner') });
  const permissions = await withGroupIds(written, db).catch(async (error: unknown) => {
    // First, so that only who has the permission without a limit finds out which groups there are.
    await authority.assertMay(by, { what: 'permissions', permissions: written });
    throw error;
  });
  await authority.assertMay(by, { what: 'permissions', permissions });
  assertFreshProof(by, 'api-key.create', name);
  const created = await transaction(db, async (tx) => {
    const made = await apiKeys.create({ ownerId: owner.id, name, permissions, days }, by, tx);
    await onCreated(made, tx);
    return made;
  });
  await notifyOwner(owner, 'api-key-created', by.request);
  return created;
}

/** The keys after the cursor that the actor may see, at most `limit`. */
async function visibleKeys(
  apiKeys: ApiKeys,
  mayAccessKeysOf: MayAccessKeysOf,
  { limit, cursor, ...query }: KeyQuery,
  by: Actor,
): Promise<{ keys: ApiKey[]; next?: string }> {
  const seen = new Map<string, boolean>();
  const keys: ApiKey[] = [];
  const place = fromTimeCursor(cursor);
  let after = place && { createdAt: place.at, id: place.id };
  for (;;) {
    const page = await apiKeys.list({ ...query, after, limit: limits.api.maxPageSize });
    for (const key of page) {
      const isVisible = seen.get(key.ownerId) ?? (await mayAccessKeysOf(by, key.ownerId, READ));
      seen.set(key.ownerId, isVisible);
      if (!isVisible) continue;
      const last = keys.at(-1);
      if (last && keys.length === limit) return { keys, next: toTimeCursor(last.createdAt, last.id) };
      keys.push(key);
    }
    after = page.at(-1);
    if (page.length < limits.api.maxPageSize) return { keys };
  }
}

function assertLifetime(days: number, maxDays: number): void {
  if (Number.isInteger(days) && days >= 1 && days <= maxDays) return;
  throw invalidInput([fault(['expires_in_days'], 'api-key-days', { days: maxDays })]);
}

const fields = {
  id: z.string(),
  name: z.string(),
  owner: z.object({ id: z.string(), username: z.string() }),
  permissions: z.array(z.string()).describe('What it may do is what its owner has of them at each call'),
  last_four: z.string().describe('Of the key, to recognize it'),
  state: z.enum(STATES).describe('stopped: the account of its owner cannot be used now'),
  created_by: z.string().nullable().describe('Id of the account; null: the command line'),
  created_at: time,
  expires_at: time,
  revoked_at: time.nullable(),
  last_used_at: time.nullable().describe('At most an hour old'),
};
const schema = z.object(fields).meta({ id: 'ApiKey' });

export const apiKeyNoun = (apiKeys: ApiKeyAdmin): Resource<KeyView> => ({
  names: ['ApiKey', 'ApiKeys'],
  tag: 'API keys',
  api: '/api-keys',
  home: '/admin/api-keys',
  title: t('console.navigation.api-keys'),
  nameOf: ({ name }) => name,
  read: [READ],
  write: [WRITE],
  keyOf: (key) => key.id,
  get: apiKeys.get,
  schema,
  json: (key) => jsonOf(schema, key, { owner: { id: key.ownerId, username: key.username } }),
});

/** A new key. */
export const newKey = z.strictObject({
  name: z.string().trim().min(1).max(100),
  permissions: z
    .array(z.string().refine(isOwnPermission, rule('gatehouse-permission')).meta(permissionSchema))
    .min(1, rule('choose-permission'))
    .max(100),
  expires_in_days: z
    .int()
    .min(1)
    .max(limits.apiKey.maxDays)
    .optional()
    .describe('At most the setting api_key_max_days; 90 by default'),
});

/** /api/admin/api-keys. */
export function apiKeyEndpoints(apiKeys: ApiKeyAdmin): Endpoint[] {
  const noun = apiKeyNoun(apiKeys);
  const { list, create, get, remove } = endpointsOf(noun);
  return [
    list({
      summary: 'The API keys, newest first',
      description:
        'The keys of the caller and of users with no more permissions. Expired and revoked ones are listed for 30 days after their end.',
      query: z.object({
        ...paged,
        state: z.enum(['active', 'ended']).default('active').describe('active: with those that are stopped'),
        owner: id.optional().describe('Id of the account'),
      }),
      response: pageOf(schema),
      async handle({ owner, ...query }, by) {
        const { keys, next = null } = await apiKeys.list({ ...query, ownerId: owner }, by);
        return { items: keys.map(noun.json), next };
      },
    }),
    create({
      summary: 'A new API key of the user who calls',
      description:
        'It contains only permissions that the caller has. A call with an API key, or without a user, creates none. The owner is notified by email.',
      body: newKey,
      response: z
        .object({ ...fields, api_key: z.string().describe('The key; it is in this answer only') })
        .meta({ id: 'NewApiKey' }),
      run: ({ expires_in_days: days, ...body }, by, onCreated) => apiKeys.create({ ...body, days }, by, onCreated),
      answer: ({ key, text }: CreatedKey) => createdAnswerOf(noun, key, { api_key: text }),
    }),
    get({ summary: 'One API key' }),
    remove({ verb: 'revoke', summary: 'Revokes the key: its next call is rejected', run: apiKeys.revoke }),
  ];
}
