// One function ends a session, whoever wants it ended: the person, an application, an admin, a password reset, time. The
// session, its grants and the remembered second factor go first and in one transaction with the list of those to be told,
// so that neither a stalled application nor a crash in between keeps anything alive or anybody uninformed.
import type { Audit, By } from '../audit/audit.ts';
import type { SessionEntry, Sessions } from '../oidc/sessions.ts';
import type { Clock } from '../platform/clock.ts';
import { type Db, type Tx, transaction } from '../platform/db.ts';
import { randomId } from '../platform/random.ts';
import { planParticipants } from './participants.ts';
import type { Answer, RunRef, Walker } from './run.ts';
import type { Runs } from './runs.ts';

export type EndReason =
  | 'signed-out'
  | 'application-signed-out'
  | 'ended-by-person'
  | 'ended-by-admin'
  | 'password-reset'
  | 'account-disabled'
  | 'account-deleted'
  | 'roles-changed'
  | 'expired';

export interface EndBy extends By {
  /** The application that asked. */
  clientId?: string;
  /** The browser that is led through the applications, and where it goes at the end. */
  walk?: { browser: Walker; answer: Answer };
}

export interface Ended {
  /** Who is still to be told; undefined when nobody is. */
  run: RunRef | undefined;
}

export interface EndSession {
  /** Ends one session. Undefined when it had already ended. */
  one(uid: string, reason: EndReason, by?: EndBy): Promise<Ended | undefined>;
  /** Ends these sessions as one sign-out. Undefined when all had already ended. */
  several(uids: readonly string[], reason: EndReason, by?: EndBy): Promise<Ended | undefined>;
  /** Ends every session of an account and takes back all its tokens, offline ones included. Returns how many ended. */
  all(accountId: string, reason: EndReason, by?: By, tx?: Tx): Promise<number>;
  /** Ends every session that an application takes part in. Returns how many ended. */
  ofApplication(clientId: string, reason: EndReason, by?: By): Promise<number>;
  /** Ends what has run out of time, so that its applications hear of it. Returns how many ended. */
  expired(signal?: AbortSignal): Promise<number>;
  /** Notes that a relying party is to be told, while the person stays signed in. */
  queue(clientId: string, accountId: string, sid: string | undefined): Promise<void>;
}

export interface EndSessionNeeds {
  db: Db;
  now: Clock;
  audit: Audit;
  sessions: Sessions;
  runs: Runs;
  /** Our own pages as an application; they need not be told. */
  ownClientId: string;
  /** Forgets the second factor in the browsers of these sessions, or in all browsers of the account. */
  endTrust(accountId: string, sessionUids: readonly string[] | 'all', tx: Tx): Promise<void>;
  /** Wakes the calls of ours to the applications. */
  deliverSoon(): void;
}

const BATCH = 100;

export function createEndSession(needs: EndSessionNeeds): EndSession {
  const { db, now, audit, sessions, runs, ownClientId, endTrust, deliverSoon } = needs;

  async function plan(ended: SessionEntry[], reason: EndReason, { clientId, walk }: EndBy, tx: Tx) {
    const userId = ended[0]?.accountId ?? '';
    const options = { ownClientId, hasBrowser: walk !== undefined, askedBy: clientId };
    const participants = await planParticipants(tx, ended, options);
    await tx.samlParticipant.deleteMany({ where: { sessionUid: { in: ended.map(({ uid }) => uid) } } });
    if (participants.length === 0 && !walk) return undefined;
    return runs.create({ userId, reason, askedBy: clientId, participants, walk }, tx);
  }

  /** Sessions of one account. */
  async function endSome(meant: SessionEntry[], reason: EndReason, by: EndBy, tx: Tx): Promise<Ended | undefined> {
    const ended: SessionEntry[] = [];
    for (const session of meant) ended.push(...[(await sessions.remove(session, tx)) ?? []].flat());
    const [first] = ended;
    if (!first) return undefined;
    const uids = ended.map(({ uid }) => uid);
    // A browser is remembered for longer than a session lasts; only somebody's wish ends that.
    if (reason !== 'expired') await endTrust(first.accountId, uids, tx);
    const run = await plan(ended, reason, by, tx);
    const { actorId, clientId, request } = by;
    await audit.record(
      {
        type: 'session.ended',
        outcome: 'success',
        reason,
        subjectId: first.accountId,
        ...(actorId && { actorId }),
        ...(clientId && { clientId }),
        ...(request && { request }),
        data: { sessions: ended.length, ...(run && { run: run.id }) },
      },
      tx,
    );
    return { run };
  }

  async function endAll(accountId: string, reason: EndReason, by: By, tx: Tx): Promise<number> {
    const live = await sessions.removeAllOf(accountId, tx);
    // A sign-in that has proven the old password must not be finished with it.
    await tx.signInAttempt.deleteMany({ where: { userId: accountId } });
    await endTrust(accountId, 'all', tx);
    const run = live.length > 0 ? await plan(live, reason, {}, tx) : undefined;
    await tx.samlParticipant.deleteMany({ where: { userId: accountId } });
    const data = { count: live.length, ...(run && { run: run.id }) };
    await audit.record(
      { type: 'sessions.ended-all', outcome: 'success', reason, subjectId: accountId, data, ...by },
      tx,
    );
    return live.length;
  }

  const several: EndSession['several'] = async (uids, reason, by = {}) => {
    const ended = await transaction(db, async (tx) => {
      const found: SessionEntry[] = [];
      for (const uid of new Set(uids)) found.push(...[(await sessions.find(uid, tx)) ?? []].flat());
      const groups = byAccount(found);
      let first: Ended | undefined;
      for (const group of groups) {
        // One browser is led through one sign-out; further accounts under the same name are told by calls alone.
        const { walk, ...others } = by;
        const ended = await endSome(group, reason, first ? others : by, tx);
        first ??= ended;
      }
      return first;
    });
    if (ended) deliverSoon();
    return ended;
  };

  return {
    several,
    one: (uid, reason, by) => several([uid], reason, by),

    async all(accountId, reason, by = {}, tx) {
      const count = tx
        ? await endAll(accountId, reason, by, tx)
        : await transaction(db, (own) => endAll(accountId, reason, by, own));
      deliverSoon();
      return count;
    },

    async ofApplication(clientId, reason, by = {}) {
      let count = 0;
      for await (const { uid } of sessions.withParticipant(clientId)) {
        if (await several([uid], reason, by)) count += 1;
      }
      return count;
    },

    async expired(signal) {
      let count = 0;
      for (;;) {
        const batch = await sessions.expired(BATCH);
        for (const session of batch) await transaction(db, (tx) => endSome([session], 'expired', {}, tx));
        count += batch.length;
        if (count > 0) deliverSoon();
        if (batch.length < BATCH || signal?.aborted) return count;
      }
    },

    async queue(clientId, accountId, sid) {
      const delivery = { id: randomId(), clientId, accountId, sid: sid ?? null, nextTryAt: now(), createdAt: now() };
      await db.logoutDelivery.create({ data: delivery });
      deliverSoon();
    },
  };
}

function byAccount(found: SessionEntry[]): SessionEntry[][] {
  const groups = new Map<string, SessionEntry[]>();
  for (const session of found) groups.set(session.accountId, [...(groups.get(session.accountId) ?? []), session]);
  return [...groups.values()];
}
