// Builds /api/admin from the endpoints of all nouns, and the documents that describe it.

import type { Clock } from '../base/platform/clock.ts';
import type { Vault } from '../base/platform/vault.ts';
import type { Db } from '../base/storage/database.ts';
import type { RepeatedEntries } from '../core/audit/repeated-entries.ts';
import type { Account } from '../people/accounts/account.ts';
import type { Accounts } from '../people/accounts/accounts.ts';
import type { ApiKeys } from '../people/api-keys/api-keys.ts';
import type { RecordKeyUse } from '../people/api-keys/key-uses.ts';
import type { Acr } from '../people/mfa/acr.ts';
import type { StrongestProof } from '../people/mfa/step-up.ts';
import type { RateLimits } from '../people/rate-limits/rate-limits.ts';
import type { Authority } from '../people/rbac/authority.ts';
import { adminApi } from '../people/rbac/built-in.ts';
import type { ApiTokens } from '../protocols/oidc/store/api-access-tokens.ts';
import { createCallers } from './api/caller.ts';
import { documentRoutes } from './api/documents.ts';
import type { Endpoint } from './api/endpoint.ts';
import { createIdempotency } from './api/idempotency.ts';
import { createKeyCallers } from './api/key-callers.ts';
import { apiRouter } from './api/router.ts';

export interface AdminApiDependencies {
  /** Those of administration and of diagnostics, in the order in which the documents list them. */
  endpoints: readonly Endpoint[];
  issuer: string;
  /** Of this server, for the OpenAPI document. */
  version: string;
  db: Db;
  now: Clock;
  vault: Vault;
  accounts: Accounts;
  authority: Authority;
  /** False when a directory has just lost the user. */
  checkDirectories(accountId: string): Promise<boolean>;
  rateLimits: RateLimits;
  tokens: ApiTokens;
  apiKeys: ApiKeys;
  recordKeyUse: RecordKeyUse;
  repeatedEntries: RepeatedEntries;
  /** The strongest proof that this account can give. */
  strongestProof(account: Account): Promise<StrongestProof>;
  /** The acr that the settings demand of users with a right in Gatehouse; undefined for others. */
  staffAcr(account: Account): Acr | undefined;
}

/** The routers of the API and of its documents. */
export function createAdminApi(dependencies: AdminApiDependencies) {
  const { endpoints, issuer, version, db, now, vault, accounts, authority, rateLimits, tokens } = dependencies;
  const { apiKeys, recordKeyUse, checkDirectories, repeatedEntries, strongestProof, staffAcr } = dependencies;
  const callers = createCallers({
    tokens,
    keyCallers: createKeyCallers({ apiKeys, recordKeyUse, accounts, authority, checkDirectories, repeatedEntries }),
    accounts,
    authority,
    checkDirectories,
    rateLimits,
    now,
    strongestProof,
    staffAcr,
    audience: adminApi(issuer),
  });
  return {
    routers: [
      apiRouter({ endpoints, callers, idempotency: createIdempotency({ db, vault, now }) }),
      documentRoutes(endpoints, { issuer, version }),
    ],
  };
}
