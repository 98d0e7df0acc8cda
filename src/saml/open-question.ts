// The kept AuthnRequest that authorization parameters are about, and whether they are what was made of it. Whoever holds
// the browser can edit the address of the authorization endpoint; an edited request is answered with a page, and the kept
// one stays as it was (asked by the engine's admission, and by the response mode before it takes anything).
import type { Context } from '../http/context.ts';
import type { KeptRequests, Question } from './kept-requests.ts';
import type { ServiceProviders } from './service-providers.ts';

/** The same request as the engine knows it. */
export function authorizationParameters(question: Question, id: string): Record<string, string> {
  const prompt = question.forceAuthn ? 'login' : question.isPassive ? 'none' : undefined;
  return {
    client_id: question.entityId,
    response_type: 'none',
    response_mode: 'saml',
    scope: 'openid',
    redirect_uri: question.acsUrl,
    state: id,
    ...(prompt && { prompt }),
    ...(question.subjectHint && { login_hint: question.subjectHint }),
  };
}

/** What a request wants of the sign-in. */
export interface Wishes {
  /** acr values, any of which will do; empty: no wish. */
  acrs: string[];
  /** The password itself, whatever else is proven. */
  needsPassword: boolean;
}

export interface OpenQuestions {
  /** What is wanted by the kept request that the parameters name; nothing when they are OpenID Connect's. */
  wishes(ctx: Context, params: Record<string, unknown>): Promise<Wishes>;
  /** Whether the parameters ask exactly what a service provider asked, in this browser, and was not told yet. */
  isAsked(ctx: Context, params: Record<string, unknown>): Promise<boolean>;
}

export interface OpenQuestionsNeeds {
  serviceProviders: ServiceProviders;
  keptRequests: Pick<KeptRequests, 'open'>;
  browserOf(ctx: Context): string | undefined;
}

export function createOpenQuestions(needs: OpenQuestionsNeeds): OpenQuestions {
  const { serviceProviders, keptRequests, browserOf } = needs;
  // Asked several times on the way of one HTTP request, looked up once.
  const found = new WeakMap<object, { clientId: string; state: string; question: Promise<Question | undefined> }>();

  async function find(ctx: Context, clientId: string, state: string): Promise<Question | undefined> {
    const sp = await serviceProviders.find(clientId);
    return sp && keptRequests.open(state, sp.applicationId, browserOf(ctx));
  }

  async function of(ctx: Context, params: Record<string, unknown>): Promise<Question | undefined> {
    const { client_id: clientId, state, response_mode: mode } = params;
    if (mode !== 'saml' || typeof clientId !== 'string' || typeof state !== 'string') return undefined;
    const before = found.get(ctx.req);
    if (before?.clientId === clientId && before.state === state) return before.question;
    const question = find(ctx, clientId, state);
    found.set(ctx.req, { clientId, state, question });
    return question;
  }

  return {
    async wishes(ctx, params) {
      const question = await of(ctx, params);
      return { acrs: question?.acrs ?? [], needsPassword: question?.needsPassword ?? false };
    },

    async isAsked(ctx, params) {
      const question = await of(ctx, params);
      if (!question) return false;
      const expected = authorizationParameters(question, String(params.state));
      const names = new Set([...Object.keys(expected), ...Object.keys(params)]);
      return [...names].every((name) => params[name] === expected[name]);
    },
  };
}
