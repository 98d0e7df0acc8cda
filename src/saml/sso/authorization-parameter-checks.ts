// Checks that the parameters of an authorization request are those of a pending AuthnRequest. A user can edit the URL of the
// authorization endpoint: an edited request is rejected and leaves the pending one untouched.
import type { Context } from '../../http/context.ts';
import type { ServiceProviders } from '../metadata/service-providers.ts';
import { authorizationParameters } from './authorization-parameters.ts';
import type { PendingAuthnRequest, PendingAuthnRequests } from './pending-authn-requests.ts';

/** What a pending AuthnRequest requires of the sign-in. */
export interface SignInRequirements {
  /** acr values, any of which will do; empty: no requirement. */
  acrs: string[];
  /** The password itself is required, whatever other factor was used. */
  needsPassword: boolean;
}

export interface AuthorizationParameterChecks {
  /** The requirements of the pending AuthnRequest that the parameters name; none for an OpenID Connect request. */
  requirements(ctx: Context, params: Record<string, unknown>): Promise<SignInRequirements>;
  /** Whether the parameters are exactly those of a pending AuthnRequest of this browser. */
  isPendingAuthnRequest(ctx: Context, params: Record<string, unknown>): Promise<boolean>;
}

export interface AuthorizationParameterChecksDependencies {
  serviceProviders: Pick<ServiceProviders, 'find'>;
  pendingAuthnRequests: Pick<PendingAuthnRequests, 'find'>;
  browserOf(ctx: Context): string | undefined;
}

export function createAuthorizationParameterChecks(
  dependencies: AuthorizationParameterChecksDependencies,
): AuthorizationParameterChecks {
  const { serviceProviders, pendingAuthnRequests, browserOf } = dependencies;
  // One HTTP request is checked several times and looked up once.
  const cache = new WeakMap<
    object,
    { clientId: string; state: string; pending: Promise<PendingAuthnRequest | undefined> }
  >();

  async function find(ctx: Context, clientId: string, state: string): Promise<PendingAuthnRequest | undefined> {
    const sp = await serviceProviders.find(clientId);
    return sp && pendingAuthnRequests.find(state, sp.applicationId, browserOf(ctx));
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
    async requirements(ctx, params) {
      const pending = await pendingOf(ctx, params);
      return { acrs: pending?.acrs ?? [], needsPassword: pending?.needsPassword ?? false };
    },

    async isPendingAuthnRequest(ctx, params) {
      const pending = await pendingOf(ctx, params);
      if (!pending) return false;
      const expected = authorizationParameters(pending, String(params.state));
      const names = new Set([...Object.keys(expected), ...Object.keys(params)]);
      return [...names].every((name) => params[name] === expected[name]);
    },
  };
}
