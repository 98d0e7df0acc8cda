// The periodic jobs of the audit log: new events join the hash chain, those older than the retention are purged, and the whole log
// is verified. To purge is to delete the oldest events and to move the start of the chain; the sweep (server/schedule.ts) deletes
// expired rows of all other tables.

import { setTimeout as sleep } from 'node:timers/promises';
import type { Base } from '../../base/base.ts';
import { limits } from '../../base/limits.ts';
import { plural } from '../../base/platform/plural.ts';
import type { Tx } from '../../base/storage/database.ts';
import type { ScheduledJob, WokenJob } from '../jobs/scheduler.ts';
import type { Alarm } from './alarm.ts';
import type { Audit } from './audit.ts';
import { type AuditChain, ChainError } from './chain/chain.ts';

const PAUSE_MILLISECONDS = 10;

// As small as the batches of sealing, for the same reason.
const PAGE = 20;

/** Purges in short transactions until nothing is left to purge, so that a busy log shrinks too. */
async function purgeAll({ auditChain, retentionDays, now }: AuditJobServices, signal: AbortSignal): Promise<void> {
  const oldest = new Date(now().getTime() - retentionDays() * 24 * 3600 * 1000);
  const { purgeBatch } = limits.audit;
  let count: number = purgeBatch;
  while (count === purgeBatch && !signal.aborted) {
    count = await auditChain.purge(oldest, purgeBatch);
    await sleep(PAUSE_MILLISECONDS);
  }
}

/** An event waits so long for others that join the chain with it. */
const SEAL_DELAY_MS = 400;

type AuditJobServices = Base & {
  auditChain: AuditChain;
  audit: Audit;
  alarm: Alarm;
  retentionDays(): number;
  wake(job: WokenJob, tx: Tx): void;
};

export function auditJobs(services: AuditJobServices): ScheduledJob[] {
  const { db, auditChain, audit, alarm, wake } = services;

  async function seal(signal: AbortSignal): Promise<void> {
    try {
      if ((await auditChain.seal(signal)) > 0) wake('event-streams', db);
    } catch (error) {
      if (error instanceof ChainError) await alarm.raise('audit-log', error.message);
      throw error;
    }
  }

  async function verify(): Promise<void> {
    const result = await auditChain.verify({ pageSize: PAGE });
    if (result.ok) {
      const { entries, newest } = result;
      return audit.record({ type: 'audit.verified', outcome: 'success', data: { entries, newest } });
    }
    const [first, ...more] = result.faults.map(({ message }) => message);
    const data = { faults: result.faults.slice(0, 20).map(({ kind, seq, id }) => ({ kind, seq, id })) };
    await audit.record({ type: 'audit.verified', outcome: 'failure', data });
    const others = more.length === 0 ? '' : ` There are ${plural(more.length, 'more fault', 'more faults')}.`;
    await alarm.raise('audit-log', `The audit log was changed: ${first}${others}`, data);
  }

  return [
    { name: 'audit-chain', everySeconds: limits.audit.sealSeconds, run: seal, wakeDelayMs: SEAL_DELAY_MS },
    { name: 'audit-retention', everySeconds: 3600, run: (signal) => purgeAll(services, signal) },
    { name: 'audit-verify', everySeconds: limits.audit.verifySeconds, run: verify },
  ];
}
