// Checks the user name or e-mail address with its password, under the limits of the lockout. Whatever is wrong, the
// answer and its time are the same; only the audit log records the reason.
import type { Account } from '../accounts/account.ts';
import type { Accounts } from '../accounts/accounts.ts';
import type { Audit } from '../audit/audit.ts';
import type { Credentials } from '../credentials/credentials.ts';
import type { Context } from '../http/context.ts';
import type { Captcha, CaptchaAnswer, CaptchaChallenge, CaptchaWait } from '../rate-limits/captcha.ts';
import type { Lockout } from '../rate-limits/lockout.ts';
import type { KnownBrowserCookie } from './known-browser-cookie.ts';

export type FirstFactorResult =
  /** `setAt`: when this password was set. */
  | { outcome: 'ok'; account: Account; setAt: Date }
  | { outcome: 'wrong' }
  | { outcome: 'captcha'; waiting?: CaptchaWait | undefined }
  | { outcome: 'wait'; retryAfterSeconds: number };

export interface FirstFactorInput extends CaptchaAnswer {
  username: string;
  password: string;
}

export interface FirstFactor {
  verify(ctx: Context, input: FirstFactorInput): Promise<FirstFactorResult>;
  /** The CAPTCHA that the form for this login must contain, if any. `waiting`: the wait that goes on in its place. */
  captchaFor(ctx: Context, login: string, waiting?: CaptchaWait): Promise<CaptchaChallenge | undefined>;
}

export interface FirstFactorDependencies {
  accounts: Pick<Accounts, 'findByLogin'>;
  credentials: Pick<Credentials, 'checkPassword'>;
  audit: Audit;
  lockout: Lockout;
  captcha: Captcha;
  browserCookie: Pick<KnownBrowserCookie, 'knownTo'>;
  /** For the metrics. */
  counted(outcome: 'success' | 'failure' | 'throttled'): void;
}

/** Stands for the account id of an unknown login. */
const NO_ACCOUNT = 'none';

export function createFirstFactor(dependencies: FirstFactorDependencies): FirstFactor {
  const { accounts, credentials, audit, lockout, captcha, browserCookie, counted } = dependencies;

  async function attemptOf(ctx: Context, login: string) {
    const account = await accounts.findByLogin(login);
    // Looked up for unknown logins too, so that a known one takes no longer.
    const knownBrowser = await browserCookie.knownTo(ctx, account?.id ?? NO_ACCOUNT);
    return { account, attempt: { login, address: ctx.state.request.address, knownBrowser } };
  }

  async function recordThrottled(ctx: Context, reason: 'too_many_tries' | 'captcha_unsolved'): Promise<void> {
    counted('throttled');
    await audit.record({ type: 'sign-in.throttled', outcome: 'failure', reason, request: ctx.state.request });
  }

  return {
    async verify(ctx, { username, password, ...answer }) {
      const { request } = ctx.state;
      const { account, attempt } = await attemptOf(ctx, username);
      let waiting: CaptchaWait | undefined;
      const verdict = await lockout.begin({
        ...attempt,
        async solvesCaptcha() {
          const result = await captcha.check(answer, request.address);
          if (!result.isSolved) waiting = result.waiting;
          return result.isSolved;
        },
      });
      if (verdict.outcome === 'captcha') {
        await recordThrottled(ctx, 'captcha_unsolved');
        return { outcome: 'captcha', waiting };
      }
      if (verdict.outcome === 'wait') {
        await recordThrottled(ctx, 'too_many_tries');
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
      await lockout.succeeded(attempt);
      await audit.record({ ...about, outcome: 'success', actorId: account.id });
      return { outcome: 'ok', account, setAt: check.setAt };
    },

    async captchaFor(ctx, login, waiting) {
      const { attempt } = await attemptOf(ctx, login);
      return (await lockout.needsCaptcha(attempt)) ? captcha.issue(waiting) : undefined;
    },
  };
}
