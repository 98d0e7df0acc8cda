// Puts the sign-in pages together: which steps there are, the pages that show them, and the forms that answer them.

import Router from '@koa/router';
import { z } from 'zod';
import type { Context, Extras, State } from '../base/http/context.ts';
import { AppError, badRequest } from '../base/http/errors.ts';
import { parseForm } from '../base/http/input.ts';
import { sentences } from '../base/texts/text.ts';
import { attributesTyped, fieldFault, personForm, schemaToAsk } from '../people/accounts/person-fields.ts';
import type { ChosenGroup } from '../protocols/oidc/claims/chosen-group.ts';
import { consentedSince } from '../protocols/oidc/registration.ts';
import { createAttempts } from './attempts.ts';
import { isSameClient, requestedGrant } from './consent-description.ts';
import { accountOf, type CurrentStep } from './current-step.ts';
import { passwordRoutes } from './first-factor/password.ts';
import { namedConnection, sendStepUp, sendUpstream, upstreamRoutes } from './first-factor/upstream-routes.ts';
import { createFlow, type SignInFlow, type StepContext, StepError } from './flow.ts';
import { createInteractions, recallSignIn } from './interactions.ts';
import { createKnownBrowserCookie } from './known-browser-cookie.ts';
import { enrolmentRoutes, secondFactorRoutes } from './second-factor/routes.ts';
import type { SignInServices } from './services.ts';
import { createStepPages, type StepPages } from './step-pages.ts';

/** The routers below /signin/:uid. */
export function createSignIn(services: SignInServices) {
  const state = {
    ...services,
    attempts: createAttempts(services),
    interactions: createInteractions(services),
    browserCookie: createKnownBrowserCookie(services),
  };
  const pages = createStepPages(state);
  const made = { ...state, pages, flow: createFlow(state, pages.showError) };
  const routers = [
    dispatchRoutes(made),
    upstreamRoutes(made),
    passwordRoutes(made),
    decisionRoutes(made),
    secondFactorRoutes(made),
    enrolmentRoutes(made),
  ];
  for (const router of routers) {
    // Before any check: error pages have the brand of the application too, and the language that it requests.
    router.param('uid', (uid, ctx, next) => {
      recallSignIn(services.cookies, ctx, uid);
      return next();
    });
  }
  return { routers };
}

const termsForm = z.object({ version: z.string().min(1).max(100) });
const groupForm = z.object({ group: z.string().min(1).max(100) });
const decisionForm = z.object({ decision: z.enum(['allow', 'deny', 'other', 'continue']) });

function decisionRoutes(services: SignInFlow): Router<State, Extras> {
  const { accounts, attempts, audit, clients, consents, flow, interactions, settings } = services;
  const router = new Router<State, Extras>({ prefix: '/signin/:uid' });

  const chooseAccount = async (ctx: StepContext, current: CurrentStep) => {
    const { decision } = await parseForm(ctx, decisionForm);
    if (decision === 'deny') {
      await attempts.remove(current.attempt.uid);
      return interactions.deny(ctx, 'the account may not open this application');
    }
    if (decision === 'other') return useAnotherAccount(ctx, current);
    if (current.step === 'select-account') return interactions.answer(ctx, { select_account: {} });
    throw badRequest('invalid_input');
  };
  router.post('/account', ...flow.form(['select-account', 'access-denied', 'choose-group'], chooseAccount));

  const fillIn = async (ctx: StepContext, current: CurrentStep) => {
    const { id } = accountOf(current);
    const schema = await schemaToAsk({ accounts, settings }, accountOf(current));
    const given = await parseForm(ctx, z.object(personForm(schema)));
    try {
      const attributes = (before: object) => attributesTyped(schema, { ...before }, given);
      await accounts.update(id, { attributes }, { actorId: id, request: ctx.state.request });
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'invalid_input') throw error;
      throw new StepError('invalid_input', { message: sentences(error.faults.map((one) => fieldFault(schema, one))) });
    }
    await flow.proceed(ctx, current, { knowsFields: true });
  };
  router.post('/own-fields', ...flow.form(['own-fields'], fillIn));

  const decideDeletion = async (ctx: StepContext, current: CurrentStep) => {
    const { keep } = await parseForm(ctx, z.object({ keep: z.literal('yes').optional() }));
    const { id } = accountOf(current);
    if (keep) await accounts.setDeletion(id, null, { actorId: id, request: ctx.state.request });
    await flow.proceed(ctx, current, { knowsDeletion: true });
  };
  router.post('/deletion', ...flow.form(['deletion'], decideDeletion));

  // For another version than that of now the engine asks again.
  const acceptTerms = async (ctx: StepContext, current: CurrentStep) => {
    const { version } = await parseForm(ctx, termsForm);
    const { id } = accountOf(current);
    await accounts.acceptTerms(id, version, { actorId: id, request: ctx.state.request });
    await interactions.answer(ctx, {});
  };
  router.post('/terms', ...flow.form(['terms'], acceptTerms));

  const chooseGroup = async (ctx: StepContext, current: CurrentStep) => {
    const { group: id } = await parseForm(ctx, groupForm);
    const group: ChosenGroup = { id, accountId: accountOf(current).id };
    await interactions.answer(ctx, { group });
  };
  router.post('/group', ...flow.form(['choose-group'], chooseGroup));

  const consent = async (ctx: StepContext, current: CurrentStep) => {
    const { decision } = await parseForm(ctx, decisionForm);
    if (decision === 'other') return useAnotherAccount(ctx, current);
    const { application, clientId } = current;
    const { id } = accountOf(current);
    const about = { actorId: id, subjectId: id, clientId, request: ctx.state.request };
    if (decision !== 'allow') {
      await audit.record({ type: 'consent.denied', outcome: 'success', ...about });
      return interactions.deny(ctx, 'the user did not allow access');
    }
    if (!isSameClient(current.interaction, application)) return interactions.restart(ctx, current.interaction);
    const granted = requestedGrant(current.interaction);
    const by = { actorId: id, request: ctx.state.request };
    const since = consentedSince(application, services);
    await consents.allow(id, await clients.store(application, by), granted, since);
    await audit.record({ type: 'consent.granted', outcome: 'success', ...about, data: { ...granted } });
    await interactions.answer(ctx, { consent: {} });
  };
  router.post('/consent', ...flow.form(['consent'], consent));

  const useAnotherAccount = (ctx: Context, current: CurrentStep) =>
    flow.proceed(ctx, current, {
      userId: undefined,
      amr: [],
      choosesOtherAccount: true,
      passwordSetAt: undefined,
      usedRecoveryCode: undefined,
      upstream: undefined,
    });

  return router;
}

/** Of a sign-in to the pages of this server, where nothing was proven. */
const isFirstStep = ({ ownClientId }: SignInFlow, { step, attempt, clientId }: CurrentStep) =>
  step === 'identify' && clientId === ownClientId && attempt.userId === undefined && !attempt.choosesOtherAccount;

// GET /signin/:uid, the dispatcher: shows the page of the current step, sends the browser to an upstream, or returns to the OIDC engine after the last
// one. POST cancel returns to the application.

function dispatchRoutes(services: SignInFlow & { pages: StepPages }): Router<State, Extras> {
  const { attempts, csrf, flow, interactions, pages, upstream } = services;
  const router = new Router<State, Extras>({ prefix: '/signin/:uid' });

  router.get('/', async (ctx: StepContext) => {
    const current = await flow.open(ctx);
    if (await flow.hasGoneOn(ctx, current)) return;
    if (current.step === 'done') return flow.finish(ctx, current);
    if (current.step === 'upstream') return sendStepUp(services, ctx, current);
    const accepted = isFirstStep(services, current) ? await services.takeAccepted(ctx) : undefined;
    if (accepted) {
      await services.browserCookie.invited(ctx, accepted.userId);
      return flow.proceed(ctx, current, accepted);
    }
    const connection = current.step === 'identify' ? await namedConnection(upstream, current) : undefined;
    if (connection) return sendUpstream(services, ctx, current, connection);
    await pages.show(ctx, current);
  });

  // Asked by the page when it becomes visible again.
  router.get('/changed', async (ctx: StepContext) => {
    const current = await flow.open(ctx);
    ctx.set('Cache-Control', 'no-store');
    ctx.body = { changed: current.changedSession !== undefined || current.interaction.result !== undefined };
  });

  router.post('/cancel', csrf.check, async (ctx: StepContext) => {
    const { attempt, changedSession, interaction } = await flow.open(ctx);
    if (changedSession) await interactions.forgetSession(interaction);
    await attempts.remove(attempt.uid);
    await interactions.deny(ctx, 'the user canceled the sign-in');
  });

  return router;
}
