// The periodic jobs of connections: documents and domain proofs that are due.
import type { ScheduledJob } from '../jobs/scheduler.ts';
import { limits } from '../limits.ts';

export interface ConnectionJobsDependencies {
  documents: { refreshDue: ScheduledJob['run'] };
  domains: { checkDue: ScheduledJob['run'] };
}

export function connectionJobs({ documents, domains }: ConnectionJobsDependencies): ScheduledJob[] {
  const everySeconds = limits.connections.pollSeconds;
  return [
    { name: 'connection-documents', everySeconds, run: documents.refreshDue },
    { name: 'connection-domains', everySeconds, run: domains.checkDue },
  ];
}
