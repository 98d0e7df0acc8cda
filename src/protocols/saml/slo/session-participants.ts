// The service providers of each session, with the NameID and SessionIndex that a LogoutRequest has to name.

import type { Base } from '../../../base/base.ts';
import { limits } from '../../../base/limits.ts';
import { randomId } from '../../../base/platform/random.ts';
import type { Tx } from '../../../base/storage/database.ts';
import { hotStatements } from '../../../base/storage/statements.ts';
import { notEndedCondition } from '../../oidc/store/sessions/ended-sessions.ts';
import { type NameId, sameFormat, sameNameId } from '../messages/name-id.ts';

export interface SamlParticipation {
  sessionUid: string;
  userId: string;
  applicationId: string;
  nameId: NameId;
  sessionIndex: string;
}

export type SessionParticipants = ReturnType<typeof createSessionParticipants>;

interface Row {
  sessionUid: string;
  userId: string;
  applicationId: string;
  sessionIndex: string;
  nameId: string;
  nameIdFormat: string;
  nameQualifier: string | null;
  spNameQualifier: string | null;
}

export const statements = hotStatements('saml-participants', {
  add: `INSERT INTO saml_participants (id, session_uid, user_id, application_id, session_index,
      name_id, name_id_format, name_qualifier, sp_name_qualifier, created_at, expires_at)
    VALUES (?,?,?,?,?,?,?,?,?,?,?)
    ON CONFLICT (session_uid, application_id, session_index) DO UPDATE SET user_id = excluded.user_id,
      name_id = excluded.name_id, name_id_format = excluded.name_id_format, name_qualifier = excluded.name_qualifier,
      sp_name_qualifier = excluded.sp_name_qualifier, expires_at = excluded.expires_at
    RETURNING ${notEndedCondition('saml_participants.session_uid')} AS "isLive"`,
});

export function createSessionParticipants({ db, sql, now }: Base) {
  return {
    /** False when the session has ended, so that no logout will notify this service provider. */
    async add(
      { sessionUid, userId, applicationId, nameId, sessionIndex }: SamlParticipation,
      expiresAt: Date,
    ): Promise<boolean> {
      const { value, format, nameQualifier = null, spNameQualifier = null } = nameId;
      const identifier = [value, format, nameQualifier, spNameQualifier];
      const who = [randomId(), sessionUid, userId, applicationId, sessionIndex];
      const values = [...who, ...identifier, now(), expiresAt];
      const [row] = await sql.query<{ isLive: boolean | number }>(statements.add, ...values);
      return Boolean(row?.isLive);
    },

    /** The sessions of one service provider under this NameID value. */
    async find(applicationId: string, nameIdValue: string): Promise<SamlParticipation[]> {
      const rows = await db.samlParticipant.findMany({
        where: { applicationId, nameId: nameIdValue, endedAt: null, expiresAt: { gt: now() } },
      });
      return rows.map(participationOf);
    },

    /** Those that have ended, for some time after their end. */
    async findEnded(applicationId: string, nameIdValue: string): Promise<SamlParticipation[]> {
      const isOver = [{ endedAt: { not: null } }, { expiresAt: { lte: now() } }];
      const rows = await db.samlParticipant.findMany({ where: { applicationId, nameId: nameIdValue, OR: isOver } });
      return rows.map(participationOf);
    },

    /** The participation of a service provider in this session, if there is one. */
    async inSession(sessionUid: string, applicationId: string): Promise<SamlParticipation | undefined> {
      const row = await db.samlParticipant.findFirst({
        where: { sessionUid, applicationId, endedAt: null, expiresAt: { gt: now() } },
      });
      return row ? participationOf(row) : undefined;
    },
  };
}

function participationOf(row: Row): SamlParticipation {
  const { sessionUid, userId, applicationId, sessionIndex } = row;
  return { sessionUid, userId, applicationId, sessionIndex, nameId: storedNameId(row) };
}

/** The NameID that the session was signed in with. */
export function storedNameId({
  nameId: value,
  nameIdFormat: format,
  nameQualifier,
  spNameQualifier,
}: Pick<Row, 'nameId' | 'nameIdFormat' | 'nameQualifier' | 'spNameQualifier'>): NameId {
  return {
    value,
    format,
    ...(nameQualifier === null ? {} : { nameQualifier }),
    ...(spNameQualifier === null ? {} : { spNameQualifier }),
  };
}

// Which sessions a LogoutRequest names (SAML Core 3.7.3.2).

interface Participation {
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

// Removes rows of the SAML protocol, inside the transaction of the change that makes them void.

/** Removes all that is stored for a service provider: its requests, session participants and persistent NameIDs. */
export async function removeServiceProviderData(applicationId: string, tx: Tx): Promise<void> {
  await tx.samlRequest.deleteMany({ where: { applicationId } });
  await tx.samlParticipant.deleteMany({ where: { applicationId } });
  await tx.samlNameId.deleteMany({ where: { applicationId } });
}

/** No service provider takes part in these sessions any more; which ones did stays, for a LogoutRequest that comes later. */
export async function endSessionParticipants(sessionUids: readonly string[], now: Date, tx: Tx): Promise<void> {
  await endParticipants({ sessionUid: { in: [...sessionUids] } }, now, tx);
}

/** The same for every session of the account. */
export async function endAccountParticipants(userId: string, now: Date, tx: Tx): Promise<void> {
  await endParticipants({ userId }, now, tx);
}

/** Removes which service providers a deleted account was known to. */
export async function removeAccountParticipants(userId: string, tx: Tx): Promise<void> {
  await tx.samlParticipant.deleteMany({ where: { userId } });
}

async function endParticipants(
  which: { userId: string } | { sessionUid: { in: string[] } },
  now: Date,
  tx: Tx,
): Promise<void> {
  const expiresAt = new Date(now.getTime() + limits.saml.endedParticipantSeconds * 1000);
  await tx.samlParticipant.updateMany({ where: { ...which, endedAt: null }, data: { endedAt: now, expiresAt } });
}
