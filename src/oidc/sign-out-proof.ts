// Whether whoever asks for a sign-out may have it without asking the person (OpenID Connect RP-Initiated Logout 1.0
// section 2): only with an ID token of this very session, which a link on a foreign page can't have.
import type { KoaContextWithOIDC } from './library.ts';

/** The engine has verified the hint; every ID token of ours names its session by `sid`. */
export function provesThisSession({ oidc: { session, client, entities } }: KoaContextWithOIDC): boolean {
  const sid = entities.IdTokenHint?.payload.sid;
  if (!client || !session?.accountId || sid === undefined) return false;
  return sid === session.sidFor(client.clientId);
}
