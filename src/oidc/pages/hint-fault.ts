// What is wrong with an id_token_hint that was not accepted, in words for the developer of the application.
import { decodeJwt, decodeProtectedHeader } from 'jose';

export interface HintContext {
  issuer: string;
  /** The parameter client_id of the request. */
  clientId: unknown;
  isClientKnown(clientId: string): boolean;
}

const MAX_QUOTED = 200;
const NOT_OURS = 'The ID token isn’t one that this server issued to the app.';

export function hintFault(hint: string, context: HintContext): string {
  return `${NOT_OURS} ${reasonOf(hint, context)}`;
}

function reasonOf(hint: string, { issuer, clientId, isClientKnown }: HintContext): string {
  if (hint.split('.').length === 5) return 'It is encrypted (JWE). Send it as the token endpoint returned it.';
  const token = decoded(hint);
  if (!token) return 'It can’t be read as a JWT.';
  const { iss, aud, alg, kid } = token;
  if (iss !== issuer) return `Its issuer (iss) is ${quoted(iss)}. This server is ${quoted(issuer)}.`;
  if (typeof aud !== 'string') return 'It doesn’t name one application (aud).';
  if (!isClientKnown(aud))
    return `The application ${quoted(aud)} that it was issued to (aud) isn’t registered, or is disabled.`;
  if (clientId !== undefined && clientId !== aud)
    return `It was issued to ${quoted(aud)} (aud), and client_id is ${quoted(clientId)}.`;
  return `No key of this server matches its signature (alg ${quoted(alg)}, kid ${quoted(kid)}).`;
}

function decoded(hint: string) {
  try {
    return { ...decodeJwt(hint), ...decodeProtectedHeader(hint) };
  } catch {
    return undefined;
  }
}

function quoted(value: unknown): string {
  return value === undefined ? 'missing' : JSON.stringify(value).slice(0, MAX_QUOTED);
}
