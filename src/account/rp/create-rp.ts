// Puts the relying-party side of Gatehouse's own pages together: their client, their sessions and the routes of sign-in
// and logout.
import type { Provider } from 'oidc-provider';
import type { Cookies } from '../../base/http/cookies.ts';
import type { Csrf } from '../../base/http/csrf.ts';
import type { Clock } from '../../base/platform/clock.ts';
import type { Db } from '../../base/storage/database.ts';
import type { ProtectedRows } from '../../base/storage/protected-rows.ts';
import type { Account } from '../../people/accounts/account.ts';
import type { Accounts } from '../../people/accounts/accounts.ts';
import type { Acr } from '../../people/mfa/acr.ts';
import type { StrongestProof } from '../../people/mfa/step-up.ts';
import type { Sessions } from '../../protocols/oidc/store/sessions/sessions.ts';
import { createFirstPartyClient } from './first-party-client.ts';
import { rpRoutes } from './routes.ts';
import { createRpSessions } from './sessions.ts';
import { createSignedIn } from './signed-in.ts';

export interface RpDependencies {
  db: Db;
  now: Clock;
  issuer: string;
  accounts: Accounts;
  cookies: Cookies;
  csrf: Csrf;
  provider(): Provider;
  sessions: Sessions;
  protectedRows: ProtectedRows;
  /** Whether the directories of the account still have it; its roles follow them. */
  checkDirectories(accountId: string): Promise<boolean>;
  /** The strongest proof that this account can give. */
  strongestProof(account: Account): Promise<StrongestProof>;
  /** The acr that the settings demand of users with a right in Gatehouse; undefined for others. */
  staffAcr(account: Account): Acr | undefined;
}

export type Rp = ReturnType<typeof createRp>;

export function createRp(dependencies: RpDependencies) {
  const { now, issuer, accounts, cookies, csrf, provider, sessions, checkDirectories, strongestProof, staffAcr } =
    dependencies;
  const rpSessions = createRpSessions(dependencies);
  return {
    rpSessions,
    signedIn: createSignedIn({
      cookies,
      rpSessions,
      accounts,
      now,
      strongestProof,
      staffAcr,
      checkDirectories,
      recordActivity: sessions.recordActivity,
    }),
    routers: [
      rpRoutes({
        base: issuer,
        cookies,
        firstPartyClient: createFirstPartyClient({ provider }),
        rpSessions,
        checkCsrf: csrf.check,
      }),
    ],
  };
}
