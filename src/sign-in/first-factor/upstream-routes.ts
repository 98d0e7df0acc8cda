// The forms and redirects of a sign-in at an upstream: the button of a connection, the address that decides where its user signs
// in, and the way back with the answer, in the browser that began.

import Router from '@koa/router';
import { z } from 'zod';
import { type Context, type Extras, type State, seeOther } from '../../base/http/context.ts';
import { AppError, forbidden, notFound, unauthorized } from '../../base/http/errors.ts';
import { parseForm } from '../../base/http/input.ts';
import { t } from '../../base/texts/text.ts';
import { type Acr, acrLevel, acrOf } from '../../people/mfa/acr.ts';
import type { Attempt, AttemptedStepUp } from '../attempts.ts';
import type { CurrentStep, SignInState } from '../current-step.ts';
import type { SignInFlow, StepContext } from '../flow.ts';
import type { UpstreamDemands, UpstreamResult, UpstreamSignIns } from './upstream.ts';

/** The steps in which a stronger sign-in at the upstream is possible. */
const STEP_UP_STEPS = ['upstream', 'second-factor', 'enrol', 'approval'] as const;
const loginForm = z.object({ username: z.string().max(254) });

export function upstreamRoutes(services: SignInFlow): Router<State, Extras> {
  const { flow, attempts, upstream } = services;
  const router = new Router<State, Extras>({ prefix: '/signin/:uid' });

  const chooseConnection = async (ctx: StepContext, current: CurrentStep) => {
    const connection = ctx.params.connection ?? '';
    if (current.step === 'identify') return sendUpstream(services, ctx, current, connection);
    if (current.stepUp?.connectionId !== connection) throw notFound();
    await sendStepUp(services, ctx, current);
  };
  router.post('/connections/:connection', ...flow.form(['identify', ...STEP_UP_STEPS], chooseConnection));

  const identify = async (ctx: StepContext, current: CurrentStep) => {
    const { username: login } = await parseForm(ctx, loginForm);
    const connection = await upstream.forLogin(login, current.rule);
    if (connection) return sendUpstream(services, ctx, current, connection, login);
    if (!(await upstream.offer(current.rule)).takesPassword) throw forbidden('sign_in_method_not_allowed');
    await attempts.save({ ...current.attempt, login });
    seeOther(ctx, `/signin/${current.attempt.uid}`);
  };
  router.post('/identifier', ...flow.form(['identify'], identify));

  router.get('/upstream/:answer', async (ctx: StepContext) => {
    const current = await flow.expect(ctx, 'identify', ...STEP_UP_STEPS, 'done');
    if (!current) return;
    const { stepUp, uid } = current.attempt;
    if (stepUp) return receiveStepUp(services, ctx, current, stepUp);
    if (current.step === 'identify') return receiveAnswer(services, ctx, current);
    seeOther(ctx, `/signin/${uid}`);
  });

  return router;
}

async function receiveAnswer(services: SignInFlow, ctx: StepContext, current: CurrentStep): Promise<void> {
  const { interactions, invitedId, ownClientId, upstream } = services;
  const { attempt, rule, clientId } = current;
  const { request } = ctx.state;
  const signIn = { uid: attempt.uid, rule, invitedId: await invitedId(ctx), userId: undefined, request };
  const { proven, userId, staleCode } = await upstream.finish(ctx.params.answer ?? '', signIn);
  if (staleCode !== undefined) {
    // The application learns it as from a session that is too old (OIDC Core 3.1.2.6).
    const description = 'the upstream identity provider did not confirm a recent authentication';
    if (clientId !== ownClientId)
      return interactions.answer(ctx, { error: 'login_required', error_description: description });
    const { advice } = new AppError('upstream_not_fresh');
    throw unauthorized('upstream_not_fresh', {
      ...(advice && { advice }),
      message: t('error.upstream-stale', { connection: proven.connectionName }),
      next: { href: `/signin/${attempt.uid}`, label: t('sign-in.another-way') },
      rejectionCode: staleCode,
    });
  }
  await continueWith(services, ctx, current, { proven, userId });
}

/** A stronger sign-in of the same user. What proves less than was requested changes nothing: a factor of this server can follow. */
async function receiveStepUp(
  { flow, attempts, upstream }: SignInFlow,
  ctx: StepContext,
  current: CurrentStep,
  stepUp: AttemptedStepUp,
): Promise<void> {
  const { attempt, rule } = current;
  const { userId, level } = stepUp;
  const signIn = { uid: attempt.uid, rule, invitedId: undefined, userId, request: ctx.state.request };
  const { proven } = await upstream.finish(ctx.params.answer ?? '', signIn);
  const isMet = acrLevel(acrOf(proven.amr)) >= acrLevel(level) && !proven.needsOwnFactor;
  if (isMet) return flow.proceed(ctx, current, { userId, upstream: proven, stepUp: undefined });
  await attempts.save({ ...attempt, stepUp: { ...stepUp, isUnmet: true } });
  seeOther(ctx, `/signin/${attempt.uid}`);
}

/** The next step after an identity was proven: with its account, or the page where that is proven first. */
export async function continueWith(
  { flow, attempts }: SignInFlow,
  ctx: Context,
  current: CurrentStep,
  { proven, userId, amr }: UpstreamResult & Partial<Attempt>,
): Promise<void> {
  if (userId !== undefined) return flow.proceed(ctx, current, { userId, upstream: proven, ...(amr && { amr }) });
  await attempts.save({ ...current.attempt, upstream: proven });
  seeOther(ctx, `/signin/${current.attempt.uid}`);
}

/** Sends the browser to the upstream. `login`: what the user typed, or the request names. */
export async function sendUpstream(
  { attempts, upstream }: SignInState,
  ctx: Context,
  current: CurrentStep,
  connectionId: string,
  login = hintOf(current),
): Promise<void> {
  const { attempt, requestedLevel: level } = current;
  const sent = { wasSentUpstream: true, upstream: undefined, upstreamLevel: level, stepUp: undefined };
  // Before the request, so that a failure leads to the page with the choice and not here again.
  await attempts.save({ ...attempt, ...sent });
  await redirectUpstream(upstream, ctx, current, { connectionId, demands: demandsOf(current, level, login) });
}

/** Sends the browser to the upstream of its session for what the sign-in lacks. What was proven so far stays. */
export async function sendStepUp(
  { attempts, upstream }: SignInState,
  ctx: Context,
  current: CurrentStep,
): Promise<void> {
  const { account, attempt, stepUp } = current;
  if (!account || !stepUp) throw new Error('a step-up without an upstream');
  const { connectionId, level } = stepUp;
  await attempts.save({ ...attempt, upstreamLevel: level, stepUp: { userId: account.id, level } });
  const demands = { ...demandsOf(current, level, hintOf(current)), isStepUp: true };
  await redirectUpstream(upstream, ctx, current, { connectionId, demands });
}

async function redirectUpstream(
  upstream: UpstreamSignIns,
  ctx: Context,
  { attempt: { uid }, rule }: CurrentStep,
  { connectionId, demands }: { connectionId: string; demands: UpstreamDemands },
): Promise<void> {
  const start = await upstream.start(connectionId, { uid, rule, demands, request: ctx.state.request });
  if (start.method === 'post') return ctx.render('form-post', { action: start.url, fields: start.fields });
  seeOther(ctx, start.url);
}

/** The connection that the request itself names; undefined once the browser was sent there. */
export async function namedConnection(upstream: UpstreamSignIns, current: CurrentStep): Promise<string | undefined> {
  const { attempt, interaction, rule } = current;
  if (attempt.wasSentUpstream || attempt.upstream || attempt.choosesOtherAccount) return undefined;
  const { connection } = interaction.params;
  if (typeof connection === 'string' && connection !== '')
    return (await upstream.isDirectory(connection)) ? undefined : connection;
  const login = hintOf(current);
  return login === undefined ? undefined : upstream.forLogin(login, rule);
}

function hintOf({ attempt, interaction: { params } }: CurrentStep): string | undefined {
  if (attempt.choosesOtherAccount) return undefined;
  return typeof params.login_hint === 'string' && params.login_hint !== '' ? params.login_hint : undefined;
}

function demandsOf(
  { interaction }: CurrentStep,
  level: Acr | undefined,
  loginHint: string | undefined,
): UpstreamDemands {
  const { prompt, max_age: maxAge } = interaction.params;
  const prompts = typeof prompt === 'string' ? prompt.split(' ') : [];
  const maxAgeSeconds = maxAge === undefined || maxAge === null || maxAge === '' ? undefined : Number(maxAge);
  return {
    forced: prompts.includes('login') || maxAgeSeconds === 0,
    ...(maxAgeSeconds !== undefined && Number.isFinite(maxAgeSeconds) && { maxAgeSeconds }),
    level,
    loginHint,
  };
}
