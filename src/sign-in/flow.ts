// Moves a sign-in from step to step: finds the current step of this browser, continues after a factor was proven, and
// reports the finished sign-in to the OIDC engine, in one place.

import { accessDecision } from '../applications/access-decision.ts';
import type { Context } from '../base/http/context.ts';
import { badRequest, forbidden } from '../base/http/errors.ts';
import { readForm } from '../base/http/input.ts';
import type { RequestInfo } from '../base/platform/request-info.ts';
import { t } from '../base/texts/text.ts';
import type { Actor } from '../core/audit/audit.ts';
import type { Core } from '../core/core.ts';
import type { Account } from '../people/accounts/account.ts';
import type { People } from '../people/people.ts';
import { TEST_MODE } from '../protocols/oidc/engine/test-response-mode.ts';
import type { Attempt, Attempts } from './attempts.ts';
import type { CurrentStep, Steps } from './current-step.ts';
import { hasOwnFactor, type UpstreamSignIns } from './first-factor/upstream.ts';
import type { Interactions } from './interactions.ts';
import type { KnownBrowserCookie } from './known-browser-cookie.ts';
import type { Step } from './next-step.ts';

/** A request below /signin/:uid. */
export type StepContext = Context & { params: Record<string, string> };

export type Flow = ReturnType<typeof createFlow>;

export interface FlowDependencies {
  steps: Steps;
  attempts: Attempts;
  interactions: Interactions;
  browserCookie: KnownBrowserCookie;
  upstream: UpstreamSignIns;
}

export function createFlow(dependencies: Core & People & FlowDependencies) {
  const { steps, attempts, interactions, upstream } = dependencies;
  const open = (ctx: StepContext) => steps.open(ctx, ctx.params.uid ?? '');
  const redirectToStep = (ctx: Context, { attempt }: CurrentStep) => {
    ctx.status = 303;
    ctx.redirect(`/signin/${attempt.uid}`);
  };

  async function hasGoneOn(ctx: StepContext, current: CurrentStep): Promise<boolean> {
    const { attempt, interaction } = current;
    if (interactions.resumeIfAnswered(ctx, interaction)) return true;
    if (!current.changedSession) return false;
    if (await followsSession(dependencies, ctx, current)) {
      await attempts.remove(attempt.uid);
      await interactions.restart(ctx, interaction);
      return true;
    }
    await interactions.forgetSession(interaction);
    return false;
  }

  return {
    open,
    /**
     * Whether the request has been redirected to the engine: the prompt was answered before, or another tab of this browser has signed in or
     * out, and the engine decides anew.
     */
    hasGoneOn,
    /** Reports the sign-in to the engine. */
    finish: (ctx: Context, current: CurrentStep): Promise<void> => finishSignIn(dependencies, ctx, current),

    /** The current step if it is one of `expected`; otherwise undefined, after a redirect to the page of the step. */
    async expect(ctx: StepContext, ...expected: Step[]): Promise<CurrentStep | undefined> {
      const current = await open(ctx);
      if (await hasGoneOn(ctx, current)) return undefined;
      if (expected.includes(current.step)) return current;
      if (current.step === 'identify' && current.attempt.userId === undefined) {
        // What was proven before is gone with the account or the password.
        ctx.status = 303;
        ctx.redirect(`/signin/${current.attempt.uid}?reset`);
      } else redirectToStep(ctx, current);
      return undefined;
    },

    /** Saves what was proven and continues: to the page of the next step, or to the engine after the last one. */
    async proceed(ctx: Context, current: CurrentStep, changes: Partial<Attempt> = {}): Promise<void> {
      const linking = current.attempt.upstream;
      const isOther =
        linking?.linkTo !== undefined && changes.userId !== undefined && changes.userId !== linking.linkTo;
      if (isOther && !changes.upstream)
        await upstream.rejectOtherAccount(linking, current.attempt.uid, ctx.state.request);
      const before = isOtherUser(current.attempt, changes) ? withoutProofs(current.attempt) : current.attempt;
      const attempt = { ...before, ...changes, ...upstreamAfter(current.attempt, changes) };
      const next = await steps.again(ctx, { ...current, attempt });
      if (isLocalProof(current, changes)) await assertAccepted(dependencies, current, next.account);
      // A finished attempt is removed.
      if (next.step === 'done') return finishSignIn(dependencies, ctx, next);
      if (Object.keys(changes).length > 0) await attempts.save(attempt);
      redirectToStep(ctx, next);
    },
  };
}

/** Whether the session that another tab has changed decides, and not what this tab has proven or is about to prove of another user. */
async function followsSession(
  { accounts }: People,
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

async function finishSignIn(
  dependencies: Core & People & FlowDependencies,
  ctx: Context,
  current: CurrentStep,
): Promise<void> {
  const { account, attempt, acr, amr } = current;
  const {
    attempts,
    audit,
    browserCookie,
    interactions,
    mfa: { firstEnrolment },
  } = dependencies;
  if (!account) throw badRequest('sign_in_expired');
  const { request } = ctx.state;
  await attempts.remove(attempt.uid);
  // Nothing was proven: the session stays as it is, and the application learns its acr.
  if (attempt.userId === undefined) return interactions.answer(ctx, { stepUp: 'unmet' });
  await rejectOldPassword(dependencies, account.id, attempt);
  const about = { actorId: account.id, subjectId: account.id, clientId: openedBy(current, account, request), request };
  const login = await loginOf(dependencies, attempt, account, { acr, amr }, { actorId: account.id, request });
  const data = { acr, amr, ...(attempt.upstream && { connection: attempt.upstream.connectionId }) };
  await audit.record({ type: 'sign-in.completed', outcome: 'success', ...about, data });
  if (amr.includes('mfa') && hasOwnFactor(attempt)) await firstEnrolment.secondFactorProven(account.id);
  await browserCookie.signedIn(ctx, account, { trust: attempt.trustBrowser && amr.includes('mfa') });
  // A new sign-in answers the select_account prompt too.
  await interactions.answer(ctx, { login, select_account: {} });
  // Checked again: a password change ends only the sessions and interactions that are stored at that moment.
  await rejectOldPassword(dependencies, account.id, attempt, () => interactions.withdraw(ctx));
}

/**
 * The application that the sign-in opens. Undefined where the user only signs in to this server: the access rule rejects the user there,
 * which is an event of its own, or an administrator tests the application.
 */
function openedBy(
  { clientId, access, interaction }: CurrentStep,
  account: Account,
  { address }: RequestInfo,
): string | undefined {
  const isTest = interaction.params.response_mode === TEST_MODE;
  return isTest || !accessDecision(access, account, address).allowed ? undefined : clientId;
}

/** Rejects the sign-in if the password was replaced while it was checked or before the last step. */
async function rejectOldPassword(
  { credentials }: People,
  accountId: string,
  { passwordSetAt }: Attempt,
  undo: () => Promise<void> = async () => {},
): Promise<void> {
  if (passwordSetAt === undefined) return;
  const status = await credentials.status(accountId);
  if (status?.changedAt.getTime() === passwordSetAt) return;
  await undo();
  throw badRequest('sign_in_expired');
}

/** What the engine stores in the session; this server adds `upstream` and `authTs` (protocols/oidc/patches/provider/session-auth-time.ts). */
async function loginOf(
  { upstream }: { upstream: UpstreamSignIns },
  attempt: Attempt,
  account: Account,
  { acr, amr }: Pick<CurrentStep, 'acr' | 'amr'>,
  by: Actor,
) {
  const login = { accountId: account.id, acr, amr };
  if (!attempt.upstream) return login;
  const session = await upstream.complete(attempt.upstream, account, attempt.uid, by);
  // A factor of this server was proven now; otherwise the time is that of the upstream.
  return { ...login, upstream: session, ...(!hasOwnFactor(attempt) && { authTs: attempt.upstream.authTime }) };
}

/**
 * Rejects a first factor of this server where the application, or the domain of the account, accepts none. The proof of an
 * account to link is no sign-in here, but only the connection of that domain may ask for it.
 */
async function assertAccepted(
  { upstream }: { upstream: UpstreamSignIns },
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
  return { ...attempt, amr: [], passwordSetAt: undefined, usedRecoveryCode: undefined, trustBrowser: false };
}

/** What stays of the upstream when an account is proven here. */
function upstreamAfter(before: Attempt, { userId, upstream }: Partial<Attempt>): Partial<Attempt> {
  if (upstream || !before.upstream || userId === undefined || userId === before.userId) return {};
  // Another account than the one that was signed in at the upstream.
  if (!before.upstream.linkTo) return { upstream: undefined };
  return {};
}
