// How much an application is used: for each day, how many sign-ins it got and how many of its requests were rejected.

import type { Application } from '../../applications/application.ts';
import type { Base } from '../../base/base.ts';
import type { Db } from '../../base/storage/database.ts';
import type { Dialect } from '../../base/storage/dialect.ts';
import { fragment, joinFragments } from '../../base/storage/fragments.ts';
import { timesOf } from '../../core/audit/repeated-entries.ts';
import { isInState } from '../../people/accounts/active.ts';
import { hasRoleNamed, isInGroupNamed } from '../../people/accounts/members.ts';
import type { Demand } from './presets/demands.ts';
import { SIGN_IN_ENDS } from './sign-in-counts.ts';

export interface UsageOfDay {
  /** UTC, YYYY-MM-DD. */
  day: string;
  signIns: number;
  rejected: number;
}

const DAY_MS = 86_400_000;
const REJECTED = ['authorization.rejected', 'token.rejected', 'saml.request', 'saml.response'];

type Row = { day: string; outcome: string; _count: number | bigint };

export function createApplicationUsage({ db, sql, now }: Base) {
  return {
    /** The last so many days, today included, the newest last. */
    async byDay({ clientId, protocol }: Application, days: number): Promise<UsageOfDay[]> {
      const today = new Date(now().toISOString().slice(0, 10));
      const from = new Date(today.getTime() - (days - 1) * DAY_MS);
      const rows = await countByDay(db, sql.dialect, { clientId, signIns: SIGN_IN_ENDS[protocol], from });
      const sum = (day: string, outcome: string) =>
        rows
          .filter((row) => row.day === day && row.outcome === outcome)
          .reduce((all, { _count }) => all + Number(_count), 0);
      return Array.from({ length: days }, (_, index) => {
        const day = new Date(from.getTime() + index * DAY_MS).toISOString().slice(0, 10);
        return { day, signIns: sum(day, 'success'), rejected: sum(day, 'failure') };
      });
    },

    /** When someone first signed in to it; undefined: never. */
    async firstSignIn({ clientId, protocol }: Application): Promise<Date | undefined> {
      const where = { clientId, type: { in: [...SIGN_IN_ENDS[protocol]] }, outcome: 'success' };
      const first = await db.auditEvent.findFirst({ where, orderBy: { id: 'asc' }, select: { at: true } });
      return first?.at;
    },

    /** Whether anyone who may open the application does not meet the demand. @param names the roles or groups of which one meets it */
    async hasUserWithout(
      { access }: Application,
      demand: Demand,
      names: readonly string[],
      kind: 'role' | 'group' = 'role',
    ): Promise<boolean> {
      const lacks = {
        address: fragment`u.email IS NULL`,
        verified: fragment`u.email IS NOT NULL AND NOT u.email_verified`,
        role: fragment`NOT ${kind === 'role' ? hasRoleNamed('u.id', names, now()) : isInGroupNamed('u.id', names, now())}`,
      }[demand];
      const mayOpen =
        access === 'everyone'
          ? fragment`1 = 1`
          : fragment`(${hasRoleNamed('u.id', access.roles, now())} OR ${isInGroupNamed('u.id', access.groups ?? [], now())})`;
      const found = await db.$queryRaw<unknown[]>`
        SELECT u.id FROM users u WHERE ${isInState('u', 'active', now())} AND ${lacks} AND ${mayOpen} LIMIT 1`;
      return found.length > 0;
    },
  };
}

// Prisma cannot group by an expression. All columns but the data of a rejection are in the index on type, time, outcome and client; an
// expression around the client keeps the database from its other index, for which it would read every row of the application.
function countByDay(
  db: Db,
  dialect: Dialect,
  { clientId, signIns, from }: { clientId: string; signIns: readonly string[]; from: Date },
): Promise<Row[]> {
  const day = dialect.utcDay('at');
  return db.$queryRaw`SELECT ${day} AS day, outcome, SUM(${timesOf(dialect)}) AS "_count" FROM audit_events
    WHERE type IN (${joinFragments([...new Set([...signIns, ...REJECTED])])}) AND at >= ${from}
      AND client_id || '' = ${clientId}
      AND ((outcome = 'success' AND type IN (${joinFragments(signIns)}))
        OR (outcome = 'failure' AND type IN (${joinFragments(REJECTED)})))
    GROUP BY ${day}, outcome`;
}
