// Whether a logout request needs no confirmation by the user (OpenID Connect RP-Initiated Logout 1.0, section 2): only with
// an ID token of this very session, which a link on a foreign page cannot have.
import type { KoaContextWithOIDC } from '../engine/library.ts';

/** The engine has verified the hint; every ID token of this server names its session by `sid`. */
export function provesThisSession({ oidc: { session, client, entities } }: KoaContextWithOIDC): boolean {
  const sid = entities.IdTokenHint?.payload.sid;
  if (!client || !session?.accountId || sid === undefined) return false;
  return sid === session.sidFor(client.clientId);
}
