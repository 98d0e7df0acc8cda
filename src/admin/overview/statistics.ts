// Numbers for the overview: what there is, and how many signed in, day by day and by application.

import { z } from 'zod';
import type { Base } from '../../base/base.ts';
import { limits } from '../../base/limits.ts';
import type { Clock } from '../../base/platform/clock.ts';
import type { Db } from '../../base/storage/database.ts';
import type { Dialect } from '../../base/storage/dialect.ts';
import { joinFragments } from '../../base/storage/fragments.ts';
import { timesOf } from '../../core/audit/repeated-entries.ts';
import { countUnsentMail } from '../../core/mail/message-store.ts';
import { type Endpoint, endpoint } from '../api/endpoint.ts';
import { iso, jsonOf } from '../api/parts.ts';
import { signInsOf } from '../applications/sign-in-counts.ts';

// /api/admin/me (the caller) and /api/admin/statistics.

const statistics = z.object({
  counted_at: z.iso.datetime(),
  users: z.object({ total: z.int(), disabled: z.int(), with_second_factor: z.int() }),
  applications: z.object({ oidc: z.int(), saml: z.int(), proxy: z.int(), disabled: z.int() }),
  sessions: z.int(),
  mail: z.object({ waiting: z.int(), failed: z.int() }),
  days: z.array(z.object({ day: z.iso.date(), sign_ins: z.int(), failures: z.int() })),
  by_application: z
    .array(z.object({ client: z.string(), sign_ins: z.int() }))
    .describe('Sign-ins to applications, also with a session that exists'),
});

/** /me and /statistics. */
export function overviewEndpoints(count: (days: number) => Promise<Statistics>): Endpoint[] {
  return [
    endpoint('whoAmI', 'GET /me', {
      tag: 'Server',
      needs: [],
      summary: 'The caller and its permissions',
      response: z.object({
        application: z.string().nullable().describe('null with an API key'),
        api_key: z.object({ id: z.string(), name: z.string() }).optional(),
        user: z.object({ id: z.string(), username: z.string() }).nullable(),
        permissions: z.union([z.literal('everything'), z.array(z.string())]),
      }),
      async handle({ caller: { app = null, apiKey, account, rights } }) {
        const user = account ? { id: account.id, username: account.username } : null;
        const permissions = rights === 'everything' ? rights : [...rights];
        return { body: { application: app, ...(apiKey && { api_key: apiKey }), user, permissions } };
      },
    }),
    endpoint('statistics', 'GET /statistics', {
      tag: 'Server',
      needs: ['gatehouse.audit:read'],
      summary: 'Totals, and sign-ins by day and by application',
      query: z.object({ days: z.coerce.number().int().min(1).max(90).default(30) }),
      response: statistics,
      handle: async ({ query }) => ({ body: statisticsJson(await count(query.days)) }),
    }),
  ];
}

const statisticsJson = (counted: Statistics) =>
  jsonOf(statistics, counted, {
    counted_at: iso(counted.at),
    by_application: counted.byApplication.map(({ clientId, signIns }) => ({ client: clientId, sign_ins: signIns })),
  });

export interface Statistics {
  /** When they were counted. */
  at: Date;
  users: { total: number; disabled: number; withSecondFactor: number };
  applications: { oidc: number; saml: number; proxy: number; disabled: number };
  sessions: number;
  mail: { waiting: number; failed: number };
  /** One entry for each day (UTC), the newest last. */
  days: { day: string; signIns: number; failures: number }[];
  /** Sign-ins to applications in those days, also with a session that exists; the most used first. */
  byApplication: { clientId: string; signIns: number }[];
}

const DAY_MS = 86_400_000;
const TOP = 20;
const DONE = 'sign-in.completed';
const FAILED = ['sign-in.password', 'sign-in.passkey', 'sign-in.second-factor', 'sign-in.recovery-code'];

/** Statistics of the last so many days, today included. */
export function createStatistics({ db, sql, now }: Base) {
  return async function statistics(days: number): Promise<Statistics> {
    const at = now();
    const today = new Date(at.toISOString().slice(0, 10));
    const from = new Date(today.getTime() - (days - 1) * DAY_MS);
    const [users, withSecondFactor, applications, sessions, mail, byDay, signIns] = await Promise.all([
      db.user.groupBy({ by: ['isEnabled'], _count: true }),
      countEnrolled(db),
      db.application.groupBy({ by: ['protocol', 'enabled'], _count: true }),
      countSessions(db, at),
      countUnsentMail(db),
      signInsByDay(db, sql.dialect, from),
      signInsOf({ db, sql }, from, new Date(today.getTime() + DAY_MS)),
    ]);
    const sum = (day: string, isDone: boolean) =>
      total(byDay.filter((row) => row.day === day && (row.type === DONE) === isDone));
    return {
      at,
      users: { total: total(users), disabled: total(users.filter(({ isEnabled }) => !isEnabled)), withSecondFactor },
      applications: {
        oidc: total(applications.filter(({ protocol }) => protocol === 'oidc')),
        saml: total(applications.filter(({ protocol }) => protocol === 'saml')),
        proxy: total(applications.filter(({ protocol }) => protocol === 'proxy')),
        disabled: total(applications.filter(({ enabled }) => !enabled)),
      },
      sessions,
      mail,
      days: Array.from({ length: days }, (_, index) => {
        const day = new Date(from.getTime() + index * DAY_MS).toISOString().slice(0, 10);
        return { day, signIns: sum(day, true), failures: sum(day, false) };
      }),
      byApplication: mostUsed(signIns),
    };
  };
}

interface Counted {
  _count: number | bigint;
}

function total(rows: readonly Counted[]): number {
  return rows.reduce((sum, row) => sum + Number(row._count), 0);
}

/** Users with one of the factors that the page of a user lists. Prisma has no UNION. */
async function countEnrolled(db: Db): Promise<number> {
  return total(
    await db.$queryRaw<Counted[]>`SELECT COUNT(*) AS "_count" FROM (
      SELECT user_id FROM totp_credentials WHERE confirmed_at IS NOT NULL
      UNION SELECT user_id FROM passkeys UNION SELECT user_id FROM phone_factors) AS enrolled`,
  );
}

// With the plus, SQLite does not choose the index on the time alone, for which it would read every row.
async function countSessions(db: Db, now: Date): Promise<number> {
  return total(
    await db.$queryRaw<Counted[]>`SELECT COUNT(*) AS "_count" FROM oidc_artifacts
      WHERE account_id > '' AND model = 'Session' AND +expires_at > ${Math.floor(now.getTime() / 1000)}`,
  );
}

// Prisma cannot group by an expression.
function signInsByDay(db: Db, dialect: Dialect, from: Date): Promise<(Counted & { day: string; type: string })[]> {
  const day = dialect.utcDay('at');
  return db.$queryRaw`SELECT ${day} AS day, type, SUM(${timesOf(dialect)}) AS "_count" FROM audit_events
    WHERE at >= ${from} AND ((type = ${DONE} AND outcome = 'success')
      OR (outcome = 'failure' AND type IN (${joinFragments(FAILED)})))
    GROUP BY ${day}, type`;
}

/** As in the list of applications: with the use of a session that exists. */
function mostUsed(signIns: readonly { clientId: string; count: number }[]): Statistics['byApplication'] {
  const counts = new Map<string, number>();
  for (const { clientId, count } of signIns) counts.set(clientId, (counts.get(clientId) ?? 0) + count);
  return [...counts]
    .map(([clientId, count]) => ({ clientId, signIns: count }))
    .sort((one, other) => other.signIns - one.signIns || (one.clientId < other.clientId ? -1 : 1))
    .slice(0, TOP);
}

// Statistics of a large database take up to a second to count, and on SQLite nothing else runs meanwhile. So the last ones are used for a
// while, with the time at which they were counted, and new ones are counted after the answer.

const { countedRows, msPerRow, maxAgeMs } = limits.statistics;

/**
 * Returns `count` with a cache. A small database is counted each time. For a large one the age is at most some minutes, unless there was no
 * request for longer: then the next but one answer is new. Throws what `count` throws when nothing is cached.
 */
export function cacheStatistics(count: (days: number) => Promise<Statistics>, now: Clock) {
  const cached = new Map<number, Statistics>();
  const counting = new Map<number, Promise<Statistics>>();

  function recount(days: number): Promise<Statistics> {
    const running = counting.get(days);
    if (running) return running;
    const counted = count(days)
      .then((statistics) => {
        if (maxAge(statistics) > 0) cached.set(days, statistics);
        else cached.delete(days);
        return statistics;
      })
      .finally(() => counting.delete(days));
    counting.set(days, counted);
    return counted;
  }

  return async (days: number): Promise<Statistics> => {
    const last = cached.get(days);
    if (!last) return recount(days);
    const age = now().getTime() - last.at.getTime();
    // A failure is that of the next request.
    if (age < 0 || age > maxAge(last)) setImmediate(() => void recount(days).catch(() => cached.delete(days)));
    return last;
  };
}

function maxAge({ users, sessions, days }: Statistics): number {
  const rows = days.reduce((sum, { signIns, failures }) => sum + signIns + failures, users.total + sessions);
  return rows < countedRows ? 0 : Math.min(maxAgeMs, rows * msPerRow);
}
