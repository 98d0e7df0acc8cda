// Patch: Claims.prototype.scope and .result, IdToken.prototype.issue, OIDCContext.prototype.requestParamOIDCScopes.
// Claims and scopes of one application, by its registration: the engine drops claims that are not in its own configuration (`claims`), and
// knows one global option (`conformIdTokenClaims`) for whether ID tokens contain the claims of scopes.
import { ownScopes } from '../../../../applications/fields/claim-settings.ts';
import type { Provider } from '../../engine/library.ts';
import type { ClientSource } from '../../store/clients.ts';

/** The key for the claims of one application, in the claims of an account (claims/find-account.ts). */
export const APPLICATION_CLAIMS = Symbol('application claims');
/** The key for the values in other languages (`name#ja`) that are delivered with each standard claim. */
export const LOCALIZED_CLAIMS = Symbol('localized claims');
const SCOPES = Symbol('scopes');

/** Claims of an application: those of a scope only when it is granted. */
export interface ApplicationClaims {
  scope?: string | undefined;
  claims: Record<string, unknown>;
}

/** The class with which the engine builds both ID token and userinfo. */
interface ClaimsPrototype {
  available: {
    [APPLICATION_CLAIMS]?: ApplicationClaims[];
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

export function addApplicationClaims(provider: Provider, { clients }: { clients: ClientSource }): void {
  const metadataOf = (clientId: string) => clients.cachedApplicationOf(clientId)?.metadata ?? {};
  addToResult(provider);
  shortenIdTokens(provider, (clientId) => metadataOf(clientId).id_token_claims === 'conform');
  addOwnScopes(provider, (clientId) => ownScopes(metadataOf(clientId)));
}

/** Adds the claims under the two symbols to the result: the engine leaves them out of what it filters. */
function addToResult(provider: Provider): void {
  const prototype = provider.Claims.prototype as unknown as ClaimsPrototype;
  const { scope, result } = prototype;
  prototype.scope = function scopeOfApplicationClaims(value = '') {
    this[SCOPES] = value.split(' ');
    return scope.call(this, value);
  };
  prototype.result = async function resultWithApplicationClaims() {
    const claims = await result.call(this);
    for (const [claim, values] of Object.entries(this.available[LOCALIZED_CLAIMS] ?? {}))
      if (typeof this.filter[claim] === 'object') Object.assign(claims, values);
    for (const own of this.available[APPLICATION_CLAIMS] ?? [])
      if (own.scope === undefined || this[SCOPES]?.includes(own.scope)) Object.assign(claims, own.claims);
    return claims;
  };
}

/** Leaves the claims of scopes out of the ID tokens of some clients. */
function shortenIdTokens(provider: Provider, isConform: (clientId: string) => boolean): void {
  const idToken = provider.IdToken.prototype as unknown as IdTokenPrototype;
  const { issue } = idToken;
  idToken.issue = function issueByRegistration(options) {
    // An access token for an API cannot be used at userinfo, so its ID token contains the claims (as in the engine).
    const isForApi = this.ctx?.oidc.entities.AccessToken?.aud !== undefined;
    if (options.use === 'idtoken' && !isForApi && isConform(this.client.clientId)) this.scope = 'openid';
    return issue.call(this, options);
  };
}

/** Has the scopes that only an application has requested and granted like those of the engine. */
function addOwnScopes(provider: Provider, scopesOf: (clientId: string) => string[]): void {
  const context = provider.OIDCContext.prototype as unknown as Context;
  const getter = Object.getOwnPropertyDescriptor(context, 'requestParamOIDCScopes')?.get;
  if (!getter) throw new Error('the engine has no requestParamOIDCScopes');
  Object.defineProperty(context, 'requestParamOIDCScopes', {
    get(this: Context): Set<string> {
      const own = this.client ? scopesOf(this.client.clientId) : [];
      return new Set([...getter.call(this), ...own.filter((name) => this.requestParamScopes.has(name))]);
    },
  });
}
