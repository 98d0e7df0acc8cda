// The periodic jobs of connections: documents and domain proofs that are due, and mail about what ends.

import { limits } from '../../base/limits.ts';
import type { Clock } from '../../base/platform/clock.ts';
import type { ScheduledJob } from '../../core/jobs/scheduler.ts';

export interface ConnectionJobsDependencies {
  documents: { refreshDue(signal: AbortSignal): Promise<Date | undefined> };
  domains: { checkDue: ScheduledJob['run'] };
  notifyOfExpiry: ScheduledJob['run'];
  now: Clock;
}

export function connectionJobs({
  documents,
  domains,
  notifyOfExpiry,
  now,
}: ConnectionJobsDependencies): ScheduledJob[] {
  const everySeconds = limits.connections.pollSeconds;
  let next: Date | undefined;
  return [
    {
      name: 'connection-documents',
      everySeconds,
      async run(signal) {
        next = await documents.refreshDue(signal);
      },
      againInSeconds() {
        const seconds = next && Math.max(1, (next.getTime() - now().getTime()) / 1000);
        next = undefined;
        return seconds;
      },
    },
    { name: 'connection-domains', everySeconds, run: domains.checkDue },
    { name: 'connection-ends', everySeconds: 24 * 3600, run: notifyOfExpiry },
  ];
}
