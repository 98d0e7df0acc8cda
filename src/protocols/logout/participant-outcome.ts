// The outcome of a participant: stored once with its audit event, also when two requests are concurrent.

import { type Tx, transaction, withinTransaction } from '../../base/storage/database.ts';
import type { Core } from '../../core/core.ts';
import type { ParticipantState } from './front-channel/next-step.ts';
import { deliveryOf, eventOf, type Participant, storedState } from './logout-run.ts';

export interface Outcome {
  state: Exclude<ParticipantState, 'waiting' | 'sent'>;
  reason?: string | undefined;
}

/** After these failures a late LogoutResponse still counts. */
const LATE_RESPONSE_COUNTS = ['no_answer', 'browser_left'];
/** As stored. */
const OPEN = (['waiting', 'sent', 'retrying'] as const).map((state) => storedState(state));

/** Whether an outcome of this participant can still be stored. */
export function isOpen({ state, reason }: { state: string; reason: string | null }): boolean {
  return OPEN.includes(state) || LATE_RESPONSE_COUNTS.includes(reason ?? '');
}

/** Stores the outcome with its audit event, in the transaction of the caller if there is one; false when there is one already. */
export async function settleParticipant(
  { db, now, audit }: Core,
  { id }: Pick<Participant, 'id'>,
  { state, reason }: Outcome,
  within?: Tx,
): Promise<boolean> {
  return withinTransaction(db, within, async (tx) => {
    const data = { state: storedState(state), reason: reason ?? null, settledAt: now(), deadline: null };
    const unsettled = { OR: [{ state: { in: OPEN } }, { state: 'failed', reason: { in: LATE_RESPONSE_COUNTS } }] };
    const { count } = await tx.logoutParticipant.updateMany({ where: { id, ...unsettled }, data });
    if (count === 0) return false;
    if (state === 'retrying') return true; // no final outcome
    await tx.logoutDelivery.deleteMany({ where: { participantId: id, doneAt: null, failedAt: null } });
    const row = await tx.asStored.logoutParticipant.findUniqueOrThrow({ where: { id }, include: { run: true } });
    await audit.record(eventOf(row, row.run), tx);
    return true;
  });
}

/** The browser did not complete the step: falls back to SOAP where there is an endpoint, else stores the failure. */
export async function recordBrowserFailure(
  dependencies: Core,
  participant: Participant,
  reason: string,
  wakeLogoutDeliveries: () => void,
): Promise<void> {
  const { db, now } = dependencies;
  const { id, runId, data, probeResult } = participant;
  // Its response to the probe already said that the session has ended.
  if (probeResult === 'confirmed') return void (await settleParticipant(dependencies, participant, { state: 'done' }));
  if (!data.hasSoap || participant.channel === 'soap')
    return void (await settleParticipant(dependencies, participant, { state: 'failed', reason }));
  const changed = await transaction(db, async (tx) => {
    const bySoap = { channel: 'soap', state: 'waiting', reason, deadline: null };
    const where = { id, channel: { not: 'soap' }, state: { in: OPEN } };
    const { count } = await tx.logoutParticipant.updateMany({ where, data: bySoap });
    if (count === 0) return false;
    const { userId } = await tx.asStored.logoutRun.findUniqueOrThrow({
      where: { id: runId },
      select: { userId: true },
    });
    const row = { id, clientId: participant.clientId, channel: 'soap', data: JSON.stringify(data) };
    await tx.logoutDelivery.create({ data: deliveryOf(row, userId, now()) });
    return true;
  });
  if (changed) wakeLogoutDeliveries();
}
