// Calls of the admin API with an API key: the key acts for its owner, with the permissions that both have at this moment. Every fault
// gets the response to a wrong token; the log has the reason.

import type { Context } from '../../base/http/context.ts';
import type { Actor } from '../../core/audit/audit.ts';
import type { Account } from '../../people/accounts/account.ts';
import type { ApiKey } from '../../people/api-keys/api-keys.ts';
import { sharedRights } from '../../people/rbac/rights.ts';
import type { AdminServices } from '../admin-services.ts';

export interface KeyCaller {
  key: ApiKey;
  account: Account;
  rights: string[];
  by: Actor;
}

export type KeyCallers = ReturnType<typeof createKeyCallers>;

export function createKeyCallers(services: AdminServices) {
  const { apiKeys, recordKeyUse, accounts, authority, directoryUsers, repeatedEntries } = services;

  async function reject(ctx: Context, reason: string, key?: ApiKey): Promise<undefined> {
    ctx.state.log().info({ reason, keyId: key?.id }, 'API key rejected');
    if (!key) return undefined;
    const { id, name, ownerId } = key;
    const about = { subjectId: ownerId, request: ctx.state.request, data: { keyId: id, name } };
    await repeatedEntries.record({ ...about, type: 'api-key.used', outcome: 'failure', reason });
    return undefined;
  }

  return {
    /** The caller with this key; undefined when it is not valid now. */
    async find(ctx: Context, text: string): Promise<KeyCaller | undefined> {
      const { key, fault } = await apiKeys.present(text);
      if (!key || fault) return reject(ctx, fault ?? 'unknown', key);
      const account = (await directoryUsers.check(key.ownerId)) ? await accounts.find(key.ownerId) : undefined;
      if (!account?.isActive) return reject(ctx, account ? 'disabled_account' : 'unknown_account', key);
      const rights = sharedRights(key.permissions, await authority.rightsOfUser(account.id));
      const by: Actor = {
        actorId: account.id,
        apiKey: { id: key.id, name: key.name },
        grantedRights: rights,
        request: ctx.state.request,
      };
      recordKeyUse(key, by);
      return { key, account, rights, by };
    },
  };
}
