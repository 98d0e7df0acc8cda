// The forms with a decision of the user: which account to use, and whether the application gets access (consent).
import Router from '@koa/router';
import { z } from 'zod';
import type { Consents } from '../applications/consents/consents.ts';
import type { Context, Extras, Middleware, State } from '../base/http/context.ts';
import { badRequest } from '../base/http/errors.ts';
import { parseForm } from '../base/http/input.ts';
import type { Audit } from '../core/audit/audit.ts';
import { requestedGrant } from './consent-description.ts';
import type { CurrentStep } from './current-step.ts';
import type { Flow, StepContext } from './flow.ts';
import type { Interactions } from './interactions.ts';

export interface DecisionRoutesDependencies {
  flow: Flow;
  interactions: Interactions;
  consents: Consents;
  audit: Audit;
  checkCsrf: Middleware;
}

const decisionForm = z.object({ decision: z.enum(['allow', 'deny', 'other', 'continue']) });

export function decisionRoutes(dependencies: DecisionRoutesDependencies): Router<State, Extras> {
  const { flow, interactions, consents, audit, checkCsrf } = dependencies;
  const router = new Router<State, Extras>({ prefix: '/signin/:uid' });

  router.post('/account', checkCsrf, async (ctx: StepContext) => {
    const current = await flow.expect(ctx, 'select-account', 'access-denied');
    if (!current) return;
    const { decision } = await parseForm(ctx, decisionForm);
    if (decision === 'deny') return interactions.deny(ctx, 'the account may not open this application');
    if (decision === 'other') return useAnotherAccount(ctx, current);
    if (current.step === 'select-account') return interactions.answer(ctx, { select_account: {} });
    throw badRequest('invalid_input');
  });

  router.post('/consent', checkCsrf, async (ctx: StepContext) => {
    const current = await flow.expect(ctx, 'consent');
    if (!current?.account) return;
    const { decision } = await parseForm(ctx, decisionForm);
    if (decision === 'other') return useAnotherAccount(ctx, current);
    const { account, applicationId, clientId } = current;
    const about = { actorId: account.id, subjectId: account.id, clientId, request: ctx.state.request };
    if (decision !== 'allow') {
      await audit.record({ type: 'consent.denied', outcome: 'success', ...about });
      return interactions.deny(ctx, 'the user did not allow access');
    }
    const granted = requestedGrant(current.interaction);
    await consents.allow(account.id, applicationId, granted);
    await audit.record({ type: 'consent.granted', outcome: 'success', ...about, data: { ...granted } });
    await interactions.answer(ctx, { consent: {} });
  });

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
