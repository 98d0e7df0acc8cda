// The periodic jobs of the audit log: new events join the hash chain, old ones are deleted, and the whole log is verified.
import type { ScheduledJob } from '../jobs/scheduler.ts';
import { limits } from '../limits.ts';
import type { Clock } from '../platform/clock.ts';
import type { Alarm } from './alarm.ts';
import type { Audit } from './audit.ts';
import { type AuditChain, ChainError } from './chain.ts';

export interface AuditJobsDependencies {
  auditChain: AuditChain;
  audit: Pick<Audit, 'record'>;
  alarm: Alarm;
  now: Clock;
}

// As small as the batches of sealing, for the same reason.
const PAGE = 20;

export function auditJobs({ auditChain, audit, alarm, now }: AuditJobsDependencies): ScheduledJob[] {
  const oldest = () => new Date(now().getTime() - limits.audit.keepDays * 24 * 3600 * 1000);

  async function seal(signal: AbortSignal): Promise<void> {
    try {
      await auditChain.seal(signal);
    } catch (error) {
      if (error instanceof ChainError) await alarm.raise('audit-log', error.message);
      throw error;
    }
  }

  async function verify(): Promise<void> {
    const verdict = await auditChain.verify({ pageSize: PAGE });
    if (verdict.ok) {
      const { entries, newest } = verdict;
      return audit.record({ type: 'audit.verified', outcome: 'success', data: { entries, newest } });
    }
    const [first, ...more] = verdict.faults.map(({ message }) => message);
    const data = { faults: verdict.faults.slice(0, 20).map(({ kind, seq, id }) => ({ kind, seq, id })) };
    await audit.record({ type: 'audit.verified', outcome: 'failure', data });
    const others = more.length === 0 ? '' : ` There are ${more.length} more faults.`;
    await alarm.raise('audit-log', `The audit log was changed: ${first}${others}`, data);
  }

  return [
    { name: 'audit-chain', everySeconds: limits.audit.sealSeconds, run: seal },
    { name: 'audit-retention', everySeconds: 3600, run: () => auditChain.purge(oldest(), limits.sweep.batch) },
    { name: 'audit-verify', everySeconds: limits.audit.verifySeconds, run: verify },
  ];
}
