// Claims that an application alone has, by its registration. The engine's claims are a list made at its start, and what
// is not on it is dropped; so these travel beside the others, under a symbol, and are put in at the end.
import type { Provider } from './library.ts';

/** Where an account's claims hold those of the application's own. */
export const OWN_CLAIMS = Symbol('own claims');

interface ClaimsPrototype {
  available: { [OWN_CLAIMS]?: Record<string, unknown> };
  result(): Promise<Record<string, unknown>>;
}

/** Call once for each Provider. ID token and userinfo are both made by this class of the engine. */
export function addOwnClaims(provider: Provider): void {
  const claims = provider.Claims.prototype as unknown as ClaimsPrototype;
  const result = claims.result;
  claims.result = async function withOwnClaims() {
    return { ...(await result.call(this)), ...this.available[OWN_CLAIMS] };
  };
}
