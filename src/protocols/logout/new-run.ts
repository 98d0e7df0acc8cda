// Stores a new logout run with its participants and deliveries, in the transaction that ends the sessions.

import { limits } from '../../base/limits.ts';
import { randomId, randomToken, sha256 } from '../../base/platform/random.ts';
import type { Tx } from '../../base/storage/database.ts';
import type { ProtectedRows } from '../../base/storage/protected-rows.ts';
import type { Audit } from '../../core/audit/audit.ts';
import { isSettled, needsBrowser, type ParticipantStatus } from './front-channel/next-step.ts';
import {
  deliveryOf,
  eventOf,
  type FrontChannel,
  isDirectDelivery,
  type NewParticipant,
  type NewRun,
  type RunRef,
  storedState,
} from './logout-run.ts';

/** Stands for "the next browser that opens the run"; it equals no hash. */
export const UNBOUND = '';

interface Writing {
  tx: Tx;
  at: Date;
  audit: Audit;
  protectedRows: ProtectedRows;
}

/** Stores the run. Audits the participants that cannot be notified; queues the deliveries that take no browser. */
export async function insertRun(newRun: NewRun, { tx, at, audit, protectedRows }: Writing): Promise<RunRef> {
  const { userId, participants } = newRun;
  const id = randomToken();
  const run = runRow(id, newRun, at);
  const rows = participants.map((one, position) => {
    const row = { ...participantRow(one, position, at), runId: id };
    return { ...row, mac: protectedRows.macOf('logout_participants', row) };
  });
  const mac = protectedRows.macOf('logout_runs', run);
  await tx.logoutRun.create({ data: { ...run, mac }, select: { id: true } });
  if (rows.length > 0) await tx.logoutParticipant.createMany({ data: rows });
  const deliveries = rows.filter(({ channel, state }) => isDirectDelivery(channel) && state === 'waiting');
  if (deliveries.length > 0) {
    await tx.logoutDelivery.createMany({ data: deliveries.map((row) => deliveryOf(row, userId, at, protectedRows)) });
  }
  for (const row of rows)
    if (isSettled(row as Pick<ParticipantStatus, 'state'>)) await audit.record(eventOf(row, run), tx);
  const waiting = participants.filter(({ state }) => state === 'waiting');
  const browserSteps = waiting.filter(needsBrowser).length;
  const notNotified = participants.filter(({ state }) => state === 'unsupported' || state === 'failed');
  const namesOf = (some: readonly NewParticipant[]) => [...new Set(some.map(({ name }) => name))];
  return {
    id,
    browserSteps,
    deliveries: waiting.length - browserSteps,
    notified: namesOf(waiting),
    notNotified: namesOf(notNotified),
  };
}

function runRow(id: string, { userId, reason, initiator, frontChannel }: NewRun, at: Date) {
  const { completion = { kind: 'page' }, languages } = frontChannel ?? {};
  return {
    id,
    browserHash: browserHashOf(frontChannel),
    userId,
    reason,
    initiator: initiator ?? null,
    completion: JSON.stringify({ ...completion, languages }),
    createdAt: at,
    seenAt: at,
    finishedAt: frontChannel ? null : at,
    expiresAt: new Date(at.getTime() + limits.logout.keepSeconds * 1000),
  };
}

/** Hash of the cookie that binds the run to a browser; null when no browser takes part. */
function browserHashOf(frontChannel: FrontChannel | undefined): string | null {
  if (!frontChannel) return null;
  const { browser } = frontChannel;
  return browser === 'first-to-open' ? UNBOUND : sha256(browser.cookie);
}

function participantRow(one: NewParticipant, position: number, at: Date) {
  return {
    id: randomId(),
    position,
    clientId: one.clientId,
    protocol: one.protocol,
    name: one.name,
    channel: one.channel,
    data: JSON.stringify(one.data),
    state: storedState(one.state),
    reason: one.reason ?? null,
    settledAt: isSettled(one) ? at : null,
  };
}
