// The sign-ins of all applications in the last 30 days, for their list. A day that is over is counted once, and in a
// large log each day by itself, so that a million entries hold up nothing: until every day was counted there are no numbers.
import { setTimeout as sleep, setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { Clock } from '../../base/platform/clock.ts';
import type { Db } from '../../base/storage/database.ts';
import { joinFragments } from '../../base/storage/fragments.ts';
import type { Sql } from '../../base/storage/statements.ts';

export interface SignInCount {
  /** One number for each three days, the oldest first. */
  bars: number[];
  total: number;
  last: Date;
}

interface CountOfDay {
  count: number;
  last: Date;
}

interface CountedDay {
  /** When it was counted, and how long that took. */
  at: number;
  tookMs: number;
  /** By client_id or entity ID. */
  counts: ReadonlyMap<string, CountOfDay>;
}

interface Context {
  db: Db;
  sql: Sql;
}

const DAY_MS = 86_400_000;
const DAYS = 30;
const DAYS_PER_BAR = 3;
/** A SAML sign-in ends with a response; an OIDC one with a sign-in, or with the use of a session that exists. */
export const SIGN_IN_ENDS = {
  oidc: ['sign-in.completed', 'authorization.granted'],
  saml: ['saml.response'],
  proxy: ['sign-in.completed', 'authorization.granted'],
} as const;
const ENDS = [...SIGN_IN_ENDS.oidc, ...SIGN_IN_ENDS.saml];
/** How long a page waits for the first count, and how long the count of today is used: more where it takes longer. */
const WAIT_MS = 60;
const FRESH_MS = 5000;
const FRESH_FACTOR = 100;
/** After a count that was quicker, twice as many days are counted together. */
const QUICK_MS = 5;

export function createSignInCounts({ db, sql, now }: Context & { now: Clock }) {
  const days = new Map<number, CountedDay>();
  let counting: Promise<void> | undefined;

  /** A day that was over when it was counted stays as it is; today is counted again after a while. */
  function isFresh(day: number, current: number): boolean {
    const counted = days.get(day);
    if (!counted) return false;
    if (counted.at >= day + DAY_MS) return true;
    const age = now().getTime() - counted.at;
    return day === current && age >= 0 && age < Math.max(FRESH_MS, counted.tookMs * FRESH_FACTOR);
  }

  async function countMissing(current: number): Promise<void> {
    for (const day of days.keys()) if (day <= current - DAYS * DAY_MS || day > current) days.delete(day);
    let missing = lastDaysFrom(current).filter((day) => !isFresh(day, current));
    for (let together = 1; missing.length > 0; ) {
      const piece = missing.slice(0, together);
      missing = missing.slice(together);
      const at = now().getTime();
      const start = performance.now();
      const counts = await countDays({ db, sql }, Math.min(...piece), Math.max(...piece) + DAY_MS);
      const tookMs = performance.now() - start;
      for (const day of piece) days.set(day, { at, tookMs, counts: counts.get(dayName(day)) ?? new Map() });
      if (tookMs < QUICK_MS) together *= 2;
      await yieldToEventLoop();
    }
  }

  return {
    /** By client_id or entity ID; absent without a sign-in. Undefined while the days are being counted for the first time. */
    async lastDays(): Promise<ReadonlyMap<string, SignInCount> | undefined> {
      const current = Math.floor(now().getTime() / DAY_MS) * DAY_MS;
      counting ??= countMissing(current).finally(() => {
        counting = undefined;
      });
      const isDone = await Promise.race([counting.then(() => true), sleep(WAIT_MS, false, { ref: false })]);
      return isDone || lastDaysFrom(current).every((day) => days.has(day)) ? summed(days, current) : undefined;
    },
  };
}

function lastDaysFrom(current: number): number[] {
  return Array.from({ length: DAYS }, (_, back) => current - back * DAY_MS);
}

function summed(days: ReadonlyMap<number, CountedDay>, current: number): Map<string, SignInCount> {
  const all = new Map<string, SignInCount>();
  for (const [day, { counts }] of days) {
    const bar = Math.floor((DAYS - 1 - (current - day) / DAY_MS) / DAYS_PER_BAR);
    for (const [clientId, { count, last }] of counts) {
      const one = all.get(clientId) ?? { bars: Array.from({ length: DAYS / DAYS_PER_BAR }, () => 0), total: 0, last };
      one.bars[bar] = (one.bars[bar] ?? 0) + count;
      one.total += count;
      if (last > one.last) one.last = last;
      all.set(clientId, one);
    }
  }
  return all;
}

interface Row {
  day: string;
  clientId: string;
  type: string;
  count: number | bigint;
  last: Date | string;
  /** Null: it is deleted. */
  isSaml: boolean | number | null;
}

/** By day and application. Reads only the index on type, time, outcome and application. */
async function countDays(context: Context, from: number, until: number): Promise<Map<string, Map<string, CountOfDay>>> {
  const byDay = new Map<string, Map<string, CountOfDay>>();
  for (const { day, clientId, count, last } of await signInsOf(context, new Date(from), new Date(until))) {
    const counts = byDay.get(day) ?? new Map<string, CountOfDay>();
    byDay.set(day, counts);
    const before = counts.get(clientId);
    const latest = before && before.last > last ? before.last : last;
    counts.set(clientId, { count: (before?.count ?? 0) + count, last: latest });
  }
  return byDay;
}

/** The sign-ins to applications in this time: for each day (UTC) and application, their number and the last one. */
export async function signInsOf(
  { db, sql }: Context,
  from: Date,
  until: Date,
): Promise<{ day: string; clientId: string; count: number; last: Date }[]> {
  const day = sql.dialect.utcDay('at');
  const rows = await db.$queryRaw<Row[]>`SELECT counted.*, a.protocol = 'saml' AS "isSaml" FROM
      (SELECT ${day} AS day, client_id AS "clientId", type, COUNT(*) AS count, MAX(at) AS last
        FROM audit_events WHERE type IN (${joinFragments(ENDS)})
          AND at >= ${from} AND at < ${until} AND outcome = 'success' AND client_id IS NOT NULL
        GROUP BY ${day}, client_id, type) AS counted
      LEFT JOIN applications a ON a.client_id = counted."clientId"`;
  const isResponse = (type: string) => SIGN_IN_ENDS.saml.some((one) => one === type);
  // A SAML sign-in has an entry of either kind: the response counts. Of a deleted application, its responses tell the protocol.
  const saml = new Set(rows.flatMap(({ type, clientId, isSaml }) => (isSaml || isResponse(type) ? clientId : [])));
  return rows
    .filter(({ clientId, type }) => saml.has(clientId) === isResponse(type))
    .map(({ type: _type, isSaml: _saml, count, last, ...row }) => ({
      ...row,
      count: Number(count),
      last: new Date(last),
    }));
}

function dayName(day: number): string {
  return new Date(day).toISOString().slice(0, 10);
}
