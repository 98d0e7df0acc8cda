// Calls of ours that tell applications of a sign-out: logout tokens (OIDC Back-Channel Logout 1.0) and LogoutRequests by
// SOAP (SAML Bindings 3.2). Kept in the database, tried again with growing pauses, given up at last. Nobody waits for
// them, and a restart loses none.
import type { Audit } from '../audit/audit.ts';
import { limits } from '../limits.ts';
import type { Clock } from '../platform/clock.ts';
import type { Db } from '../platform/db.ts';
import type { Outcome, Runs } from './runs.ts';

const BATCH = 50;
const AT_ONCE = 8;

/** What came of a call that was answered. Throws when it should be tried again. */
export type CallResult = 'sent' | 'no-such-client';

export interface LogoutDeliveriesNeeds {
  db: Db;
  now: Clock;
  audit: Audit;
  runs: Pick<Runs, 'settle'>;
  /** Sends one logout token. */
  send(clientId: string, accountId: string, sid: string | undefined): Promise<CallResult>;
  /** Sends the LogoutRequest of one participant. */
  sendSoap(participantId: string): Promise<CallResult>;
  /** For the metrics. */
  counted?(outcome: 'delivered' | 'retried' | 'given-up'): void;
}

/** Tries all deliveries that are due; run by one instance at a time. Returns how many were looked at. */
export function createLogoutDeliveries(needs: LogoutDeliveriesNeeds) {
  const { db, now, audit, runs, send, sendSoap, counted = () => {} } = needs;
  type Delivery = Awaited<ReturnType<typeof due>>[number];

  function due() {
    return db.logoutDelivery.findMany({
      where: { doneAt: null, failedAt: null, nextTryAt: { lte: now() } },
      // New ones first: somebody may be looking at their result.
      orderBy: [{ tries: 'asc' }, { nextTryAt: 'asc' }],
      take: BATCH,
    });
  }

  /** With a participant its outcome is the event, else the delivery's. */
  async function note(delivery: Delivery, outcome: Outcome): Promise<void> {
    const { participantId, accountId, clientId } = delivery;
    if (participantId) return void (await runs.settle({ id: participantId }, outcome));
    const about = { subjectId: accountId, clientId, ...(outcome.reason && { reason: outcome.reason }) };
    if (outcome.state === 'done') await audit.record({ type: 'logout.delivered', outcome: 'success', ...about });
    if (outcome.state === 'failed') await audit.record({ type: 'logout.failed', outcome: 'failure', ...about });
  }

  async function attempt(delivery: Delivery): Promise<void> {
    const { id, tries, channel, clientId, accountId, sid, participantId } = delivery;
    // Conditional, like all that follows: the browser may have got through meanwhile, and the row be gone.
    const update = (data: object) =>
      db.logoutDelivery.updateMany({ where: { id }, data: { tries: tries + 1, ...data } });
    try {
      const result = await (channel === 'soap'
        ? sendSoap(participantId ?? '')
        : send(clientId, accountId, sid ?? undefined));
      await update({ doneAt: now(), lastError: null });
      counted('delivered');
      await note(delivery, result === 'sent' ? { state: 'done' } : { state: 'failed', reason: 'switched_off' });
    } catch (error) {
      const lastError = (error instanceof Error ? error.message : String(error)).slice(0, 200);
      const isLast = tries + 1 >= limits.delivery.maxTries;
      const nextTryAt = new Date(now().getTime() + pauseSeconds(tries) * 1000);
      await update({ lastError, ...(isLast ? { failedAt: now() } : { nextTryAt }) });
      counted(isLast ? 'given-up' : 'retried');
      await note(delivery, { state: isLast ? 'failed' : 'retrying', reason: lastError });
    }
  }

  return async function deliver(signal?: AbortSignal): Promise<number> {
    let count = 0;
    for (;;) {
      const deliveries = await due();
      // A few at a time: one dead application holds up its own share only.
      for (let start = 0; start < deliveries.length; start += AT_ONCE) {
        await Promise.all(deliveries.slice(start, start + AT_ONCE).map(attempt));
      }
      count += deliveries.length;
      if (deliveries.length < BATCH || signal?.aborted) return count;
    }
  };
}

/** Pause after the given number of failed tries before this one: doubling, up to the longest. */
export function pauseSeconds(tries: number): number {
  return Math.min(limits.delivery.firstPauseSeconds * 2 ** tries, limits.delivery.maxPauseSeconds);
}
