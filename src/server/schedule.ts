// The periodic jobs of a server, collected from the domains; each one runs on one instance at a time.

import { brandJobs } from '../applications/brand/jobs.ts';
import { pictureJobs } from '../applications/pictures/jobs.ts';
import { limits } from '../base/limits.ts';
import { auditJobs } from '../core/audit/jobs.ts';
import type { ScheduledJob, Scheduler } from '../core/jobs/scheduler.ts';
import { createSweep } from '../core/jobs/sweep.ts';
import { keyJobs } from '../core/keys/keyring.ts';
import { expiringRows } from './expiring-rows.ts';
import type { Services } from './services.ts';

export interface ScheduleDependencies {
  services: Services;
  /** Ends the sessions that have expired. */
  endExpired: ScheduledJob['run'];
  /** The jobs of mail, logout and SAML. */
  jobs: readonly ScheduledJob[];
}

/** Adds all jobs to the scheduler. */
export function scheduleJobs(scheduler: Scheduler, { services, endExpired, jobs }: ScheduleDependencies): void {
  const { keyring, audit, auditChain, alarm, pictures } = services;
  const sweep = createSweep({ ...services, targets: expiringRows, batch: limits.sweep.batch });
  const all: ScheduledJob[] = [
    {
      name: 'sweep',
      everySeconds: limits.sweep.everySeconds,
      // In this order, because the data of an expired session is needed to notify its applications.
      async run(signal) {
        await endExpired(signal);
        await sweep(signal);
      },
    },
    ...keyJobs(keyring),
    ...auditJobs({ ...services, auditChain, audit, alarm }),
    ...brandJobs(services),
    ...pictureJobs(pictures),
    ...jobs,
  ];
  for (const job of all) scheduler.add(job);
}
