// The person behind a request or token, for the engine: with the claims that this application is shown, or nobody when
// the account is disabled, or may not open the application any more (seed 2.5). What is still held then ends here, at the
// next refresh at the latest.

import type { Account } from '../accounts/account.ts';
import type { Accounts } from '../accounts/accounts.ts';
import { claimsFor, fieldValue } from '../accounts/claims.ts';
import { seenBy } from '../accounts/view.ts';
import type { Audit } from '../audit/audit.ts';
import type { Permissions } from '../rbac/permissions.ts';
import type { ApplicationFacts, ClientSource } from './clients.ts';
import type { FindAccount } from './library.ts';
import { OWN_CLAIMS } from './own-claims.ts';
import { outer } from './pages.ts';
import type { Sessions } from './sessions.ts';

export interface FindAccountNeeds {
  accounts: Pick<Accounts, 'find'>;
  clients: Pick<ClientSource, 'facts'>;
  permissions: Pick<Permissions, 'accessAllowed'>;
  sessions: Pick<Sessions, 'removeGrants'>;
  audit: Audit;
}

/** oidc-provider's `findAccount`. */
export function createFindAccount({ accounts, clients, permissions, sessions, audit }: FindAccountNeeds): FindAccount {
  return async function findAccount(ctx, id, token) {
    const account = await accounts.find(id);
    if (!account?.isActive) return undefined;
    const clientId = token?.clientId ?? ctx.oidc.client?.clientId;
    const facts = clientId === undefined ? undefined : await clients.facts(clientId);
    // A token's application only: whoever asks for a new one gets a page that explains (prompts.ts).
    if (token?.clientId && !(facts && (await mayOpen(facts, id)))) {
      if (ctx.oidc.route === 'token') await takeBack(id, token.clientId, outer(ctx).state.request);
      return undefined;
    }
    return { accountId: id, claims: async () => ({ ...claimsOf(account, facts), sub: id }) };
  };

  async function mayOpen(facts: ApplicationFacts, accountId: string): Promise<boolean> {
    return facts.access === 'everyone' || permissions.accessAllowed(facts.id, accountId);
  }

  async function takeBack(accountId: string, clientId: string, request: Parameters<Audit['record']>[0]['request']) {
    await sessions.removeGrants(accountId, clientId);
    await audit.record({
      type: 'token.revoked',
      outcome: 'success',
      reason: 'access_lost',
      subjectId: accountId,
      clientId,
      ...(request && { request }),
    });
  }
}

/** Every claim that scopes can ask for, and those of the application's own, which go by no scope. */
export function claimsOf(account: Account, facts: Pick<ApplicationFacts, 'metadata'> | undefined) {
  const { claims: own, ...view } = facts?.metadata ?? {};
  const seen = seenBy(account, view);
  if (!own) return claimsFor(seen);
  const values = Object.entries(own).map(([claim, field]) => [claim, fieldValue(seen, field)] as const);
  const present = values.filter(([, value]) => value !== null && value !== undefined);
  return { ...claimsFor(seen), [OWN_CLAIMS]: Object.fromEntries(present) };
}
