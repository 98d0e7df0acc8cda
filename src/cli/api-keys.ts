// `gatehouse api-key …`: creates, lists and revokes API keys for the admin API.

import { limits } from '../base/limits.ts';
import { plural } from '../base/platform/plural.ts';
import type { ApiKey } from '../people/api-keys/api-keys.ts';
import type { Services } from '../server/services.ts';
import { type Commands, fail, noSuch, UsageError } from './command.ts';
import { formatDate, secretLines } from './io.ts';
import { userOf } from './users.ts';

export const apiKeyCommands: Commands = {
  'api-key create': {
    args: ['LOGIN'],
    summary: 'create an API key of a user for the admin API; prints it once',
    details: `LOGIN is the username or email address of the owner. The key can do what both its permissions and the owner's roles permit at
that moment, but no change that needs a fresh sign-in.`,
    options: {
      name: { type: 'string', value: 'NAME', help: 'what uses the key' },
      permission: { type: 'string', value: 'PERMISSION', multiple: true, help: 'such as gatehouse.users:read' },
      days: { type: 'string', value: 'DAYS', help: `days until it expires (default: ${limits.apiKey.defaultDays})` },
    },
    async act(services, input) {
      const [name = '', days] = [input.text('name')?.trim(), input.text('days')];
      if (name === '') throw new UsageError('--name is missing');
      if (name.length > 100) throw new UsageError('--name has at most 100 characters');
      const written = input.texts('permission');
      if (written.length === 0) throw new UsageError('--permission is missing');
      if (days !== undefined && !/^[1-9]\d{0,3}$/.test(days)) throw new UsageError('--days must be a number of days');
      const owner = await userOf(services, input);
      const { withGroupIds } = await import('../people/rbac/roles.ts');
      const permissions = await withGroupIds(written, services.db);
      const maxDays = services.settings.latest().api_key_max_days;
      const lifetime = days === undefined ? Math.min(limits.apiKey.defaultDays, maxDays) : Number(days);
      if (lifetime > maxDays)
        fail(`An API key is valid for at most ${plural(maxDays, 'day')} (setting api_key_max_days).`);
      const missing = await missingPermission(owner.id, permissions, services);
      if (missing !== undefined) {
        const named = written[permissions.indexOf(missing)] ?? missing;
        fail(`${owner.username} doesn't have the permission ${named} in Gatehouse.`);
      }
      const key = { ownerId: owner.id, name, permissions, days: lifetime };
      const created = await services.apiKeys.create(key, {});
      await services.notifyOwner(owner, 'api-key-created');
      const { id, expiresAt } = created.key;
      return {
        json: { id, api_key: created.text, expires_at: expiresAt },
        text: secretLines('API key', created.text, `It expires at ${expiresAt.toISOString()}.`),
      };
    },
  },

  'api-key list': {
    summary: 'list all valid API keys',
    async act({ db, apiKeys, accounts }) {
      const { withGroupNames } = await import('../people/rbac/roles.ts');
      const keys: (ApiKey & { owner: string })[] = [];
      let page: ApiKey[];
      do {
        page = await apiKeys.list({ state: 'active', after: keys.at(-1), limit: limits.api.maxPageSize });
        for (const key of page) {
          const permissions = await withGroupNames(key.permissions, db);
          keys.push({ ...key, permissions, owner: (await accounts.find(key.ownerId))?.username ?? key.ownerId });
        }
      } while (page.length === limits.api.maxPageSize);
      const rows = keys.map(({ id, name, owner, permissions, createdAt, lastUsedAt, expiresAt }) => [
        ...[id, name, owner, permissions.join(', ')],
        ...[formatDate(createdAt), lastUsedAt ? formatDate(lastUsedAt) : 'never', formatDate(expiresAt)],
      ]);
      return { json: keys, table: [['ID', 'NAME', 'OWNER', 'PERMISSIONS', 'CREATED', 'LAST USED', 'EXPIRES'], rows] };
    },
  },

  'api-key revoke': {
    args: ['ID'],
    summary: 'revoke an API key; it stops working right away',
    details: 'ID is the 11 characters after gh_ in the key. The command api-key list prints it, too.',
    async act({ apiKeys }, { words: [id = ''] }) {
      const key = (await apiKeys.get(id).catch(() => undefined)) ?? noSuch('API key', 'api-key', id);
      const revoked = await apiKeys.revoke(id, {});
      return {
        json: { id, revoked },
        text: `The API key ${key.name} ${revoked ? 'is revoked.' : 'was already revoked.'}`,
      };
    },
  },
};

/** Of these permissions the first that is none in Gatehouse, or that the owner does not have. */
async function missingPermission(
  ownerId: string,
  permissions: readonly string[],
  { accounts }: Services,
): Promise<string | undefined> {
  const [{ createAuthority }, { includesPermission, isOwnPermission }] = await Promise.all([
    import('../people/rbac/authority.ts'),
    import('../people/rbac/rights.ts'),
  ]);
  const rights = await createAuthority({ accounts }).rightsOfUser(ownerId);
  return permissions.find((one) => !isOwnPermission(one) || !includesPermission(rights, one));
}
