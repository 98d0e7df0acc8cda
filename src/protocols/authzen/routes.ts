// /access/v1/evaluation and /access/v1/evaluations, and the metadata that leads to them (AuthZEN 6, 7, 9, 10.1).

import Router from '@koa/router';
import { z } from 'zod';
import { accessDecision, type ProtectedApplication } from '../../applications/access-decision.ts';
import type { ApplicationServices } from '../../applications/application-services.ts';
import { basicOf, bearerOf } from '../../base/http/authorization-header.ts';
import type { Context, Extras, State } from '../../base/http/context.ts';
import { invalidInput, tooManyRequests, unauthorized } from '../../base/http/errors.ts';
import { parseJson } from '../../base/http/input.ts';
import { limits } from '../../base/limits.ts';
import { check, type Fault, faultLine } from '../../base/texts/faults.ts';
import type { Core } from '../../core/core.ts';
import { isVisiblePermission } from '../../people/accounts/visible-roles.ts';
import type { People } from '../../people/people.ts';
import { accessApi } from '../../people/rbac/built-in.ts';
import type { ApiTokens } from '../oidc/store/api-access-tokens.ts';

const REQUEST_ID = /^[\x21-\x7e]{1,200}$/;

/** Of the evaluations of one request, in an audit entry. */
const MAX_LISTED = 10;

export function evaluationRoutes(services: Core & People & { callers: EvaluationCallers; evaluations: Evaluations }) {
  const { callers, evaluations, repeatedEntries, rateLimits } = services;
  const { issuer } = services.config;
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

export function createAuthzen(
  dependencies: Core &
    People &
    ApplicationServices & {
      tokens: ApiTokens;
      accountOf: (clientId: string, subject: string) => Promise<string | undefined>;
      hasUsed: (userId: string, applicationId: string) => Promise<boolean>;
      checkDirectories: (accountId: string) => Promise<boolean>;
    },
) {
  const { tokens, accountOf, hasUsed } = dependencies;
  const { issuer } = dependencies.config;
  const { checkDirectories } = dependencies;
  const callers = createEvaluationCallers({ ...dependencies, tokens, audience: accessApi(issuer) });
  const evaluations = createEvaluations({ ...dependencies, hasUsed, accountOf, checkDirectories });
  return { router: evaluationRoutes({ ...dependencies, callers, evaluations }) };
}

// Access evaluation: the OpenID AuthZEN Authorization API 1.0 over roles and permissions.
// A resource's type and an action's name are a permission (`articles:read`); it holds for every resource of that type.

const word = z.string().min(1).max(255);
/** AuthZEN 5; everything else that is sent (properties, context) is ignored. */
const evaluation = z.object({
  subject: z.object({ type: word, id: word }),
  action: z.object({ name: word }),
  resource: z.object({ type: word, id: word }),
});
const group = z.record(z.string(), z.json());
const batch = z.object({
  subject: group.optional(),
  action: group.optional(),
  resource: group.optional(),
  context: group.optional(),
  evaluations: z.array(group).max(limits.api.maxEvaluations).optional(),
  options: z
    .object({
      evaluations_semantic: z.enum(['execute_all', 'deny_on_first_deny', 'permit_on_first_permit']).optional(),
    })
    .optional(),
});

interface Decision {
  decision: boolean;
  context?: { error: { status: number; message: string } };
}

interface Denied {
  /** The account; absent where the application sent an identifier that nobody has. */
  subject?: string;
  permission: string;
}

interface Evaluated<Answer> {
  answer: Answer;
  /** What was requested and not permitted. */
  denied: Denied[];
}

type Evaluations = ReturnType<typeof createEvaluations>;

function createEvaluations(
  dependencies: People & {
    /** Whether the user has used the application (applications/consents/consents.ts). */
    hasUsed(userId: string, applicationId: string): Promise<boolean>;
    /** The account with this `sub`. With pairwise subjects it is the `sub` of the application's sector (OIDC Core 8.1). */
    accountOf(clientId: string, subject: string): Promise<string | undefined>;
    /** Whether the directories of the account still have it; its roles follow them. */
    checkDirectories(accountId: string): Promise<boolean>;
  },
) {
  const { accounts, permissions, hasUsed, accountOf, checkDirectories } = dependencies;
  /** Permits only for users who have used the application and may open it, and only permissions that are visible to it. */
  async function decide({ subject, action, resource }: z.output<typeof evaluation>, app: EvaluatingApp) {
    const permission = `${resource.type}:${action.name}`;
    const accountId = subject.type === 'user' ? await accountOf(app.clientId, subject.id) : undefined;
    const isThere = accountId !== undefined && (await checkDirectories(accountId));
    const account = isThere ? await accounts.find(accountId) : undefined;
    const decision =
      account !== undefined &&
      accessDecision(app.application, account).allowed &&
      isVisiblePermission(permission, app.permissionsFilter) &&
      (app.seesAllUsers || (await hasUsed(account.id, app.applicationId))) &&
      (await permissions.can(account.id, resource.type, action.name));
    return { decision, denied: decision ? [] : [{ ...(account && { subject: account.id }), permission }] };
  }

  async function one(body: unknown, app: EvaluatingApp): Promise<Evaluated<Decision>> {
    const { decision, denied } = await decide(checked(evaluation, body), app);
    return { answer: { decision }, denied };
  }

  return {
    /** AuthZEN 6. Throws invalid_input. */
    one,

    /** AuthZEN 7: several, each with the defaults of the whole. Without any it is the same as one. */
    async many(body: unknown, app: EvaluatingApp): Promise<Evaluated<Decision | { evaluations: Decision[] }>> {
      const { evaluations = [], options, ...defaults } = checked(batch, body);
      if (evaluations.length === 0) return one(defaults, app);
      const semantic = options?.evaluations_semantic ?? 'execute_all';
      const decisions: Decision[] = [];
      const denied: Denied[] = [];
      for (const given of evaluations) {
        const parsed = check(evaluation, { ...defaults, ...given });
        const decided = parsed.ok ? await decide(parsed.value, app) : { decision: false, denied: [] };
        denied.push(...decided.denied);
        const { decision } = decided;
        decisions.push(parsed.ok ? { decision } : { decision, context: { error: errorOf(parsed.faults) } });
        if (semantic === 'deny_on_first_deny' && !decision) break;
        if (semantic === 'permit_on_first_permit' && decision) break;
      }
      return { answer: { evaluations: decisions }, denied };
    },
  };
}

function checked<Schema extends z.ZodType>(schema: Schema, body: unknown): z.output<Schema> {
  const result = check(schema, body);
  if (result.ok) return result.value;
  throw invalidInput(result.faults);
}

function errorOf(faults: readonly Fault[]) {
  return { status: 400, message: faults.map(faultLine).join(' ') };
}

// Authenticates the application that calls access evaluation: by its client secret (Basic), or by a client_credentials token
// for this API.

/** The data of the calling application for the evaluation. */
interface EvaluatingApp {
  clientId: string;
  /** Decides which users' permissions it may query (applications/access-decision.ts). */
  application: ProtectedApplication;
  applicationId: string;
  /** Whether its registration allows it to evaluate users who never used it. */
  seesAllUsers: boolean;
  /** Permissions that are visible to it (people/accounts/visible-roles.ts). */
  permissionsFilter: string[] | undefined;
}

type EvaluationCallers = ReturnType<typeof createEvaluationCallers>;

function createEvaluationCallers(
  dependencies: People &
    ApplicationServices & {
      tokens: ApiTokens;
      /** The audience that tokens must have. */
      audience: string;
    },
) {
  const { tokens, applications, rateLimits, audience } = dependencies;

  async function authenticatedClientId(ctx: Context): Promise<string | undefined> {
    const bearer = bearerOf(ctx);
    if (bearer !== undefined) {
      const token = await tokens.find(bearer);
      // A user's token is rejected: its owner could query the permissions of every other user.
      return token?.audience === audience && token.accountId === undefined ? token.clientId : undefined;
    }
    const basic = basicOf(ctx);
    return basic && (await tokens.isSecretOf(basic.clientId, basic.secret)) ? basic.clientId : undefined;
  }

  return {
    /** Throws 401 without a valid credential of an application, 429 when there are too many calls. */
    async identify(ctx: Context): Promise<EvaluatingApp> {
      const network = { address: ctx.state.request.address };
      const failures = await rateLimits.peek('api:address', network);
      if (!failures.allowed) throw tooManyRequests(failures.retryAfterSeconds);
      const clientId = await authenticatedClientId(ctx);
      const application = clientId === undefined ? undefined : await applications.find(clientId);
      if (application?.protocol !== 'oidc' || !application.enabled) {
        await rateLimits.consume('api:address', network);
        const message = 'Send the client_id and secret of an application, or a token with its own client credentials.';
        const headers = { 'WWW-Authenticate': `Basic realm="${audience}", Bearer realm="${audience}"` };
        throw unauthorized('unauthenticated', { message, headers });
      }
      const counted = await rateLimits.consume('api:caller', application.clientId);
      if (!counted.allowed) throw tooManyRequests(counted.retryAfterSeconds, { message: 'Too many calls.' });
      ctx.state.sender = 'trusted';
      return {
        clientId: application.clientId,
        application,
        applicationId: application.id,
        seesAllUsers: application.metadata.access_evaluation === 'all_users',
        permissionsFilter: application.metadata.permissions_filter,
      };
    },
  };
}
