// The service providers of each session, with the NameID and SessionIndex that a LogoutRequest has to name.

import type { Base } from '../../../base/base.ts';
import { randomId } from '../../../base/platform/random.ts';
import { hotStatements } from '../../../base/storage/statements.ts';
import { notEndedCondition } from '../../oidc/store/sessions/ended-sessions.ts';
import type { NameId } from '../messages/name-id.ts';

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
  const { sessionUid, userId, applicationId, sessionIndex, nameId, nameIdFormat, nameQualifier, spNameQualifier } = row;
  return {
    sessionUid,
    userId,
    applicationId,
    sessionIndex,
    nameId: {
      value: nameId,
      format: nameIdFormat,
      ...(nameQualifier === null ? {} : { nameQualifier }),
      ...(spNameQualifier === null ? {} : { spNameQualifier }),
    },
  };
}
