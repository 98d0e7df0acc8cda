// Checks the user name or e-mail address with its password, under the limits of the lockout. Whatever is wrong, the
// answer and its time are the same; only the audit log records the reason.
import type { Account } from '../accounts/account.ts';
import type { Accounts } from '../accounts/accounts.ts';
import type { Audit } from '../audit/audit.ts';
import type { RepeatedEntries } from '../audit/repeated-entries.ts';
import type { Credentials } from '../credentials/credentials.ts';
import type { Context } from '../http/context.ts';
import type { Captcha, CaptchaAnswer, CaptchaChallenge, CaptchaWait } from '../rate-limits/captcha.ts';
import type { Lockout } from '../rate-limits/lockout.ts';
import type { KnownBrowserCookie } from './known-browser-cookie.ts';

export type FirstFactorResult =
  /** `setAt`: when this password was set. */
  | { outcome: 'ok'; account: Account; setAt: Date }
  /** `isRepeated`: so often under this login that its owner may want to know about lockouts. */
  | { outcome: 'wrong'; isRepeated: boolean }
  | { outcome: 'captcha'; waiting?: CaptchaWait | undefined }
  | { outcome: 'wait'; retryAfterSeconds: number }
  | { outcome: 'busy'; retryAfterSeconds: number };

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
  repeatedEntries: Pick<RepeatedEntries, 'record'>;
  lockout: Lockout;
  captcha: Captcha;
  browserCookie: Pick<KnownBrowserCookie, 'knownTo'>;
  /** For the metrics. */
  counted(outcome: 'success' | 'failure' | 'throttled'): void;
}

/** Why no password was checked; for the audit log. */
const THROTTLED = { wait: 'too_many_tries', captcha: 'captcha_unsolved', busy: 'too_many_at_once' } as const;
/** Stands for the account id of an unknown login. */
const NO_ACCOUNT = 'none';

export function createFirstFactor(dependencies: FirstFactorDependencies): FirstFactor {
  const { accounts, credentials, audit, repeatedEntries, lockout, captcha, browserCookie, counted } = dependencies;

  async function attemptOf(ctx: Context, login: string) {
    const account = await accounts.findByLogin(login);
    // Looked up for unknown logins too, so that a known one takes no longer.
    const knownBrowser = await browserCookie.knownTo(ctx, account?.id ?? NO_ACCOUNT);
    return { account, attempt: { login, accountId: account?.id, address: ctx.state.request.address, knownBrowser } };
  }

  async function recordThrottled(ctx: Context, reason: keyof typeof THROTTLED): Promise<void> {
    counted('throttled');
    const { request } = ctx.state;
    await repeatedEntries.record({ type: 'sign-in.throttled', outcome: 'failure', reason: THROTTLED[reason], request });
  }

  return {
    async verify(ctx, { username, password, ...answer }) {
      const { request } = ctx.state;
      const { account, attempt } = await attemptOf(ctx, username);
      let waiting: CaptchaWait | undefined;
      const solvesCaptcha = async () => {
        const result = await captcha.check(answer, request.address);
        if (!result.isSolved) waiting = result.waiting;
        return result.isSolved;
      };
      const verdict = await lockout.attempt({ ...attempt, solvesCaptcha }, async (isLocked) => {
        // With more failures under another name of the account, this is the same work as for an unknown one.
        const check = await credentials.checkPassword(isLocked ? undefined : account, password);
        return { check, isLocked, isRight: check.outcome !== 'wrong' };
      });
      if (verdict.outcome !== 'checked') {
        await recordThrottled(ctx, verdict.outcome);
        return verdict.outcome === 'captcha' ? { outcome: 'captcha', waiting } : verdict;
      }
      const { check, isLocked } = verdict.result;
      const about = { type: 'sign-in.password', request, ...(account && { subjectId: account.id }) } as const;
      if (check.outcome === 'wrong' || !account) {
        counted('failure');
        const reason = check.outcome === 'wrong' ? check.reason : 'unknown_account';
        await audit.record({ ...about, outcome: 'failure', reason: isLocked ? 'too_many_tries' : reason });
        return { outcome: 'wrong', isRepeated: await lockout.needsCaptcha(attempt) };
      }
      counted('success');
      await audit.record({ ...about, outcome: 'success', actorId: account.id });
      return { outcome: 'ok', account, setAt: check.setAt };
    },

    async captchaFor(ctx, login, waiting) {
      const { attempt } = await attemptOf(ctx, login);
      return (await lockout.needsCaptcha(attempt)) ? captcha.issue(waiting) : undefined;
    },
  };
}
