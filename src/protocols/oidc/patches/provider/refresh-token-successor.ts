// Patch: RefreshToken.prototype.generateTokenId. The value of a rotated refresh token's successor follows from the token, so
// that a retry of the same refresh gets the same successor (store/refresh-token-retries.ts). The engine makes a random one.
import { Provider } from '../../engine/library.ts';
import type { RefreshTokenRetries } from '../../store/refresh-token-retries.ts';

interface RefreshTokenPrototype {
  generateTokenId(): string;
}

export function deriveSuccessor(provider: Provider, { successorOf }: RefreshTokenRetries): void {
  const prototype = provider.RefreshToken.prototype as unknown as RefreshTokenPrototype;
  const { generateTokenId } = prototype;
  prototype.generateTokenId = function generateSuccessorId() {
    const rotated = Provider.ctx?.oidc.entities.RotatedRefreshToken;
    return rotated?.grantId ? successorOf(rotated.jti, rotated.grantId) : generateTokenId.call(this);
  };
}
