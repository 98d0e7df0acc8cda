// The periodic jobs of connections: documents and domain proofs that are due, and mail about what ends.
import type { ScheduledJob } from '../jobs/scheduler.ts';
import { limits } from '../limits.ts';

export interface ConnectionJobsDependencies {
  documents: { refreshDue: ScheduledJob['run'] };
  domains: { checkDue: ScheduledJob['run'] };
  notifyOfExpiry: ScheduledJob['run'];
}

export function connectionJobs({ documents, domains, notifyOfExpiry }: ConnectionJobsDependencies): ScheduledJob[] {
  const everySeconds = limits.connections.pollSeconds;
  return [
    { name: 'connection-documents', everySeconds, run: documents.refreshDue },
    { name: 'connection-domains', everySeconds, run: domains.checkDue },
    { name: 'connection-ends', everySeconds: 24 * 3600, run: notifyOfExpiry },
  ];
}
