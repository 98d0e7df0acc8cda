// Which sessions a LogoutRequest names (SAML Core 3.7.3.2).
import { type NameId, sameNameId } from '../messages/name-id.ts';

export interface Participation {
  nameId: NameId;
  sessionIndex: string;
}

/** Those of the service provider's sessions that the request names: by NameID, and by SessionIndex where it has any. */
export function selectSessions<Session extends Participation>(
  request: { nameId: NameId; sessionIndexes: readonly string[] },
  sessions: readonly Session[],
  parties: { identityProvider: string; serviceProvider: string },
): Session[] {
  return sessions.filter(
    (session) =>
      sameNameId(session.nameId, request.nameId, parties) &&
      (request.sessionIndexes.length === 0 || request.sessionIndexes.includes(session.sessionIndex)),
  );
}
