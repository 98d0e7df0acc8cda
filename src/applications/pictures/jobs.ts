// The job that reads the pictures of applications. It is woken when an application is saved.
import type { ScheduledJob } from '../../core/jobs/scheduler.ts';
import type { ApplicationPictures } from './pictures.ts';

export const PICTURE_JOB = 'application-pictures';

export function pictureJobs(pictures: Pick<ApplicationPictures, 'fetchDue' | 'wake' | 'clockSetBack'>): ScheduledJob[] {
  const { fetchDue, wake, clockSetBack } = pictures;
  return [{ name: PICTURE_JOB, everySeconds: 15, run: fetchDue, wake, clockSetBack }];
}
