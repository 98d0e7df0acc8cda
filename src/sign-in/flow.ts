// Moves a sign-in from step to step: finds the current step of this browser, runs the form of a step, continues after a factor was
// proven, and reports the finished sign-in to the OIDC engine, in one place.

import type { RouterMiddleware } from '@koa/router';
import { accessDecision } from '../applications/access-decision.ts';
import { type Context, type Extras, type State, seeOther } from '../base/http/context.ts';
import { AppError, badRequest, type ErrorCode, type ErrorOptions, forbidden } from '../base/http/errors.ts';
import { readForm } from '../base/http/input.ts';
import type { RequestInfo } from '../base/platform/request-info.ts';
import { waitText } from '../base/texts/dates.ts';
import { t } from '../base/texts/text.ts';
import type { Actor } from '../core/audit/audit.ts';
import type { Account } from '../people/accounts/account.ts';
import type { CaptchaWait } from '../people/rate-limits/captcha.ts';
import { TEST_MODE } from '../protocols/oidc/engine/test-response-mode.ts';
import type { Attempt } from './attempts.ts';
import { type CurrentStep, openStep, type SignInState, stepAfter } from './current-step.ts';
import { hasOwnFactor } from './first-factor/upstream.ts';
import type { Step } from './next-step.ts';

/** A request below /signin/:uid. */
export type StepContext = Context & { params: Record<string, string> };

interface StepErrorOptions extends ErrorOptions {
  /** The wait in place of the CAPTCHA that goes on. */
  waiting?: CaptchaWait | undefined;
  /** The second factor whose page is displayed. */
  method?: string;
}

/** An error of a form that its user can correct: the page of the step says it, with the form once more. */
export class StepError extends AppError {
  override name = 'StepError';
  readonly waiting: CaptchaWait | undefined;
  readonly method: string | undefined;

  constructor(code: ErrorCode, options: StepErrorOptions) {
    super(code, options);
    this.waiting = options.waiting;
    this.method = options.method;
  }
}

/** 429. */
export function tooManyTries(seconds: number, options?: StepErrorOptions): StepError {
  const message = t('sign-in.too-many-tries', { time: waitText(seconds) });
  return new StepError('too_many_requests', { message, headers: retryAfter(seconds), ...options });
}

export const retryAfter = (seconds: number) => ({ 'Retry-After': String(seconds) });

export type Flow = ReturnType<typeof createFlow>;

/** What the routes of the steps are created with. */
export type SignInFlow = SignInState & { flow: Flow };

/** `showError` shows the page of the step again. */
export function createFlow(
  services: SignInState,
  showError: (ctx: Context, current: CurrentStep, error: StepError) => Promise<void>,
) {
  const { attempts, csrf, interactions } = services;
  const open = (ctx: StepContext) => openStep(services, ctx, ctx.params.uid ?? '');
  const redirectToStep = (ctx: Context, { attempt }: CurrentStep) => seeOther(ctx, `/signin/${attempt.uid}`);

  async function hasGoneOn(ctx: StepContext, current: CurrentStep): Promise<boolean> {
    const { attempt, interaction } = current;
    if (interactions.resumeIfAnswered(ctx, interaction)) return true;
    if (!current.changedSession) return false;
    if (await followsSession(services, ctx, current)) {
      await attempts.remove(attempt.uid);
      await interactions.restart(ctx, interaction);
      return true;
    }
    await interactions.forgetSession(interaction);
    return false;
  }

  /** The current step if it is one of `expected`; otherwise undefined, after a redirect to the page of the step. */
  async function expect(ctx: StepContext, ...expected: Step[]): Promise<CurrentStep | undefined> {
    const current = await open(ctx);
    if (await hasGoneOn(ctx, current)) return undefined;
    if (expected.includes(current.step)) return current;
    if (current.step === 'identify' && current.attempt.userId === undefined) {
      // What was proven before is gone with the account or the password.
      seeOther(ctx, `/signin/${current.attempt.uid}?reset`);
    } else redirectToStep(ctx, current);
    return undefined;
  }

  return {
    open,
    /**
     * Whether the request has been redirected to the engine: the prompt was answered before, or another tab of this browser has signed in or
     * out, and the engine decides anew.
     */
    hasGoneOn,
    expect,
    /** Reports the sign-in to the engine. */
    finish: (ctx: Context, current: CurrentStep): Promise<void> => finishSignIn(services, ctx, current),

    /** The middlewares of a form of these steps. This is where the outcomes of a form that are errors become pages. */
    form(
      steps: Step[],
      answer: (ctx: StepContext, current: CurrentStep) => Promise<void>,
    ): RouterMiddleware<State, Extras>[] {
      const run = async (ctx: StepContext) => {
        const current = await expect(ctx, ...steps);
        if (!current) return;
        try {
          await answer(ctx, current);
        } catch (error) {
          if (!(error instanceof StepError)) throw error;
          await showError(ctx, current, error);
        }
      };
      return [csrf.check, run];
    },

    /** Saves what was proven and continues: to the page of the next step, or to the engine after the last one. */
    async proceed(ctx: Context, current: CurrentStep, changes: Partial<Attempt> = {}): Promise<void> {
      await assertAccountToLink(services, current, changes, ctx.state.request);
      const before = isOtherUser(current.attempt, changes) ? withoutProofs(current.attempt) : current.attempt;
      const attempt = { ...before, ...changes, ...upstreamAfter(current.attempt, changes) };
      if (changes.userId !== undefined) await services.groupDomains.signedIn(changes.userId, ctx.state.request);
      const next = await stepAfter(services, ctx, current, attempt);
      if (isLocalProof(current, changes)) await assertAccepted(services, current, next.account);
      // A finished attempt is removed.
      if (next.step === 'done') return finishSignIn(services, ctx, next);
      if (Object.keys(changes).length > 0) await attempts.save(attempt);
      redirectToStep(ctx, next);
    },
  };
}

/** Whether the session that another tab has changed decides, and not what this tab has proven or is about to prove of another user. */
async function followsSession(
  { accounts }: SignInState,
  ctx: StepContext,
  { attempt, changedSession, step }: CurrentStep,
): Promise<boolean> {
  if (!changedSession || attempt.choosesOtherAccount || attempt.upstream?.linkTo !== undefined) return false;
  const { accountId } = changedSession;
  if (attempt.userId !== undefined) return attempt.userId === accountId;
  if (ctx.method === 'GET' || step !== 'identify' || accountId === undefined) return true;
  const { username, response } = await readForm(ctx, { lists: 'every field' });
  // A passkey says itself whose it is.
  if (response?.[0]) return false;
  return !username?.[0] || (await accounts.findByLogin(username[0]))?.id === accountId;
}

async function finishSignIn(services: SignInState, ctx: Context, current: CurrentStep): Promise<void> {
  const { account, attempt, acr, amr } = current;
  const { attempts, audit, browserCookie, interactions, sql } = services;
  const { firstEnrolment } = services.mfa;
  if (!account) throw badRequest('sign_in_expired');
  const { request } = ctx.state;
  await attempts.remove(attempt.uid);
  // Nothing was proven: the session stays as it is, and the application learns its acr.
  if (attempt.userId === undefined) return interactions.answer(ctx, { stepUp: 'unmet' });
  const about = { actorId: account.id, subjectId: account.id, clientId: openedBy(current, account, request), request };
  const login = await loginOf(services, attempt, account, current, { actorId: account.id, request });
  const country = services.countries.of(request.address);
  const isNewCountry = country !== undefined && (await isFirstFrom(services, account.id, country));
  const upstream = attempt.upstream && { connection: attempt.upstream.connectionId };
  const data = { acr, amr, ...upstream, ...(country && { country }) };
  await audit.record({ type: 'sign-in.completed', outcome: 'success', ...about, data });
  if (isNewCountry)
    await audit.record({ type: 'sign-in.new-country', outcome: 'success', ...about, data: { country } });
  if (amr.includes('mfa') && hasOwnFactor(attempt)) await firstEnrolment.secondFactorProven(account.id);
  // A new sign-in answers the select_account prompt too.
  await interactions.answer(ctx, { login, select_account: {} });
  const trust = attempt.trustBrowser && amr.includes('mfa');
  await browserCookie.signedIn(ctx, account, { trust });
  await sql.commitWaiting();
  // Checked last: a password change ends the sessions and interactions that are stored at that moment.
  await rejectOldPassword(services, account.id, attempt).catch(async (error: unknown) => {
    await interactions.withdraw(ctx);
    throw error;
  });
}

/** Whether the audit log has sign-ins of the account with a country, but none from this one. The newest is read first, and mostly the only one. */
async function isFirstFrom({ db }: SignInState, subjectId: string, country: string): Promise<boolean> {
  const earlier = (text: string) =>
    db.auditEvent.findFirst({
      where: { subjectId, type: 'sign-in.completed', data: { contains: text } },
      orderBy: { id: 'desc' },
      select: { id: true },
    });
  return !(await earlier(`"country":"${country}"`)) && (await earlier('"country":"')) !== null;
}

/**
 * The application that the sign-in opens. Undefined where the user only signs in to this server: the access rule rejects the user there,
 * which is an event of its own, or an administrator tests the application.
 */
function openedBy(
  { application, clientId, interaction }: CurrentStep,
  account: Account,
  { address }: RequestInfo,
): string | undefined {
  const isTest = interaction.params.response_mode === TEST_MODE;
  return isTest || !accessDecision(application, account, address).allowed ? undefined : clientId;
}

/** Rejects the sign-in if the password was replaced while it was checked or before the last step. */
async function rejectOldPassword(
  { credentials }: SignInState,
  accountId: string,
  { passwordSetAt }: Attempt,
): Promise<void> {
  if (passwordSetAt === undefined) return;
  const status = await credentials.status(accountId);
  if (status?.changedAt.getTime() !== passwordSetAt) throw badRequest('sign_in_expired');
}

/** What the engine stores in the session; this server adds `upstream` and `authTs` (protocols/oidc/patches/provider/session-auth-time.ts). */
async function loginOf(
  services: SignInState,
  attempt: Attempt,
  account: Account,
  { acr, amr }: CurrentStep,
  by: Actor,
) {
  const login = { accountId: account.id, acr, amr };
  if (!attempt.upstream) return login;
  // Before an identity is linked, which outlives the sign-in.
  await rejectOldPassword(services, account.id, attempt);
  const session = await services.upstream.complete(attempt.upstream, account, attempt.uid, by);
  // A factor of this server was proven now; otherwise the time is that of the upstream.
  return { ...login, upstream: session, ...(!hasOwnFactor(attempt) && { authTs: attempt.upstream.authTime }) };
}

/**
 * Rejects a first factor of this server where the application, or the domain of the account, accepts none. The proof of an
 * account to link is no sign-in here, but only the connection of that domain may ask for it.
 */
async function assertAccepted(
  { upstream }: SignInState,
  { rule, attempt }: CurrentStep,
  account: Account | undefined,
): Promise<void> {
  const isLinking = attempt.upstream?.linkTo !== undefined;
  const required = account && (await upstream.requiredConnection(account));
  if (required && !(isLinking && required.id === attempt.upstream?.connectionId)) {
    throw forbidden('sign_in_method_not_allowed', {
      message: t('sign-in.only-with', { connection: required.name }),
      advice: isLinking
        ? t('sign-in.linking-only-with', { connection: required.name })
        : t('sign-in.password-not-used', { connection: required.name }),
      next: {
        href: `/login?connection=${encodeURIComponent(required.id)}`,
        label: t('sign-in.with', { connection: required.name }),
      },
      other: { href: `/signin/${attempt.uid}`, label: t('sign-in.another-way') },
    });
  }
  if (!isLinking && rule?.isLocalAllowed === false) throw forbidden('sign_in_method_not_allowed');
}

/** Rejects the proof of another account here than the one that an identity is to be linked to. */
async function assertAccountToLink(
  services: SignInState,
  { attempt: { uid, upstream } }: CurrentStep,
  { userId, upstream: newUpstream }: Partial<Attempt>,
  request: RequestInfo,
): Promise<void> {
  if (newUpstream || userId === undefined || upstream?.linkTo === undefined || upstream.linkTo === userId) return;
  await services.upstream.rejectOtherAccount(upstream, uid, request);
}

/** Whether the changes are a first factor of this server, also one that follows a sign-in at an upstream. */
function isLocalProof({ step }: CurrentStep, { userId, upstream }: Partial<Attempt>): boolean {
  return step === 'identify' && userId !== undefined && !upstream;
}

/** Whether another user is proven now than the one who has proven something in this attempt. */
function isOtherUser({ userId: before }: Attempt, { userId }: Partial<Attempt>): boolean {
  return before !== undefined && userId !== undefined && userId !== before;
}

/** What one user has proven never counts for another. */
function withoutProofs(attempt: Attempt): Attempt {
  return {
    ...attempt,
    amr: [],
    passwordSetAt: undefined,
    usedRecoveryCode: undefined,
    trustBrowser: false,
  };
}

/** What stays of the upstream when an account is proven here. */
function upstreamAfter(before: Attempt, { userId, upstream }: Partial<Attempt>): Partial<Attempt> {
  // Its identity is linked to the account that is proven here.
  if (!before.upstream || before.upstream.linkTo) return {};
  const isOtherAccount = !upstream && userId !== undefined && userId !== before.userId;
  return isOtherAccount ? { upstream: undefined } : {};
}
