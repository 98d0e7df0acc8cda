// The periodic jobs of a server, collected from the domains; each one runs on one instance at a time.

import { brandJobs } from '../applications/brand/pictures.ts';
import { pictureJobs } from '../applications/pictures/pictures.ts';
import { limits } from '../base/limits.ts';
import { auditJobs } from '../core/audit/jobs.ts';
import type { ScheduledJob, Scheduler } from '../core/jobs/scheduler.ts';
import { createSweep, type SweepTarget } from '../core/jobs/sweep.ts';
import { keyJobs } from '../core/keys/keyring.ts';
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

// Which rows the sweep deletes, in order: those that are of no use after the time in their column.

const DAY_SECONDS = 24 * 3600;
const { keepShortSeconds } = limits.sweep;

/** Rows of the engine that belong to one sign-in, of which strangers can cause many. */
const SHORT_LIVED = ['Interaction', 'PushedAuthorizationRequest', 'DeviceCode', 'AuthorizationCode'];

export const expiringRows: readonly SweepTarget[] = [
  {
    table: 'oidc_artifacts',
    keepSeconds: keepShortSeconds,
    remove: (db, before, limit) =>
      db.oidcArtifact.deleteMany({
        where: { model: { in: SHORT_LIVED }, expiresAt: { lt: epochSeconds(before) } },
        limit,
      }),
  },
  {
    table: 'oidc_artifacts',
    remove: (db, before, limit) =>
      db.oidcArtifact.deleteMany({ where: { expiresAt: { lt: epochSeconds(before) } }, limit }),
  },
  {
    table: 'rate_limits',
    remove: (db, before, limit) =>
      db.rateLimit.deleteMany({ where: { expiresAt: { lt: BigInt(before.getTime()) } }, limit }),
  },
  {
    table: 'sign_in_attempts',
    keepSeconds: keepShortSeconds,
    remove: (db, before, limit) => db.signInAttempt.deleteMany({ where: { expiresAt: { lt: before } }, limit }),
  },
  {
    table: 'saml_requests',
    keepSeconds: keepShortSeconds,
    remove: (db, before, limit) => db.samlRequest.deleteMany({ where: { expiresAt: { lt: before } }, limit }),
  },
  {
    table: 'seen_messages',
    remove: (db, before, limit) => db.seenMessage.deleteMany({ where: { expiresAt: { lt: before } }, limit }),
  },
  {
    table: 'saml_participants',
    remove: (db, before, limit) => db.samlParticipant.deleteMany({ where: { expiresAt: { lt: before } }, limit }),
  },
  {
    table: 'password_reset_tokens',
    remove: (db, before, limit) => db.passwordResetToken.deleteMany({ where: { expiresAt: { lt: before } }, limit }),
  },
  {
    table: 'mail_tokens',
    remove: (db, before, limit) => db.mailToken.deleteMany({ where: { expiresAt: { lt: before } }, limit }),
  },
  {
    table: 'one_time_codes',
    remove: (db, before, limit) => db.oneTimeCode.deleteMany({ where: { expiresAt: { lt: before } }, limit }),
  },
  {
    table: 'known_browsers',
    remove: (db, before, limit) => db.knownBrowser.deleteMany({ where: { expiresAt: { lt: before } }, limit }),
  },
  {
    table: 'session_devices',
    remove: (db, before, limit) => db.sessionDevice.deleteMany({ where: { expiresAt: { lt: before } }, limit }),
  },
  {
    table: 'rp_sessions',
    remove: (db, before, limit) => db.rpSession.deleteMany({ where: { expiresAt: { lt: before } }, limit }),
  },
  {
    table: 'stored_forms',
    remove: (db, before, limit) => db.storedForm.deleteMany({ where: { expiresAt: { lt: before } }, limit }),
  },
  {
    table: 'upstream_requests',
    keepSeconds: keepShortSeconds,
    remove: (db, before, limit) => db.upstreamRequest.deleteMany({ where: { expiresAt: { lt: before } }, limit }),
  },
  {
    table: 'upstream_sessions',
    remove: (db, before, limit) => db.upstreamSession.deleteMany({ where: { expiresAt: { lt: before } }, limit }),
  },
  {
    table: 'client_secrets',
    remove: (db, before, limit) => db.clientSecret.deleteMany({ where: { expiresAt: { lt: before } }, limit }),
  },
  {
    table: 'api_keys',
    keepSeconds: limits.apiKey.keepDays * DAY_SECONDS,
    remove: (db, before, limit) => db.apiKey.deleteMany({ where: { expiresAt: { lt: before } }, limit }),
  },
  {
    // Those of the configuration file stay: it would declare them again, with no uses.
    table: 'sign_up_codes',
    keepSeconds: limits.signUpCode.keepDays * DAY_SECONDS,
    remove: (db, before, limit) =>
      db.signUpCode.deleteMany({ where: { source: 'local', expiresAt: { lt: before } }, limit }),
  },
  {
    table: 'idempotency_keys',
    remove: (db, before, limit) => db.idempotencyKey.deleteMany({ where: { expiresAt: { lt: before } }, limit }),
  },
  {
    table: 'rejections',
    remove: (db, before, limit) => db.rejection.deleteMany({ where: { expiresAt: { lt: before } }, limit }),
  },
  {
    table: 'logout_runs',
    remove: (db, before, limit) => db.logoutRun.deleteMany({ where: { expiresAt: { lt: before } }, limit }),
  },
  {
    table: 'logout_deliveries',
    keepSeconds: 7 * DAY_SECONDS,
    remove: (db, before, limit) => db.logoutDelivery.deleteMany({ where: { doneAt: { lt: before } }, limit }),
  },
  {
    table: 'mail_messages',
    keepSeconds: limits.mail.keepDays * DAY_SECONDS,
    remove: (db, before, limit) => db.mailMessage.deleteMany({ where: { sentAt: { lt: before } }, limit }),
  },
  {
    table: 'mail_messages',
    keepSeconds: limits.mail.keepDays * DAY_SECONDS,
    remove: (db, before, limit) => db.mailMessage.deleteMany({ where: { failedAt: { lt: before } }, limit }),
  },
];

function epochSeconds(time: Date): bigint {
  return BigInt(Math.floor(time.getTime() / 1000));
}
