// The periodic jobs of the logout.

import { limits } from '../../base/limits.ts';
import type { JobQueue } from '../../core/jobs/queue.ts';
import type { ScheduledJob } from '../../core/jobs/scheduler.ts';

export const LOGOUT_JOB = 'logout-deliveries';

export function logoutJobs({
  deliveries,
  finishAbandoned,
}: {
  deliveries: JobQueue;
  finishAbandoned: ScheduledJob['run'];
}): ScheduledJob[] {
  return [
    { name: LOGOUT_JOB, everySeconds: limits.delivery.pollSeconds, ...deliveries },
    { name: 'abandoned-sign-outs', everySeconds: 30, run: finishAbandoned },
  ];
}
