// Which sessions a LogoutRequest names (SAML Core 3.7.3.2).
import { type NameId, sameFormat, sameNameId } from '../messages/name-id.ts';

export interface Participation {
  nameId: NameId;
  sessionIndex: string;
}

/**
 * Those of the service provider's sessions that the request names: by NameID, and by SessionIndex where it has any. The sender is
 * proven, so a SessionIndex also counts where the format of the NameID alone is another one.
 */
export function selectSessions<Session extends Participation>(
  request: { nameId: NameId; sessionIndexes: readonly string[] },
  sessions: readonly Session[],
  parties: { identityProvider: string; serviceProvider: string },
): Session[] {
  return sessions.filter(
    (session) =>
      sameNameId(session.nameId, request.nameId, parties) &&
      (request.sessionIndexes.length === 0
        ? sameFormat(session.nameId.format, request.nameId.format)
        : request.sessionIndexes.includes(session.sessionIndex)),
  );
}
