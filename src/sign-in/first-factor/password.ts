// A password sign-in, from the form to the next step: the account, the limits, the check of the password here and at directories, the
// audit entry, and the error for each outcome. Whatever is wrong, the answer and its time are the same; only the audit log records the
// reason. Only the right password of a disabled account gets an answer of its own, after the same work, and counts as a failed
// one; also one that a directory rejects although it is right.

import Router from '@koa/router';
import { z } from 'zod';
import type { Context, Extras, State } from '../../base/http/context.ts';
import { parseForm } from '../../base/http/input.ts';
import { limits } from '../../base/limits.ts';
import { traced } from '../../base/platform/tracing.ts';
import { sentences, t } from '../../base/texts/text.ts';
import type { Account } from '../../people/accounts/account.ts';
import { inactiveText } from '../../people/accounts/active.ts';
import { NO_ACCOUNT } from '../../people/credentials/credentials.ts';
import type { CaptchaAnswer, CaptchaChallenge, CaptchaWait } from '../../people/rate-limits/captcha.ts';
import type { PasswordAttempt } from '../../people/rate-limits/lockout.ts';
import { accountOf, type CurrentStep, type SignInState } from '../current-step.ts';
import { retryAfter, type SignInFlow, type StepContext, StepError, tooManyTries } from '../flow.ts';
import type { ConfirmedUser, DirectoryResult } from './upstream.ts';
import { continueWith } from './upstream-routes.ts';

const signInForm = z.object({
  username: z.string().max(254),
  password: z.string().max(4096),
  altcha: z.string().max(8192).optional(),
  ticket: z.string().max(1024).optional(),
});
const changeForm = z.object({ password: z.string().max(4096) });

export function passwordRoutes(services: SignInFlow): Router<State, Extras> {
  const { flow } = services;
  const router = new Router<State, Extras>({ prefix: '/signin/:uid' });
  router.post('/password', ...flow.form(['identify'], (ctx, current) => signIn(services, ctx, current)));
  router.post(
    '/new-password',
    ...flow.form(['change-password'], (ctx, current) => changePassword(services, ctx, current)),
  );
  return router;
}

/** POST password. */
async function signIn(services: SignInFlow, ctx: StepContext, current: CurrentStep): Promise<void> {
  const form = await parseForm(ctx, signInForm);
  const named = await namedAccount(services, ctx, form.username);
  const result = await checkWithinLimits(services, ctx, current, { ...form, ...named });
  await record(services, ctx, named, result);
  if (result.outcome === 'directory') return continueFromDirectory(services, ctx, current, result.user);
  if (result.outcome !== 'ok') throw await errorOf(services, current, named, result);
  const { account, setAt } = result;
  const amr = [...new Set(['pwd', ...provenBefore(current, account.id)])];
  await services.flow.proceed(ctx, current, { userId: account.id, amr, passwordSetAt: setAt.getTime() });
}

/** The account that the form names, if there is one, and what the lockout counts. */
interface NamedAccount {
  account: Account | undefined;
  attempt: PasswordAttempt;
}

async function namedAccount(
  { accounts, browserCookie }: SignInState,
  ctx: Context,
  login: string,
): Promise<NamedAccount> {
  const account = await accounts.findByLogin(login);
  // Looked up for unknown logins too, so that a known one takes no longer.
  const knownBrowser = await browserCookie.knownTo(ctx, account?.id ?? NO_ACCOUNT);
  return { account, attempt: { login, accountId: account?.id, address: ctx.state.request.address, knownBrowser } };
}

/** `reason` and `connectionId` are for the audit log. */
type Checked =
  /** `setAt`: when this password was set. */
  | { outcome: 'ok'; account: Account; setAt: Date }
  /** A directory confirmed the password; its user may have no account yet. */
  | { outcome: 'directory'; user: ConfirmedUser }
  /** `inactive`: the password is right, and the account cannot be used now. */
  | { outcome: 'wrong' | 'inactive'; reason: string; connectionId?: string | undefined }
  | Extract<DirectoryResult, { outcome: 'rejected' | 'unavailable' }>;

type Throttled =
  | { outcome: 'captcha'; waiting: CaptchaWait | undefined }
  | { outcome: 'wait' | 'busy'; retryAfterSeconds: number };

/** Checks the password when it is the turn of the attempt and its limits allow it. */
const checkWithinLimits = traced(
  'sign-in first factor',
  async (
    services: SignInState,
    ctx: Context,
    current: CurrentStep,
    { account, attempt, password, ...answer }: NamedAccount & CaptchaAnswer & { password: string },
  ): Promise<Checked | Throttled> => {
    let waiting: CaptchaWait | undefined;
    const solvesCaptcha = async () => {
      const result = await services.captcha.check(answer, attempt.address);
      if (!result.isSolved) waiting = result.waiting;
      return result.isSolved;
    };
    const result = await services.lockout.attempt({ ...attempt, solvesCaptcha }, async (isLocked) => {
      const checked = await check(services, ctx, current, { account, login: attempt.login, password, isLocked });
      // What nobody has judged does not count.
      const isRight = checked.outcome === 'unavailable' ? undefined : RIGHT.includes(checked.outcome);
      return { isRight, checked };
    });
    if (result.outcome === 'checked') return result.result.checked;
    return result.outcome === 'captcha' ? { outcome: 'captcha', waiting } : result;
  },
  ({ outcome }) => ({ 'gatehouse.outcome': outcome }),
);

const RIGHT: string[] = ['ok', 'directory'] satisfies Checked['outcome'][];

/** The password of this server first; a directory gets one that is wrong here, if it may have such a user. */
async function check(
  { browserCookie, credentials, directories }: SignInState,
  ctx: Context,
  { attempt: { upstream }, rule }: CurrentStep,
  {
    account,
    login,
    password,
    isLocked,
  }: { account: Account | undefined; login: string; password: string; isLocked: boolean },
): Promise<Checked> {
  // With more failed ones under another name of the account, this is the same work as for an unknown one.
  const own = await credentials.checkPassword(isLocked ? undefined : account, password);
  if (own.outcome !== 'wrong' && account) return { outcome: 'ok', account, setAt: own.setAt };
  const reason = own.outcome === 'wrong' ? own.reason : 'unknown_account';
  const isInactive = 'isInactive' in own;
  // The proof of an account to link takes a password of this server.
  if (upstream?.linkTo !== undefined) return wrong({ reason, isLocked, isInactive });
  const result = await directories.check({
    login,
    password,
    account,
    hasPassword: account !== undefined && reason !== 'no_password',
    isLocked,
    isKnownBrowserOf: async (id) => (await browserCookie.knownTo(ctx, id)) !== undefined,
    rule,
    request: ctx.state.request,
  });
  if (result.outcome === 'right') return { outcome: 'directory', user: result.user };
  if (result.outcome === 'unavailable') return result;
  if (result.outcome === 'rejected' && !isInactive && !isLocked) return result;
  return wrong({ reason, isLocked, isInactive }, result);
}

function wrong(
  { reason, isLocked, isInactive }: { reason: string; isLocked: boolean; isInactive: boolean },
  atDirectory: { reason?: string; connectionId?: string } = {},
): Extract<Checked, { outcome: 'wrong' | 'inactive' }> {
  const { connectionId } = atDirectory;
  if (isLocked) return { outcome: 'wrong', reason: 'too_many_tries', connectionId };
  if (isInactive) return { outcome: 'inactive', reason, connectionId };
  return { outcome: 'wrong', reason: atDirectory.reason ?? reason, connectionId };
}

/** For the audit log and the metrics. The entry of a user of a directory is written when the account is found. */
async function record(
  { audit, metrics, repeatedEntries }: SignInState,
  { state: { request } }: Context,
  { account }: NamedAccount,
  result: Checked | Throttled,
): Promise<void> {
  const count = (outcome: 'success' | 'failure' | 'throttled') => metrics.signIns.inc({ outcome, method: 'password' });
  const about = { request, ...(account && { subjectId: account.id }) };
  switch (result.outcome) {
    case 'unavailable':
      return;
    case 'captcha':
    case 'wait':
    case 'busy': {
      count('throttled');
      const reason = THROTTLED[result.outcome];
      return repeatedEntries.record({ type: 'sign-in.throttled', outcome: 'failure', reason, ...about });
    }
    case 'directory':
      return count('success');
    case 'ok':
      count('success');
      return audit.record({ type: 'sign-in.password', outcome: 'success', actorId: result.account.id, ...about });
    default: {
      count('failure');
      const { reason, connectionId } = result;
      const data = connectionId !== undefined && { data: { connection: connectionId } };
      return audit.record({ type: 'sign-in.password', outcome: 'failure', reason, ...about, ...data });
    }
  }
}

/** Why no password was checked. */
const THROTTLED = { wait: 'too_many_tries', captcha: 'captcha_unsolved', busy: 'too_many_at_once' } as const;

/** What the page says. */
async function errorOf(
  { mailServer, lockout }: SignInState,
  { attempt: { uid } }: CurrentStep,
  { account, attempt }: NamedAccount,
  result: Exclude<Checked | Throttled, { outcome: 'ok' | 'directory' }>,
): Promise<StepError> {
  const unlockLink = { href: `/unlock/ask?signin=${uid}`, label: t('unlock.by-email') };
  switch (result.outcome) {
    case 'wait':
      return tooManyTries(result.retryAfterSeconds, mailServer.isSet() ? { next: unlockLink } : {});
    case 'captcha': {
      const { waiting } = result;
      return tooManyTries(waiting?.waitSeconds ?? limits.captcha.waitSeconds, {
        message: t('sign-in.captcha'),
        waiting,
      });
    }
    case 'busy':
      return new StepError('unavailable', {
        message: t('sign-in.busy'),
        headers: retryAfter(result.retryAfterSeconds),
      });
    case 'unavailable': {
      const message = t('sign-in.directory-unavailable', { directory: result.name });
      return new StepError('upstream_unavailable', { message, headers: retryAfter(result.retryAfterSeconds) });
    }
    case 'inactive':
      return new StepError('account_inactive', { ...(account && { message: inactiveText(account) }) });
    case 'rejected': {
      const { rejection: why, name: directory, passwordUrl } = result;
      const isAboutPassword = why.startsWith('password_');
      const next =
        passwordUrl && isAboutPassword ? { href: passwordUrl, label: t('sign-in.change-at-directory') } : undefined;
      const has = passwordUrl ? 'link' : 'none';
      return new StepError('upstream_not_allowed', {
        message: sentences([
          t('sign-in.directory-rejected', { why, directory }),
          t('sign-in.directory-rejected.advice', { why, directory, has }),
        ]),
        ...(next && { next }),
      });
    }
    case 'wrong': {
      // Wrong ones under another name of the account may have locked it, which no response tells: the link is offered before it helps.
      const isRepeated = await lockout.needsCaptcha(attempt);
      const next = { ...unlockLink, label: t('unlock.locked-out') };
      return new StepError('sign_in_failed', {
        message: t('sign-in.wrong-password'),
        ...(isRepeated && mailServer.isSet() && { next }),
      });
    }
  }
}

async function continueFromDirectory(
  services: SignInFlow,
  ctx: StepContext,
  current: CurrentStep,
  user: ConfirmedUser,
): Promise<void> {
  const signIn = { uid: current.attempt.uid, rule: current.rule, request: ctx.state.request };
  const confirmed = await services.directories.finish(user, { ...signIn, invitedId: await services.invitedId(ctx) });
  await continueWith(services, ctx, current, { ...confirmed, amr: provenBefore(current, confirmed.userId) });
}

/** The password may complete what the same user has proven already. */
function provenBefore({ account, amr }: CurrentStep, userId: string | undefined): string[] {
  return account?.id === userId ? amr : [];
}

/** The CAPTCHA that the form for this login must contain, if any. `waiting`: the wait that goes on in its place. */
export async function captchaFor(
  services: SignInState,
  ctx: Context,
  login: string,
  waiting?: CaptchaWait,
): Promise<CaptchaChallenge | undefined> {
  const { attempt } = await namedAccount(services, ctx, login);
  return (await services.lockout.needsCaptcha(attempt)) ? services.captcha.issue(waiting) : undefined;
}

/** POST new-password: the change that is demanded before the sign-in continues. */
async function changePassword(services: SignInFlow, ctx: StepContext, current: CurrentStep): Promise<void> {
  const { credentials, endSession, flow, mfa, notifyOwner } = services;
  const account = accountOf(current);
  const { password } = await parseForm(ctx, changeForm);
  const by = { actorId: account.id, request: ctx.state.request };
  const result = await credentials.setPassword(account, password, { ...by, event: 'password.changed' });
  if (result !== 'ok') {
    const advice = result.map((fault) => services.credentials.advice(fault, current.amr.includes('mfa')));
    throw new StepError('password_rejected', { message: sentences(advice) });
  }
  await mfa.knownBrowsers.endTrust(account.id);
  const kept = current.interaction.session?.uid;
  await endSession.everywhere(account.id, { ...by, ...(kept && { except: kept }) });
  await notifyOwner(account, 'password-changed', by.request);
  // Setting the password deleted this attempt, as it deletes all that began with the old one; proceed saves it again.
  const passwordSetAt = (await credentials.status(account.id))?.changedAt.getTime();
  await flow.proceed(ctx, current, { passwordSetAt });
}
