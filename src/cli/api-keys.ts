// `gatehouse api-key …`: creates, lists and revokes API keys for the admin API.

import { limits } from '../base/limits.ts';
import { plural } from '../base/platform/plural.ts';
import type { ApiKey } from '../people/api-keys/api-keys.ts';
import type { Services } from '../server/services.ts';
import { type Command, jsonOption, UsageError } from './command.ts';
import { withServices } from './context.ts';
import { formatDate, type Io, plain } from './io.ts';
import { withUser } from './users.ts';

export const apiKeyCreate: Command = {
  name: 'api-key create',
  args: ['LOGIN'],
  summary: 'create an API key of a user for the admin API; prints it once',
  details: `LOGIN is the username or email address of the owner. The key can do what both its permissions and the owner's roles permit at
that moment, but no change that needs a fresh sign-in.`,
  options: {
    name: { type: 'string', value: 'NAME', help: 'what uses the key' },
    permission: { type: 'string', value: 'PERMISSION', multiple: true, help: 'such as gatehouse.users:read' },
    days: { type: 'string', value: 'DAYS', help: `days until it expires (default: ${limits.apiKey.defaultDays})` },
    ...jsonOption,
  },
  run: (input, io) => {
    const [name = '', days] = [input.text('name')?.trim(), input.text('days')];
    if (name === '') throw new UsageError('--name is missing');
    if (name.length > 100) throw new UsageError('--name has at most 100 characters');
    const written = input.texts('permission');
    if (written.length === 0) throw new UsageError('--permission is missing');
    if (days !== undefined && !/^[1-9]\d{0,3}$/.test(days)) throw new UsageError('--days must be a number of days');
    return withUser(input, io, async (owner, services) => {
      const { withGroupIds } = await import('../people/rbac/roles.ts');
      const permissions = await withGroupIds(written, services.db);
      const maxDays = services.settings.latest().api_key_max_days;
      const lifetime = days === undefined ? Math.min(limits.apiKey.defaultDays, maxDays) : Number(days);
      if (lifetime > maxDays) {
        io.err(`An API key is valid for at most ${plural(maxDays, 'day')} (setting api_key_max_days).`);
        return 1;
      }
      const missing = await missingPermission(owner.id, permissions, services);
      if (missing !== undefined) {
        const named = written[permissions.indexOf(missing)] ?? missing;
        io.err(`${plain(owner.username)} doesn't have the permission ${plain(named)} in Gatehouse.`);
        return 1;
      }
      const key = { ownerId: owner.id, name, permissions, days: lifetime };
      const created = await services.apiKeys.create(key, {});
      await services.notifyOwner(owner, 'api-key-created');
      const { id, expiresAt } = created.key;
      if (input.flag('json')) io.json({ id, api_key: created.text, expires_at: expiresAt });
      else {
        io.out(`API key: ${created.text}`);
        io.out(`Copy it now. You won't see it again. It expires at ${expiresAt.toISOString()}.`);
      }
      return 0;
    });
  },
};

export const apiKeyList: Command = {
  name: 'api-key list',
  summary: 'list all valid API keys',
  options: jsonOption,
  run: (input, io) =>
    withServices(io, async ({ db, apiKeys, accounts }) => {
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
      if (input.flag('json')) io.json(keys);
      else printKeys(keys, io);
      return 0;
    }),
};

export const apiKeyRevoke: Command = {
  name: 'api-key revoke',
  args: ['ID'],
  summary: 'revoke an API key; it stops working right away',
  details: 'ID is the 11 characters after gh_ in the key. The command api-key list prints it, too.',
  options: jsonOption,
  run: (input, io) =>
    withServices(io, async ({ apiKeys }) => {
      const [id = ''] = input.words;
      const key = await apiKeys.get(id).catch(() => undefined);
      if (!key) {
        io.err(`There is no API key "${plain(id)}". To see all API keys, run: gatehouse api-key list`);
        return 1;
      }
      const revoked = await apiKeys.revoke(id, {});
      if (input.flag('json')) io.json({ id, revoked });
      else io.out(`The API key ${plain(key.name)} ${revoked ? 'is revoked.' : 'was already revoked.'}`);
      return 0;
    }),
};

function printKeys(keys: readonly (ApiKey & { owner: string })[], io: Io): void {
  const rows = keys.map(({ id, name, owner, permissions, createdAt, lastUsedAt, expiresAt }) => [
    ...[id, name, owner, permissions.join(', ')],
    ...[formatDate(createdAt), lastUsedAt ? formatDate(lastUsedAt) : 'never', formatDate(expiresAt)],
  ]);
  io.table(['ID', 'NAME', 'OWNER', 'PERMISSIONS', 'CREATED', 'LAST USED', 'EXPIRES'], rows);
}

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
