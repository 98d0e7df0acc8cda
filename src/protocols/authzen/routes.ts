// /access/v1/evaluation and /access/v1/evaluations, and the metadata that leads to them (AuthZEN 6, 7, 9, 10.1).

import Router from '@koa/router';
import { z } from 'zod';
import type { ApplicationServices } from '../../applications/application-services.ts';
import type { Context, Extras, State } from '../../base/http/context.ts';
import { parseJson } from '../../base/http/input.ts';
import type { Core } from '../../core/core.ts';
import type { People } from '../../people/people.ts';
import { accessApi } from '../../people/rbac/built-in.ts';
import type { ApiTokens } from '../oidc/store/api-access-tokens.ts';
import { createEvaluationCallers, type EvaluatingApp, type EvaluationCallers } from './callers.ts';
import { createEvaluations, type Denied, type Evaluated, type Evaluations } from './evaluation.ts';

const REQUEST_ID = /^[\x21-\x7e]{1,200}$/;

/** Of the evaluations of one request, in an audit entry. */
const MAX_LISTED = 10;

export function evaluationRoutes({
  callers,
  evaluations,
  repeatedEntries,
  rateLimits,
  config: { issuer },
}: Core & People & { callers: EvaluationCallers; evaluations: Evaluations }) {
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
    if (denied.length > 0) await record(ctx, app, denied);
    ctx.set('Cache-Control', 'no-store');
    ctx.body = decided;
  }

  /** An application decides what it asks and how often, so most of it becomes a number. */
  async function record(ctx: Context, { clientId }: EvaluatingApp, denied: readonly Denied[]): Promise<void> {
    const { request } = ctx.state;
    const entry = { type: 'access.evaluated', outcome: 'failure', reason: 'not_permitted' } as const;
    const by = { actorApp: clientId, request, clientId };
    const { allowed } = await rateLimits.consume('access-entries:caller', clientId);
    if (!allowed) return repeatedEntries.record({ ...entry, ...by });
    const subjects = new Set(denied.map(({ subject }) => subject));
    const [subjectId] = subjects.size === 1 ? subjects : [];
    await repeatedEntries.record({
      ...entry,
      ...by,
      ...(subjectId !== undefined && { subjectId }),
      data: { denied: denied.slice(0, MAX_LISTED), ...(denied.length > MAX_LISTED && { count: denied.length }) },
    });
  }
}

// Builds access evaluation for applications (OpenID AuthZEN Authorization API 1.0).

interface AuthzenDependencies {
  tokens: ApiTokens;
  accountOf: (clientId: string, subject: string) => Promise<string | undefined>;
  hasUsed: (userId: string, applicationId: string) => Promise<boolean>;
  checkDirectories: (accountId: string) => Promise<boolean>;
}

export function createAuthzen(dependencies: Core & People & ApplicationServices & AuthzenDependencies) {
  const {
    tokens,
    accountOf,
    hasUsed,
    config: { issuer },
  } = dependencies;
  const { checkDirectories } = dependencies;
  const callers = createEvaluationCallers({ ...dependencies, tokens, audience: accessApi(issuer) });
  const evaluations = createEvaluations({ ...dependencies, hasUsed, accountOf, checkDirectories });
  return { router: evaluationRoutes({ ...dependencies, callers, evaluations }) };
}
