// The periodic jobs of the audit log: new events join the hash chain, old ones are deleted.
import type { ScheduledJob } from '../jobs/scheduler.ts';
import { limits } from '../limits.ts';
import type { Clock } from '../platform/clock.ts';
import type { AuditChain } from './chain.ts';

export interface AuditJobsDependencies {
  auditChain: Pick<AuditChain, 'seal' | 'purge'>;
  now: Clock;
}

export function auditJobs({ auditChain, now }: AuditJobsDependencies): ScheduledJob[] {
  const oldest = () => new Date(now().getTime() - limits.audit.keepDays * 24 * 3600 * 1000);
  return [
    { name: 'audit-chain', everySeconds: limits.audit.sealSeconds, run: (signal) => auditChain.seal(signal) },
    { name: 'audit-retention', everySeconds: 3600, run: () => auditChain.purge(oldest(), limits.sweep.batch) },
  ];
}
