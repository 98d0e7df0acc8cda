// /access/v1/evaluation and /access/v1/evaluations, and the metadata that leads to them (AuthZEN 6, 7, 9, 10.1).
import Router from '@koa/router';
import { z } from 'zod';
import type { Audit } from '../audit/audit.ts';
import type { Context, Extras, State } from '../http/context.ts';
import { parseJson } from '../http/input.ts';
import type { EvaluatingApp, EvaluationCallers } from './callers.ts';
import type { Evaluated, Evaluations } from './evaluation.ts';

export interface EvaluationRoutesDependencies {
  issuer: string;
  callers: EvaluationCallers;
  evaluations: Evaluations;
  audit: Pick<Audit, 'record'>;
}

const REQUEST_ID = /^[\x21-\x7e]{1,200}$/;

export function evaluationRoutes({ issuer, callers, evaluations, audit }: EvaluationRoutesDependencies) {
  const router = new Router<State, Extras>();
  router.get('/.well-known/authzen-configuration', (ctx) => {
    ctx.body = {
      policy_decision_point: issuer,
      access_evaluation_endpoint: `${issuer}/access/v1/evaluation`,
      access_evaluations_endpoint: `${issuer}/access/v1/evaluations`,
    };
  });
  router.post('/access/v1/evaluation', (ctx) => answer(ctx, evaluations.one));
  router.post('/access/v1/evaluations', (ctx) => answer(ctx, evaluations.many));
  return router;

  async function answer(ctx: Context, evaluate: (body: unknown, app: EvaluatingApp) => Promise<Evaluated<object>>) {
    // The caller's request id is returned (AuthZEN 10.1.3).
    const given = ctx.get('X-Request-ID');
    if (REQUEST_ID.test(given)) ctx.set('X-Request-ID', given);
    const app = await callers.identify(ctx);
    const { answer: decided, denied } = await evaluate(await parseJson(ctx, z.json()), app);
    if (denied.length > 0) {
      const by = { actorApp: app.clientId, request: ctx.state.request };
      const subject = new Set(denied.map((one) => one.subject)).size === 1 ? denied[0]?.subject : undefined;
      await audit.record({
        ...by,
        type: 'access.evaluated',
        outcome: 'failure',
        reason: 'not_permitted',
        clientId: app.clientId,
        ...(subject !== undefined && { subjectId: subject }),
        data: { denied },
      });
    }
    ctx.set('Cache-Control', 'no-store');
    ctx.body = decided;
  }
}
