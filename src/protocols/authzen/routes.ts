// /access/v1/evaluation and /access/v1/evaluations, and the metadata that leads to them (AuthZEN 6, 7, 9, 10.1).

import Router from '@koa/router';
import { z } from 'zod';
import type { Applications } from '../../applications/applications.ts';
import type { Context, Extras, State } from '../../base/http/context.ts';
import { parseJson } from '../../base/http/input.ts';
import type { RepeatedEntries } from '../../core/audit/repeated-entries.ts';
import type { Accounts } from '../../people/accounts/accounts.ts';
import type { RateLimits } from '../../people/rate-limits/rate-limits.ts';
import { accessApi } from '../../people/rbac/built-in.ts';
import type { Permissions } from '../../people/rbac/permissions.ts';
import type { ApiTokens } from '../oidc/store/api-access-tokens.ts';
import { createEvaluationCallers, type EvaluatingApp, type EvaluationCallers } from './callers.ts';
import {
  createEvaluations,
  type Denied,
  type Evaluated,
  type Evaluations,
  type EvaluationsDependencies,
} from './evaluation.ts';

export interface EvaluationRoutesDependencies {
  issuer: string;
  callers: EvaluationCallers;
  evaluations: Evaluations;
  repeatedEntries: RepeatedEntries;
  rateLimits: RateLimits;
}

const REQUEST_ID = /^[\x21-\x7e]{1,200}$/;

/** Of the evaluations of one request, in an audit entry. */
const MAX_LISTED = 10;

export function evaluationRoutes({
  issuer,
  callers,
  evaluations,
  repeatedEntries,
  rateLimits,
}: EvaluationRoutesDependencies) {
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
  issuer: string;
  accounts: Accounts;
  applications: Applications;
  repeatedEntries: RepeatedEntries;
  permissions: Permissions;
  rateLimits: RateLimits;
  tokens: ApiTokens;
  accountOf: EvaluationsDependencies['accountOf'];
  hasUsed: EvaluationsDependencies['hasUsed'];
  checkDirectories: EvaluationsDependencies['checkDirectories'];
}

export function createAuthzen(dependencies: AuthzenDependencies) {
  const { issuer, accounts, applications, permissions, rateLimits, repeatedEntries, tokens, accountOf, hasUsed } =
    dependencies;
  const { checkDirectories } = dependencies;
  const callers = createEvaluationCallers({ tokens, applications, rateLimits, audience: accessApi(issuer) });
  const evaluations = createEvaluations({ accounts, permissions, hasUsed, accountOf, checkDirectories });
  return { router: evaluationRoutes({ issuer, callers, evaluations, repeatedEntries, rateLimits }) };
}
