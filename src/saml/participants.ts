// Which service provider holds which NameID and SessionIndex in which session: what a logout has to name.
import type { Clock } from '../platform/clock.ts';
import { randomId } from '../platform/random.ts';
import { type Sql, sqlFor } from '../platform/sql.ts';
import type { NameId } from './nameid.ts';

export interface SamlParticipation {
  sessionUid: string;
  userId: string;
  applicationId: string;
  nameId: NameId;
  sessionIndex: string;
}

export interface Participants {
  add(participation: SamlParticipation, expiresAt: Date): Promise<void>;
  /** What one service provider holds under this NameID value. */
  find(applicationId: string, nameIdValue: string): Promise<SamlParticipation[]>;
  /** What it holds in this session, if it takes part already. */
  inSession(sessionUid: string, applicationId: string): Promise<SamlParticipation | undefined>;
}

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

const SELECT = `SELECT session_uid AS "sessionUid", user_id AS "userId", application_id AS "applicationId",
    session_index AS "sessionIndex", name_id AS "nameId", name_id_format AS "nameIdFormat",
    name_qualifier AS "nameQualifier", sp_name_qualifier AS "spNameQualifier"
  FROM saml_participants WHERE expires_at > ?`;

const SQL = {
  add: `INSERT INTO saml_participants (id, session_uid, user_id, application_id, session_index,
      name_id, name_id_format, name_qualifier, sp_name_qualifier, created_at, expires_at)
    VALUES (?,?,?,?,?,?,?,?,?,?,?)
    ON CONFLICT (session_uid, application_id, session_index) DO UPDATE SET user_id = excluded.user_id,
      name_id = excluded.name_id, name_id_format = excluded.name_id_format, name_qualifier = excluded.name_qualifier,
      sp_name_qualifier = excluded.sp_name_qualifier, expires_at = excluded.expires_at`,
  find: `${SELECT} AND application_id = ? AND name_id = ?`,
  inSession: `${SELECT} AND session_uid = ? AND application_id = ?`,
};

export interface ParticipantsNeeds {
  sql: Sql;
  kind: 'sqlite' | 'postgresql';
  now: Clock;
}

export function createParticipants({ sql, kind, now }: ParticipantsNeeds): Participants {
  const text = sqlFor(kind, SQL);

  return {
    async add({ sessionUid, userId, applicationId, nameId, sessionIndex }, expiresAt) {
      const { value, format, nameQualifier = null, spNameQualifier = null } = nameId;
      const identifier = [value, format, nameQualifier, spNameQualifier];
      const who = [randomId(), sessionUid, userId, applicationId, sessionIndex];
      await sql.execute(text.add, ...who, ...identifier, now(), expiresAt);
    },

    async find(applicationId, nameIdValue) {
      return (await sql.query<Row>(text.find, now(), applicationId, nameIdValue)).map(participationOf);
    },

    async inSession(sessionUid, applicationId) {
      const [row] = await sql.query<Row>(text.inSession, now(), sessionUid, applicationId);
      return row && participationOf(row);
    },
  };
}

function participationOf({ nameId, nameIdFormat, nameQualifier, spNameQualifier, ...row }: Row): SamlParticipation {
  return {
    ...row,
    nameId: {
      value: nameId,
      format: nameIdFormat,
      ...(nameQualifier === null ? {} : { nameQualifier }),
      ...(spNameQualifier === null ? {} : { spNameQualifier }),
    },
  };
}
