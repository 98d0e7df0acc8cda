// User name or e-mail and password. Whatever is wrong, the answer and its time are the same; the audit knows more.
import type { Account } from '../accounts/account.ts';
import type { Accounts } from '../accounts/accounts.ts';
import type { Audit } from '../audit/audit.ts';
import type { Credentials } from '../credentials/credentials.ts';
import type { Context } from '../http/context.ts';
import type { Captcha, CaptchaAnswer, CaptchaQuestion, Waiting } from '../rate-limits/captcha.ts';
import type { SignInGuard } from '../rate-limits/sign-in-guard.ts';
import type { Browsers } from './browsers.ts';

export type FirstFactorResult =
  /** `setAt`: when the password had been set. */
  | { outcome: 'ok'; account: Account; setAt: Date }
  | { outcome: 'wrong' }
  | { outcome: 'captcha'; waiting?: Waiting | undefined }
  | { outcome: 'wait'; retryAfterSeconds: number };

export interface FirstFactorInput extends CaptchaAnswer {
  username: string;
  password: string;
}

export interface FirstFactor {
  verify(ctx: Context, input: FirstFactorInput): Promise<FirstFactorResult>;
  /** The CAPTCHA that the form for this login has to hold, if any. `waiting`: what an early answer brought. */
  captchaFor(ctx: Context, login: string, waiting?: Waiting): Promise<CaptchaQuestion | undefined>;
}

export interface FirstFactorNeeds {
  accounts: Pick<Accounts, 'findByLogin'>;
  credentials: Pick<Credentials, 'checkPassword'>;
  audit: Audit;
  guard: SignInGuard;
  captcha: Captcha;
  browsers: Pick<Browsers, 'knownTo'>;
  /** For the metrics. */
  counted(outcome: 'success' | 'failure' | 'throttled'): void;
}

const NOBODY = 'nobody';

export function createFirstFactor(needs: FirstFactorNeeds): FirstFactor {
  const { accounts, credentials, audit, guard, captcha, browsers, counted } = needs;

  async function attemptOf(ctx: Context, login: string) {
    const account = await accounts.findByLogin(login);
    // Looked for under every name, so that a name that exists takes no longer than another.
    const knownBrowser = await browsers.knownTo(ctx, account?.id ?? NOBODY);
    return { account, attempt: { login, address: ctx.state.request.address, knownBrowser } };
  }

  async function refused(ctx: Context, reason: 'too_many_tries' | 'captcha_unsolved'): Promise<void> {
    counted('throttled');
    await audit.record({ type: 'sign-in.throttled', outcome: 'failure', reason, request: ctx.state.request });
  }

  return {
    async verify(ctx, { username, password, ...answer }) {
      const { request } = ctx.state;
      const { account, attempt } = await attemptOf(ctx, username);
      let waiting: Waiting | undefined;
      const verdict = await guard.begin({
        ...attempt,
        async solvesCaptcha() {
          const result = await captcha.check(answer, request.address);
          if (!result.isSolved) waiting = result.waiting;
          return result.isSolved;
        },
      });
      if (verdict.outcome === 'captcha') {
        await refused(ctx, 'captcha_unsolved');
        return { outcome: 'captcha', waiting };
      }
      if (verdict.outcome === 'wait') {
        await refused(ctx, 'too_many_tries');
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
      return { outcome: 'ok', account, setAt: check.setAt };
    },

    async captchaFor(ctx, login, waiting) {
      const { attempt } = await attemptOf(ctx, login);
      return (await guard.wantsCaptcha(attempt)) ? captcha.ask(waiting) : undefined;
    },
  };
}
