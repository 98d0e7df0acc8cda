// The deliveries of a logout from this server to applications: logout tokens (OIDC Back-Channel Logout 1.0) and
// LogoutRequests by SOAP (SAML Bindings 3.2), as jobs of a queue (core/jobs/queue.ts) with a lane for each application.

import { limits } from '../../base/limits.ts';
import { UnexpectedAnswer } from '../../base/network/outgoing-fetch.ts';
import { type Tx, transaction } from '../../base/storage/database.ts';
import type { Core } from '../../core/core.ts';
import { createJobQueue, type JobOutcome, type JobQueue, jobTable, type QueueStore } from '../../core/jobs/queue.ts';
import type { LogoutRunStore, Outcome } from './logout-run-store.ts';

/**
 * Calls at once, for one application and for all together. A destination that does not respond
 * occupies a slot for `outgoing.timeoutMs`.
 */
const CONCURRENCY = { lane: () => 4, total: limits.delivery.atOnce };
const METRIC = { done: 'delivered', retried: 'retried', 'given-up': 'given-up' } as const;
const deliveryTable = jobTable('logout_deliveries');
const OPEN = { doneAt: null, failedAt: null };

/**
 * The result of a delivery that needs no retry; one that has to be retried throws instead. `switched_off`, also the reason in
 * the audit log: the application is disabled, deleted or has no logout URL any more.
 */
export type DeliveryResult = 'sent' | 'switched_off';

interface Delivery {
  id: string;
  lane: string;
  tries: number;
  lastError: string | null;
  channel: string;
  participantId: string | null;
  clientId: string;
  accountId: string;
  sid: string | null;
}

/** Makes the queue of logout deliveries. One is given up after `limits.delivery.maxTries` attempts. */
export function createLogoutDeliveries(
  dependencies: Core & {
    runs: LogoutRunStore;
    /** Sends one logout token. */
    send(clientId: string, accountId: string, sid: string | undefined): Promise<DeliveryResult>;
    /** Sends the LogoutRequest of one participant. */
    sendSoap(participantId: string): Promise<DeliveryResult>;
    /** Counts the attempt in the metrics. */
    countDelivery?(outcome: (typeof METRIC)[JobOutcome]): void;
  },
): JobQueue {
  const { now, send, sendSoap, countDelivery = () => {} } = dependencies;
  const reportRejection = createRejectionReport(dependencies);
  return createJobQueue<Delivery>({
    now,
    store: deliveryStore(dependencies),
    async attempt(delivery) {
      const { channel, participantId, clientId, accountId, sid } = delivery;
      try {
        const detail = await (channel === 'soap'
          ? sendSoap(participantId ?? '')
          : send(clientId, accountId, sid ?? undefined));
        return { outcome: 'done', detail };
      } catch (error) {
        if (!(error instanceof UnexpectedAnswer) || NOT_OF_THE_APPLICATION.includes(error.status)) throw error;
        await reportRejection(delivery, error);
        return { outcome: 'retry', reason: `${REJECTED} ${error.message}`.slice(0, MAX_REASON) };
      }
    },
    leaseSeconds: limits.delivery.leaseSeconds,
    concurrency: CONCURRENCY,
    maxTries: limits.delivery.maxTries,
    onOutcome: (_delivery, outcome) => countDelivery(METRIC[outcome]),
  });
}

/** How the stored reason of an attempt begins that the application answered, but rejected. */
const REJECTED = 'rejected:';
const MAX_REASON = 200;
/** Statuses of a proxy whose application does not respond, and of too many calls (RFC 9110 15.6.3, RFC 6585 4). */
const NOT_OF_THE_APPLICATION = [429, 502, 503, 504];

/**
 * Logs each rejection with the answer of the application, and records the first of a delivery in the audit log: later attempts get the same
 * answer, and the last one is recorded as logout.failed.
 */
function createRejectionReport({ audit, logger }: Core) {
  return async ({ clientId, accountId, channel, lastError }: Delivery, { status, body }: UnexpectedAnswer) => {
    logger.warn({ clientId, channel, status, answer: body }, 'an application rejected a logout message');
    if (lastError?.startsWith(REJECTED)) return;
    const about = { subjectId: accountId, clientId, data: { channel, status, ...(body && { answer: body }) } };
    await audit.record({ type: 'logout.rejected', outcome: 'failure', reason: 'rejected', ...about });
  };
}

async function dueDeliveries(
  { db, now }: Core,
  { limit, exceptLanes }: Parameters<QueueStore<Delivery>['due']>[0],
): Promise<Delivery[]> {
  const rows = await db.asStored.logoutDelivery.findMany({
    where: { ...OPEN, nextTryAt: { lte: now() }, clientId: { notIn: [...exceptLanes] } },
    // New ones first: the user may be looking at the result page.
    orderBy: [{ tries: 'asc' }, { nextTryAt: 'asc' }],
    take: limit,
  });
  const genuine = rows.filter((row) => db.macs.isGenuine('logout_deliveries', row, row.mac));
  const forged = rows.filter((row) => !genuine.includes(row)).map(({ id }) => id);
  if (forged.length > 0)
    await db.logoutDelivery.updateMany({
      where: { id: { in: forged } },
      data: { failedAt: now(), lastError: 'changed_outside' },
    });
  return genuine.map((row) => ({ ...row, lane: row.clientId }));
}

/** The table `logout_deliveries`. A row may be gone: when the browser reaches the application first, it is deleted. */
function deliveryStore(services: Core & { runs: LogoutRunStore }): QueueStore<Delivery> {
  const { db, now, audit, runs } = services;

  const leasedRow = ({ id, tries }: Delivery) => ({ id, tries: tries + 1, ...OPEN });

  /** Changes the row and records the outcome in one transaction. A repeat after a lost response changes nothing. */
  function store(delivery: Delivery, where: object, data: object, outcome: Outcome): Promise<void> {
    return transaction(db, async (tx) => {
      const { count } = await tx.logoutDelivery.updateMany({ where, data });
      if (count === 1) await recordOutcome(delivery, outcome, tx);
    });
  }

  /** Records the outcome at the participant, or in the audit log if there is no logout run. */
  async function recordOutcome(delivery: Delivery, outcome: Outcome, tx: Tx): Promise<void> {
    const { participantId, accountId, clientId } = delivery;
    const reason = outcome.reason?.startsWith(REJECTED) ? 'rejected' : outcome.reason;
    if (participantId) return void (await runs.settle({ id: participantId }, { ...outcome, reason }, tx));
    const about = { subjectId: accountId, clientId, ...(reason && { reason }) };
    if (outcome.state === 'done') await audit.record({ type: 'logout.delivered', outcome: 'success', ...about }, tx);
    if (outcome.state === 'failed') await audit.record({ type: 'logout.failed', outcome: 'failure', ...about }, tx);
  }

  return {
    ...deliveryTable(services),
    due: (query) => dueDeliveries(services, query),

    complete(delivery, detail) {
      const data = { doneAt: now(), lastError: null };
      const outcome =
        detail === 'switched_off' ? ({ state: 'failed', reason: detail } as const) : ({ state: 'done' } as const);
      return store(delivery, { id: delivery.id, ...OPEN }, data, outcome);
    },

    retry(delivery, { reason, nextTryAt }) {
      const data = { lastError: reason, nextTryAt };
      return store(delivery, leasedRow(delivery), data, { state: 'retrying', reason });
    },

    giveUp(delivery, reason) {
      const data = { lastError: reason, failedAt: now() };
      return store(delivery, leasedRow(delivery), data, { state: 'failed', reason });
    },
  };
}
