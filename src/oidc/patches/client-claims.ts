// Patch: Claims.prototype.result. An application may have claims of its own by its registration, but the engine drops each
// claim that is not in the list made at its start (`claims`). So these are carried under a symbol and added at the end.
import type { Provider } from '../engine/library.ts';

/** The key under which an account's claims hold those of one application. */
export const APPLICATION_CLAIMS = Symbol('application claims');

interface ClaimsPrototype {
  available: { [APPLICATION_CLAIMS]?: Record<string, unknown> };
  result(): Promise<Record<string, unknown>>;
}

/** The engine makes both ID token and userinfo with this class. */
export function addApplicationClaims(provider: Provider): void {
  const prototype = provider.Claims.prototype as unknown as ClaimsPrototype;
  const { result } = prototype;
  prototype.result = async function resultWithApplicationClaims() {
    return { ...(await result.call(this)), ...this.available[APPLICATION_CLAIMS] };
  };
}
