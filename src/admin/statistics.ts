// Numbers for the overview: what there is, and how many signed in, day by day and by application.
import type { Clock } from '../platform/clock.ts';
import type { DatabaseKind } from '../platform/database-url.ts';
import type { Db } from '../platform/db.ts';
import { type Sql, sqlFor } from '../platform/sql.ts';

export interface Statistics {
  users: { total: number; disabled: number; withSecondFactor: number };
  applications: { oidc: number; saml: number; disabled: number };
  sessions: number;
  mail: { waiting: number; failed: number };
  /** One entry for each day (UTC), the newest last. */
  days: { day: string; signIns: number; failures: number }[];
  /** Sign-ins of those days by application, the most used first. */
  byApplication: { clientId: string; signIns: number }[];
}

export interface StatisticsNeeds {
  db: Db;
  sql: Sql;
  kind: DatabaseKind;
  now: Clock;
}

const DAY_MS = 86_400_000;
const TOP = 20;
const DONE = 'sign-in.completed';
const FAILED = ['sign-in.password', 'sign-in.passkey', 'sign-in.second-factor', 'sign-in.recovery-code'];

/** Statistics of the last so many days, today included. */
export function createStatistics({ db, sql, kind, now }: StatisticsNeeds) {
  const day = kind === 'sqlite' ? 'substr(at, 1, 10)' : `to_char(at, 'YYYY-MM-DD')`;
  const text = sqlFor(kind, {
    days: `SELECT ${day} AS day, type, COUNT(*) AS count FROM audit_events
      WHERE at >= ? AND ((type = '${DONE}' AND outcome = 'success') OR (outcome = 'failure' AND type IN (${quoted(FAILED)})))
      GROUP BY ${day}, type`,
    applications: `SELECT client_id AS "clientId", COUNT(*) AS count FROM audit_events
      WHERE type = '${DONE}' AND outcome = 'success' AND at >= ? AND client_id IS NOT NULL
      GROUP BY client_id ORDER BY count DESC, client_id LIMIT ${TOP}`,
    users: 'SELECT COUNT(*) AS total, COUNT(CASE WHEN is_active THEN 1 END) AS active FROM users',
    // With the plus SQLite leaves the index on the time alone, for which it would read every row.
    sessions: `SELECT COUNT(*) AS count FROM oidc_artifacts
      WHERE account_id > '' AND model = 'Session' AND +expires_at > ?`,
    secondFactor: `SELECT COUNT(*) AS count FROM (SELECT user_id FROM totp_credentials WHERE confirmed_at IS NOT NULL
      UNION SELECT user_id FROM passkeys) AS enrolled`,
  });

  return async function statistics(days: number): Promise<Statistics> {
    const today = new Date(now().toISOString().slice(0, 10));
    const from = new Date(today.getTime() - (days - 1) * DAY_MS);
    const [people, enrolled, applications, sessions, waiting, failed, counted, top] = await Promise.all([
      sql.query<{ total: number; active: number }>(text.users),
      sql.query<{ count: number }>(text.secondFactor),
      db.application.groupBy({ by: ['protocol', 'enabled'], _count: true }),
      sql.query<{ count: number }>(text.sessions, Math.floor(now().getTime() / 1000)),
      db.mailMessage.count({ where: { sentAt: null, failedAt: null } }),
      db.mailMessage.count({ where: { failedAt: { not: null } } }),
      sql.query<{ day: string; type: string; count: number }>(text.days, from),
      sql.query<{ clientId: string; count: number }>(text.applications, from),
    ]);
    const sum = (name: string, isDone: boolean) =>
      counted
        .filter((row) => row.day === name && (row.type === DONE) === isDone)
        .reduce((all, { count }) => all + Number(count), 0);
    const total = Number(people[0]?.total ?? 0);
    const ofProtocol = (protocol: string) =>
      applications.filter((row) => row.protocol === protocol).reduce((all, { _count }) => all + _count, 0);
    return {
      users: {
        total,
        disabled: total - Number(people[0]?.active ?? 0),
        withSecondFactor: Number(enrolled[0]?.count ?? 0),
      },
      applications: {
        oidc: ofProtocol('oidc'),
        saml: ofProtocol('saml'),
        disabled: applications.filter(({ enabled }) => !enabled).reduce((all, { _count }) => all + _count, 0),
      },
      sessions: Number(sessions[0]?.count ?? 0),
      mail: { waiting, failed },
      days: Array.from({ length: days }, (_, index) => {
        const name = new Date(from.getTime() + index * DAY_MS).toISOString().slice(0, 10);
        return { day: name, signIns: sum(name, true), failures: sum(name, false) };
      }),
      byApplication: top.map(({ clientId, count }) => ({ clientId, signIns: Number(count) })),
    };
  };
}

function quoted(words: readonly string[]): string {
  return words.map((word) => `'${word}'`).join(', ');
}
