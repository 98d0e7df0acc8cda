// Which sessions a LogoutRequest names (SAML Core 3.7.3.2).
import { type NameId, sameFormat, sameNameId } from '../messages/name-id.ts';

export interface Participation {
  nameId: NameId;
  sessionIndex: string;
}

/**
 * Those of the service provider's sessions that the request names: by NameID, and by SessionIndex where it has any. The sender is
 * proven, so beside a SessionIndex the value of the NameID is enough: many return it with another format, or with changed qualifiers.
 */
export function selectSessions<Session extends Participation>(
  request: { nameId: NameId; sessionIndexes: readonly string[] },
  sessions: readonly Session[],
  parties: { identityProvider: string; serviceProvider: string },
): Session[] {
  const { nameId, sessionIndexes } = request;
  return sessions.filter((session) =>
    sessionIndexes.length === 0
      ? sameNameId(session.nameId, nameId, parties) && sameFormat(session.nameId.format, nameId.format)
      : session.nameId.value === nameId.value && sessionIndexes.includes(session.sessionIndex),
  );
}
