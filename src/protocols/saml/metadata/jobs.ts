// The periodic jobs of SAML. Metadata is read as often as each document says; the job looks every hour what is due.

import { limits } from '../../../base/limits.ts';
import type { ScheduledJob } from '../../../core/jobs/scheduler.ts';

export const METADATA_JOB = 'saml-metadata';

export interface SamlJobsDependencies {
  refreshMetadata: ScheduledJob['run'];
  notifyOfCertificates: ScheduledJob['run'];
}

export function samlJobs({ refreshMetadata, notifyOfCertificates }: SamlJobsDependencies): ScheduledJob[] {
  return [
    { name: METADATA_JOB, everySeconds: limits.saml.metadataPollSeconds, run: refreshMetadata },
    { name: 'saml-certificates', everySeconds: 24 * 3600, run: notifyOfCertificates },
  ];
}
