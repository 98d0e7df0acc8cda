// Calls of the admin API with an API key: the key acts for its owner, with the permissions that both have at this moment. Every fault
// gets the response to a wrong token; the log has the reason.

import type { Context } from '../../base/http/context.ts';
import type { Actor } from '../../core/audit/audit.ts';
import type { RepeatedEntries } from '../../core/audit/repeated-entries.ts';
import type { Account } from '../../people/accounts/account.ts';
import type { Accounts } from '../../people/accounts/accounts.ts';
import type { ApiKey, ApiKeys } from '../../people/api-keys/api-keys.ts';
import type { RecordKeyUse } from '../../people/api-keys/key-uses.ts';
import type { Authority } from '../../people/rbac/authority.ts';
import { sharedRights } from '../../people/rbac/rights.ts';

export interface KeyCaller {
  key: ApiKey;
  account: Account;
  rights: string[];
  by: Actor;
}

export type KeyCallers = ReturnType<typeof createKeyCallers>;

export interface KeyCallersDependencies {
  apiKeys: ApiKeys;
  recordKeyUse: RecordKeyUse;
  accounts: Accounts;
  authority: Authority;
  /** False when a directory has just lost the user. */
  checkDirectories(accountId: string): Promise<boolean>;
  repeatedEntries: RepeatedEntries;
}

export function createKeyCallers(dependencies: KeyCallersDependencies) {
  const { apiKeys, recordKeyUse, accounts, authority, checkDirectories, repeatedEntries } = dependencies;

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
      const account = (await checkDirectories(key.ownerId)) ? await accounts.find(key.ownerId) : undefined;
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
