// Patch: IdToken.validate. Every ID token that this server has signed is an id_token_hint: the engine accepts only those of the algorithm
// that the client is registered with now, not those from before the registration changed.
import { decodeProtectedHeader } from 'jose';
import { keyAlgs } from '../../../../core/keys/rotation.ts';
import type { Client, Provider } from '../../engine/library.ts';

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
