// Patch: Claims.prototype.scope and .result, IdToken.prototype.issue, OIDCContext.prototype.requestParamOIDCScopes.
// The engine drops claims that are not in its configuration (`claims`), so these are passed under a symbol and added at the end:
// claims of the application's registration, those of a scope only when it is granted, and values in other languages (`name#ja`).
// A scope that only the application has is requested and granted like those of the engine. For the engine, it is one global option
// (`conformIdTokenClaims`) whether ID tokens contain the claims of scopes; here the registration decides.
import { ownScopes } from '../../../../applications/fields/claim-settings.ts';
import type { Provider } from '../../engine/library.ts';
import type { ClientSource } from '../../store/clients.ts';

/** The key for the claims of one application, in the claims of an account. */
export const APPLICATION_CLAIMS = Symbol('application claims');
/** The key for the values in other languages that are delivered with each standard claim. */
export const LOCALIZED_CLAIMS = Symbol('localized claims');
const SCOPES = Symbol('scopes');

interface ClaimsPrototype {
  available: {
    [APPLICATION_CLAIMS]?: { scope?: string | undefined; claims: Record<string, unknown> }[];
    [LOCALIZED_CLAIMS]?: Record<string, Record<string, unknown>>;
  };
  filter: Record<string, unknown>;
  [SCOPES]?: string[];
  scope(value?: string): ClaimsPrototype;
  result(): Promise<Record<string, unknown>>;
}

interface IdTokenPrototype {
  scope?: string;
  client: { clientId: string };
  ctx?: { oidc: { entities: { AccessToken?: { aud?: unknown } } } };
  issue(options: { use: string }): Promise<string>;
}

interface Context {
  client?: { clientId: string };
  requestParamScopes: Set<string>;
}

/** The classes with which the engine builds both ID token and userinfo. */
export function addApplicationClaims(provider: Provider, { clients }: { clients: ClientSource }): void {
  const prototype = provider.Claims.prototype as unknown as ClaimsPrototype;
  const { scope, result } = prototype;
  prototype.scope = function scopeOfApplicationClaims(value = '') {
    this[SCOPES] = value.split(' ');
    return scope.call(this, value);
  };
  prototype.result = async function resultWithApplicationClaims() {
    const granted = (this.available[APPLICATION_CLAIMS] ?? []).filter(
      (own) => own.scope === undefined || this[SCOPES]?.includes(own.scope),
    );
    const localized = Object.entries(this.available[LOCALIZED_CLAIMS] ?? {})
      .filter(([claim]) => typeof this.filter[claim] === 'object')
      .map(([, claims]) => claims);
    return Object.assign(await result.call(this), ...localized, ...granted.map(({ claims }) => claims));
  };

  const idToken = provider.IdToken.prototype as unknown as IdTokenPrototype;
  const { issue } = idToken;
  idToken.issue = function issueByRegistration(options) {
    // An access token for an API cannot be used at userinfo, so its ID token contains the claims (as in the engine).
    const isForApi = this.ctx?.oidc.entities.AccessToken?.aud !== undefined;
    const setting = clients.cachedApplicationOf(this.client.clientId)?.metadata.id_token_claims;
    if (options.use === 'idtoken' && setting === 'conform' && !isForApi) this.scope = 'openid';
    return issue.call(this, options);
  };
  const context = provider.OIDCContext.prototype as unknown as Context;
  const getter = Object.getOwnPropertyDescriptor(context, 'requestParamOIDCScopes')?.get;
  if (!getter) throw new Error('the engine has no requestParamOIDCScopes');
  Object.defineProperty(context, 'requestParamOIDCScopes', {
    get(this: Context): Set<string> {
      const metadata = this.client && clients.cachedApplicationOf(this.client.clientId)?.metadata;
      const own = ownScopes(metadata ?? {}).filter((name) => this.requestParamScopes.has(name));
      return new Set([...getter.call(this), ...own]);
    },
  });
}
