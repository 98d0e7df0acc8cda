// User name or e-mail and password. Whatever is wrong, the answer and its time are the same; the audit knows more.
import type { Account } from '../accounts/account.ts';
import type { Accounts } from '../accounts/accounts.ts';
import type { Audit } from '../audit/audit.ts';
import type { Credentials } from '../credentials/credentials.ts';
import type { Context } from '../http/context.ts';
import type { SignInGuard } from '../rate-limits/sign-in-guard.ts';
import type { Browsers } from './browsers.ts';

export type FirstFactorResult =
  | { outcome: 'ok'; account: Account }
  | { outcome: 'wrong' }
  | { outcome: 'wait'; retryAfterSeconds: number };

export interface FirstFactor {
  verify(username: string, password: string, ctx: Context): Promise<FirstFactorResult>;
}

export interface FirstFactorNeeds {
  accounts: Pick<Accounts, 'findByLogin'>;
  credentials: Pick<Credentials, 'checkPassword'>;
  audit: Audit;
  guard: SignInGuard;
  browsers: Pick<Browsers, 'knownTo'>;
  /** For the metrics. */
  counted(outcome: 'success' | 'failure' | 'throttled'): void;
}

export function createFirstFactor({
  accounts,
  credentials,
  audit,
  guard,
  browsers,
  counted,
}: FirstFactorNeeds): FirstFactor {
  return {
    async verify(username, password, ctx) {
      const { request } = ctx.state;
      const account = await accounts.findByLogin(username);
      const knownBrowser = account && (await browsers.knownTo(ctx, account.id));
      const attempt = { login: username, address: request.address, knownBrowser };
      const verdict = await guard.begin(attempt);
      if (verdict.outcome === 'wait') {
        counted('throttled');
        await audit.record({ type: 'sign-in.throttled', outcome: 'failure', reason: 'too_many_tries', request });
        return verdict;
      }
      const check = await credentials.checkPassword(account, password);
      const about = { type: 'sign-in.password', request, ...(account && { subjectId: account.id }) } as const;
      if (check.outcome === 'wrong' || !account) {
        counted('failure');
        const reason = check.outcome === 'wrong' ? check.reason : 'unknown_account';
        await audit.record({ ...about, outcome: 'failure', reason });
        return { outcome: 'wrong' };
      }
      counted('success');
      await guard.succeeded(attempt);
      await audit.record({ ...about, outcome: 'success', actorId: account.id });
      return { outcome: 'ok', account };
    },
  };
}
