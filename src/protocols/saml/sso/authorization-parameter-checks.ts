// Checks that the parameters of an authorization request are those of a pending AuthnRequest. A user can edit the URL of the
// authorization endpoint: an edited request is rejected and leaves the pending one untouched.

import type { Context } from '../../../base/http/context.ts';
import type { SamlRequirements } from '../../oidc/engine/saml-requirements.ts';
import { lackingContext } from './authn-context.ts';
import type { PendingAuthnRequest } from './pending-authn-requests.ts';
import type { SamlServices } from './saml-services.ts';

export type AuthorizationParameterChecks = ReturnType<typeof createAuthorizationParameterChecks>;

export function createAuthorizationParameterChecks(services: SamlServices) {
  const { serviceProviders, pendingAuthnRequests, requestedSubjects, browser } = services;
  // One HTTP request is checked several times and looked up once.
  const cache = new WeakMap<
    object,
    { clientId: string; state: string; pending: Promise<PendingAuthnRequest | undefined> }
  >();

  async function find(ctx: Context, clientId: string, state: string): Promise<PendingAuthnRequest | undefined> {
    const sp = await serviceProviders.find(clientId);
    return sp && pendingAuthnRequests.find(state, sp.applicationId, browser.of(ctx));
  }

  async function pendingOf(ctx: Context, params: Record<string, unknown>): Promise<PendingAuthnRequest | undefined> {
    const { client_id: clientId, state, response_mode: mode } = params;
    if (mode !== 'saml' || typeof clientId !== 'string' || typeof state !== 'string') return undefined;
    const cached = cache.get(ctx.req);
    if (cached?.clientId === clientId && cached.state === state) return cached.pending;
    const pending = find(ctx, clientId, state);
    cache.set(ctx.req, { clientId, state, pending });
    return pending;
  }

  return {
    /** The requirements of the pending AuthnRequest that the parameters name; none for an OpenID Connect request. */
    async requirements(ctx: Context, params: Record<string, unknown>): Promise<SamlRequirements> {
      const pending = await pendingOf(ctx, params);
      const subject = pending?.subject;
      return {
        lacking: (proven) => lackingContext(pending?.requestedContext, proven),
        async isSubject(account) {
          if (!subject) return true;
          const sp = await serviceProviders.find(pending.entityId);
          return sp !== undefined && requestedSubjects.isNamed(subject, sp, account);
        },
      };
    },

    /** Whether the parameters are exactly those of a pending AuthnRequest of this browser. */
    async isPendingAuthnRequest(ctx: Context, params: Record<string, unknown>): Promise<boolean> {
      const pending = await pendingOf(ctx, params);
      if (!pending) return false;
      const expected = authorizationParameters(pending, String(params.state));
      const names = new Set([...Object.keys(expected), ...Object.keys(params)]);
      return [...names].every((name) => params[name] === expected[name]);
    },
  };
}

// A pending AuthnRequest as parameters of the authorization endpoint.

/** The authorization request that stands for a pending AuthnRequest; `state` is its ID. */
export function authorizationParameters(request: PendingAuthnRequest, id: string): Record<string, string> {
  const prompt = request.forceAuthn ? 'login' : request.isPassive ? 'none' : undefined;
  return {
    client_id: request.entityId,
    response_type: 'none',
    response_mode: 'saml',
    scope: 'openid',
    redirect_uri: request.acsUrl,
    state: id,
    ...(prompt && { prompt }),
    ...(request.loginHint && { login_hint: request.loginHint }),
  };
}
