// What a server does by itself, now and then; each job runs on one instance at a time.
import { limits } from '../limits.ts';
import type { Jobs } from '../platform/jobs.ts';
import { createSweep, type SweepTarget } from '../platform/sweep.ts';
import type { Services } from '../services.ts';

/** Rows that are of no use after this time. */
const EXPIRING: SweepTarget[] = [
  // Later than they expire, so that a session is never swept before it was ended.
  { table: 'oidc_artifacts', column: 'expires_at', unit: 'seconds', keepSeconds: 60 },
  { table: 'rate_limits', column: 'expires_at', unit: 'milliseconds' },
  { table: 'sign_in_attempts', column: 'expires_at' },
  { table: 'saml_requests', column: 'expires_at' },
  { table: 'seen_messages', column: 'expires_at' },
  { table: 'saml_participants', column: 'expires_at', keepSeconds: 60 },
  { table: 'password_reset_tokens', column: 'expires_at' },
  { table: 'mail_tokens', column: 'expires_at' },
  { table: 'one_time_codes', column: 'expires_at' },
  { table: 'known_browsers', column: 'expires_at' },
  { table: 'session_devices', column: 'expires_at' },
  { table: 'rp_sessions', column: 'expires_at' },
  { table: 'client_secrets', column: 'expires_at' },
  { table: 'idempotency_keys', column: 'expires_at' },
  { table: 'refusals', column: 'expires_at' },
  { table: 'logout_runs', column: 'expires_at' },
  { table: 'logout_deliveries', column: 'done_at', keepSeconds: 7 * 24 * 3600 },
  { table: 'mail_messages', column: 'sent_at', keepSeconds: limits.mail.keepDays * 24 * 3600 },
  { table: 'mail_messages', column: 'failed_at', keepSeconds: limits.mail.keepDays * 24 * 3600 },
];

export const LOGOUT_JOB = 'logout-deliveries';
export const METADATA_JOB = 'saml-metadata';

/** What goes on after a sign-out, and what time ends. */
export interface SignOutJobs {
  deliver(signal: AbortSignal): Promise<unknown>;
  finishAbandoned(signal: AbortSignal): Promise<unknown>;
  endExpired(signal: AbortSignal): Promise<unknown>;
}

/** What SAML has to do once a day. */
export interface SamlJobs {
  refreshMetadata(signal: AbortSignal): Promise<unknown>;
  notifyOfCertificates(): Promise<unknown>;
}

export function scheduleJobs(
  jobs: Jobs,
  services: Services,
  { signOut, saml }: { signOut: SignOutJobs; saml: SamlJobs },
): void {
  const { db, kind, now, keyring, auditChain } = services;
  const sweep = createSweep({ db, kind, now, targets: EXPIRING, batch: limits.sweep.batch });
  // In this order and in one job: what a session that has run out knew is needed to tell its applications.
  const tidy = async (signal: AbortSignal) => {
    await signOut.endExpired(signal);
    await sweep(signal);
  };
  jobs.add({ name: 'sweep', everySeconds: limits.sweep.everySeconds, run: tidy });
  jobs.add({ name: 'keys', everySeconds: 60, run: () => keyring.tend() });
  jobs.add({ name: LOGOUT_JOB, everySeconds: 5, run: signOut.deliver });
  jobs.add({ name: 'abandoned-sign-outs', everySeconds: 30, run: signOut.finishAbandoned });
  jobs.add({ name: METADATA_JOB, everySeconds: limits.saml.metadataRefreshSeconds, run: saml.refreshMetadata });
  jobs.add({ name: 'saml-certificates', everySeconds: 24 * 3600, run: saml.notifyOfCertificates });
  jobs.add({ name: 'audit-chain', everySeconds: limits.audit.sealSeconds, run: (signal) => auditChain.seal(signal) });
  jobs.add({
    name: 'audit-retention',
    everySeconds: 3600,
    run: () =>
      auditChain.purge(new Date(now().getTime() - limits.audit.keepDays * 24 * 3600 * 1000), limits.sweep.batch),
  });
}
