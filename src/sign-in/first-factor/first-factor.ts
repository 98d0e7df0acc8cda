// Checks the username or email address with its password, under the limits of the lockout. Whatever is wrong, the
// answer and its time are the same; only the audit log records the reason. Only the right password of a disabled account gets
// an answer of its own, after the same work, and counts as a failure; also one that a directory rejects although it is right.

import type { SignInRule } from '../../applications/rules/sign-in-rule.ts';
import type { Context } from '../../base/http/context.ts';
import { traced } from '../../base/platform/tracing.ts';
import type { Core } from '../../core/core.ts';
import type { Account } from '../../people/accounts/account.ts';
import { NO_ACCOUNT, type PasswordCheck } from '../../people/credentials/check-password.ts';
import type { People } from '../../people/people.ts';
import type { CaptchaAnswer, CaptchaChallenge, CaptchaWait } from '../../people/rate-limits/captcha.ts';
import type { PasswordAttempt } from '../../people/rate-limits/lockout.ts';
import type { KnownBrowserCookie } from '../known-browser-cookie.ts';
import type { ConfirmedUser, DirectorySignIns, DirectoryVerdict, RejectedUser } from './directories.ts';

export type FirstFactorResult =
  /** `setAt`: when this password was set. */
  | { outcome: 'ok'; account: Account; setAt: Date }
  /** A directory confirmed the password; its user may have no account yet. */
  | { outcome: 'directory'; user: ConfirmedUser }
  /** The directory that checks the password of this login cannot be used. */
  | { outcome: 'unavailable'; name: string; retryAfterSeconds: number }
  /** `isRepeated`: so often under this login that its owner may want to know about lockouts. */
  | { outcome: 'wrong'; isRepeated: boolean }
  /** The password is right, and the account is disabled. */
  | { outcome: 'disabled' }
  | RejectedUser
  | { outcome: 'captcha'; waiting?: CaptchaWait | undefined }
  | { outcome: 'wait'; retryAfterSeconds: number }
  | { outcome: 'busy'; retryAfterSeconds: number };

export interface FirstFactorInput extends CaptchaAnswer {
  username: string;
  password: string;
}

/** Whether directories check the password too, and which of them the application accepts. */
type AcceptedDirectories = 'none' | { rule: SignInRule | undefined };

export type FirstFactor = ReturnType<typeof createFirstFactor>;

/** Why no password was checked; for the audit log. */
const THROTTLED = { wait: 'too_many_tries', captcha: 'captcha_unsolved', busy: 'too_many_at_once' } as const;

export function createFirstFactor(
  dependencies: Core &
    People & {
      browserCookie: KnownBrowserCookie;
      directories: Pick<DirectorySignIns, 'check'>;
      /** For the metrics. */
      countAttempt(outcome: 'success' | 'failure' | 'throttled'): void;
    },
) {
  const { lockout, captcha } = dependencies;

  const verify: (ctx: Context, input: FirstFactorInput, accepted: AcceptedDirectories) => Promise<FirstFactorResult> =
    async (ctx, { username, password, ...answer }, accepted) => {
      const found = await findAccount(dependencies, ctx, username);
      let waiting: CaptchaWait | undefined;
      const solvesCaptcha = async () => {
        const result = await captcha.check(answer, ctx.state.request.address);
        if (!result.isSolved) waiting = result.waiting;
        return result.isSolved;
      };
      const verdict = await lockout
        .attempt({ ...found.attempt, solvesCaptcha }, (isLocked) =>
          checkPassword(dependencies, ctx, found, { password, accepted, isLocked }),
        )
        .catch((error: unknown) => {
          if (error instanceof DirectoryUnavailable) return error.verdict;
          throw error;
        });
      if (verdict.outcome === 'unavailable') return verdict;
      if (verdict.outcome === 'checked') return recordChecked(dependencies, ctx, found, verdict.result);
      await recordThrottled(dependencies, ctx, found, verdict.outcome);
      return verdict.outcome === 'captcha' ? { outcome: 'captcha', waiting } : verdict;
    };

  return {
    verify: traced('sign-in first factor', verify, ({ outcome }) => ({ 'gatehouse.outcome': outcome })),

    /** The CAPTCHA that the form for this login must contain, if any. `waiting`: the wait that goes on in its place. */
    async captchaFor(ctx: Context, login: string, waiting?: CaptchaWait): Promise<CaptchaChallenge | undefined> {
      const { attempt } = await findAccount(dependencies, ctx, login);
      return (await lockout.needsCaptcha(attempt)) ? captcha.issue(waiting) : undefined;
    },
  };
}

/** The account of a login, if there is one, and what the lockout counts. */
interface FoundAccount {
  account: Account | undefined;
  attempt: Omit<PasswordAttempt, 'solvesCaptcha'>;
}

async function findAccount(
  { accounts, browserCookie }: People & { browserCookie: KnownBrowserCookie },
  ctx: Context,
  login: string,
): Promise<FoundAccount> {
  const account = await accounts.findByLogin(login);
  // Looked up for unknown logins too, so that a known one takes no longer.
  const knownBrowser = await browserCookie.knownTo(ctx, account?.id ?? NO_ACCOUNT);
  return { account, attempt: { login, accountId: account?.id, address: ctx.state.request.address, knownBrowser } };
}

interface CheckedPassword {
  own: PasswordCheck;
  /** Absent: no directory was asked. */
  directory?: Exclude<DirectoryVerdict, { outcome: 'unavailable' }>;
  isLocked: boolean;
  isRight: boolean;
}

/** The password of this server first; a directory gets one that is wrong here, if it may have such a user. */
async function checkPassword(
  {
    browserCookie,
    credentials,
    directories,
  }: People & { browserCookie: KnownBrowserCookie; directories: Pick<DirectorySignIns, 'check'> },
  ctx: Context,
  { account, attempt: { login } }: FoundAccount,
  { password, accepted, isLocked }: { password: string; accepted: AcceptedDirectories; isLocked: boolean },
): Promise<CheckedPassword> {
  // With more failures under another name of the account, this is the same work as for an unknown one.
  const own = await credentials.checkPassword(isLocked ? undefined : account, password);
  if (own.outcome !== 'wrong' || accepted === 'none') return { own, isLocked, isRight: own.outcome !== 'wrong' };
  const hasPassword = account !== undefined && own.reason !== 'no_password';
  const directory = await directories.check({
    login,
    password,
    account,
    hasPassword,
    isLocked,
    isKnownBrowserOf: async (id) => (await browserCookie.knownTo(ctx, id)) !== undefined,
    rule: accepted.rule,
    request: ctx.state.request,
  });
  // Thrown, because an attempt that nobody has judged does not count.
  if (directory.outcome === 'unavailable') throw new DirectoryUnavailable(directory);
  return { own, directory, isLocked, isRight: directory.outcome === 'right' };
}

/** Counts and records the outcome of a check. For a user of a directory it only counts: the account is found later. */
async function recordChecked(
  {
    audit,
    countAttempt,
    lockout,
  }: Core &
    People & {
      /** For the metrics. */
      countAttempt(outcome: 'success' | 'failure' | 'throttled'): void;
    },
  { state: { request } }: Context,
  { account, attempt }: FoundAccount,
  { own, directory, isLocked }: CheckedPassword,
): Promise<FirstFactorResult> {
  const about = { type: 'sign-in.password', request, ...(account && { subjectId: account.id }) } as const;
  if (directory?.outcome === 'right') {
    countAttempt('success');
    return { outcome: 'directory', user: directory.user };
  }
  if (own.outcome === 'wrong' || !account) {
    countAttempt('failure');
    const ownReason = own.outcome === 'wrong' ? own.reason : 'unknown_account';
    const isDisabled = ownReason === 'disabled_account';
    const reason = isDisabled ? ownReason : (directory?.reason ?? ownReason);
    const data = directory?.connectionId === undefined ? {} : { data: { connection: directory.connectionId } };
    await audit.record({ ...about, ...data, outcome: 'failure', reason: isLocked ? 'too_many_tries' : reason });
    if (directory?.outcome === 'rejected' && !isDisabled && !isLocked) {
      const { outcome, rejection, name, passwordUrl } = directory;
      return { outcome, rejection, name, passwordUrl };
    }
    const isRepeated = await lockout.needsCaptcha(attempt);
    return isDisabled ? { outcome: 'disabled' } : { outcome: 'wrong', isRepeated };
  }
  countAttempt('success');
  await audit.record({ ...about, outcome: 'success', actorId: account.id });
  return { outcome: 'ok', account, setAt: own.setAt };
}

async function recordThrottled(
  {
    countAttempt,
    repeatedEntries,
  }: Core & {
    /** For the metrics. */
    countAttempt(outcome: 'success' | 'failure' | 'throttled'): void;
  },
  { state: { request } }: Context,
  { account }: FoundAccount,
  outcome: keyof typeof THROTTLED,
): Promise<void> {
  countAttempt('throttled');
  const about = { reason: THROTTLED[outcome], request, ...(account && { subjectId: account.id }) };
  await repeatedEntries.record({ type: 'sign-in.throttled', outcome: 'failure', ...about });
}

class DirectoryUnavailable extends Error {
  override name = 'DirectoryUnavailable';
  readonly verdict: Extract<DirectoryVerdict, { outcome: 'unavailable' }>;

  constructor(verdict: Extract<DirectoryVerdict, { outcome: 'unavailable' }>) {
    super(`${verdict.name} cannot be used`);
    this.verdict = verdict;
  }
}
