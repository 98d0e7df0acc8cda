// Overrides of oidc-provider for its tokens.

import { decodeProtectedHeader } from 'jose';
import { keyAlgs } from '../../../core/keys/rotation.ts';
import { type Client, Provider } from '../engine/library.ts';
import type { RefreshTokenRetries } from '../store/refresh-token-retries.ts';

// Patch: IdToken.validate. Every ID token that this server has signed is an id_token_hint: the engine accepts only those of the algorithm
// that the client is registered with now, not those from before the registration changed.

type Validate = (jwt: string, client: Client) => Promise<unknown>;

export function acceptEveryAlgorithm(provider: Provider): void {
  const idToken = provider.IdToken as unknown as { validate: Validate };
  const { validate } = idToken;
  idToken.validate = async function validateWithItsAlgorithm(jwt, client) {
    const alg = algOf(jwt);
    // Never HS256 for a client that is not registered with it: its secret may be a placeholder (store/clients.ts).
    const isOurs = keyAlgs.some((one) => one === alg);
    const view = isOurs ? (Object.create(client, { idTokenSignedResponseAlg: { value: alg } }) as Client) : client;
    return validate.call(idToken, jwt, view);
  };
}

function algOf(jwt: string): string | undefined {
  try {
    return decodeProtectedHeader(jwt).alg;
  } catch {
    return undefined;
  }
}

// Patch: RefreshToken.prototype.generateTokenId. The value of a rotated refresh token's successor follows from the token, so
// that a retry of the same refresh gets the same successor (store/refresh-token-retries.ts). The engine makes a random one.

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

// Patch: Client.prototype.includeSid. The engine puts `sid` into ID tokens only for clients with back-channel logout. Here
// every ID token names its session, so that a logout request can prove which session it means (oidc/pages.ts).

export function includeSessionId(provider: Provider): void {
  provider.Client.prototype.includeSid = () => true;
}
