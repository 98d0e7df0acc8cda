// The periodic jobs of the logout.
import type { JobQueue } from '../jobs/queue.ts';
import type { ScheduledJob } from '../jobs/scheduler.ts';
import { limits } from '../limits.ts';

export const LOGOUT_JOB = 'logout-deliveries';

export interface LogoutJobsDependencies {
  deliveries: JobQueue;
  finishAbandoned: ScheduledJob['run'];
}

export function logoutJobs({ deliveries, finishAbandoned }: LogoutJobsDependencies): ScheduledJob[] {
  return [
    { name: LOGOUT_JOB, everySeconds: limits.delivery.pollSeconds, ...deliveries },
    { name: 'abandoned-sign-outs', everySeconds: 30, run: finishAbandoned },
  ];
}
