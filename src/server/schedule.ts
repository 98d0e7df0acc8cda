// The periodic jobs of a server, collected from the domains; each one runs on one instance at a time.

import { setTimeout as sleep } from 'node:timers/promises';
import { brandJobs } from '../applications/brand/pictures.ts';
import { pictureJobs } from '../applications/pictures/pictures.ts';
import type { Base } from '../base/base.ts';
import { limits } from '../base/limits.ts';
import type { Metrics } from '../base/platform/metrics.ts';
import type { Db } from '../base/storage/database.ts';
import { auditJobs } from '../core/audit/jobs.ts';
import type { ScheduledJob } from '../core/jobs/scheduler.ts';
import { keyJobs } from '../core/keys/keyring.ts';
import { accountLifeJob } from '../people/accounts/life.ts';
import { erasureJob } from '../people/accounts/retired.ts';
import { endJobs } from '../people/groups/ends.ts';
import { createEventDeliveries } from '../protocols/event-streams/deliveries.ts';
import { unusedClientsJob } from '../protocols/oidc/registration.ts';
import type { Services } from './services.ts';

/** The jobs of the server itself and of the folders below the protocols. */
export function serverJobs(services: Services, metrics?: Metrics): ScheduledJob[] {
  const sweep = createSweep({ ...services, targets: expiringRows, batch: limits.sweep.batch });
  return [
    {
      name: 'sweep',
      everySeconds: limits.sweep.everySeconds,
      // In this order, because the data of an expired session is needed to notify its applications.
      async run(signal) {
        await services.endSession.expired(signal);
        await sweep(signal);
      },
    },
    ...keyJobs(services.keyring),
    ...endJobs(services.ends),
    accountLifeJob(services.accountLife),
    ...services.groupChanges.jobs,
    ...createEventDeliveries(services, (outcome) => metrics?.eventDeliveries.inc({ outcome })).jobs,
    ...auditJobs({ ...services, retentionDays: () => services.settings.latest().audit_retention_days }),
    services.deletion.job,
    services.inactivity.job,
    erasureJob({
      ...services,
      removeRows: (userId) => removeRowsOf(services, userId),
      readByAll: () => readByAll(services),
    }),
    unusedClientsJob(services),
    ...brandJobs(services),
    ...pictureJobs(services.pictures),
  ];
}

// Which rows the sweep deletes, in order: those that are of no use after the time in their column.

const DAY_SECONDS = 24 * 3600;
const { keepShortSeconds } = limits.sweep;

/** Rows of the engine that belong to one sign-in, of which requests without a session can cause many. */
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
  expired('sign_in_attempts', (db) => db.signInAttempt, keepShortSeconds),
  expired('saml_requests', (db) => db.samlRequest, keepShortSeconds),
  expired('seen_messages', (db) => db.seenMessage),
  expired('saml_participants', (db) => db.samlParticipant),
  expired('password_reset_tokens', (db) => db.passwordResetToken),
  expired('mail_tokens', (db) => db.mailToken, limits.invitation.keepDays * DAY_SECONDS),
  expired('one_time_codes', (db) => db.oneTimeCode),
  expired('known_browsers', (db) => db.knownBrowser),
  expired('session_devices', (db) => db.sessionDevice),
  expired('rp_sessions', (db) => db.rpSession),
  expired('stored_forms', (db) => db.storedForm),
  expired('upstream_requests', (db) => db.upstreamRequest, keepShortSeconds),
  expired('upstream_sessions', (db) => db.upstreamSession),
  expired('client_secrets', (db) => db.clientSecret),
  expired('api_keys', (db) => db.apiKey, limits.apiKey.keepDays * DAY_SECONDS),
  expired('scim_tokens', (db) => db.scimToken, limits.apiKey.keepDays * DAY_SECONDS),
  {
    // Those of the configuration file stay: it would declare them again, with no uses.
    table: 'sign_up_codes',
    keepSeconds: limits.signUpCode.keepDays * DAY_SECONDS,
    remove: (db, before, limit) =>
      db.signUpCode.deleteMany({ where: { source: 'local', expiresAt: { lt: before } }, limit }),
  },
  expired('group_invitations', (db) => db.groupInvitation, limits.groups.keepRequestsDays * DAY_SECONDS),
  expired('group_requests', (db) => db.groupRequest, limits.groups.keepRequestsDays * DAY_SECONDS),
  expired('bulk_changes', (db) => db.bulkChange),
  expired('idempotency_keys', (db) => db.idempotencyKey),
  expired('rejections', (db) => db.rejection),
  expired('logout_runs', (db) => db.logoutRun),
  past('logout_deliveries', 'doneAt', (db) => db.logoutDelivery, 7 * DAY_SECONDS),
  past('logout_deliveries', 'failedAt', (db) => db.logoutDelivery, 30 * DAY_SECONDS),
  past('event_deliveries', 'doneAt', (db) => db.eventDelivery, 7 * DAY_SECONDS),
  past('event_deliveries', 'failedAt', (db) => db.eventDelivery, 30 * DAY_SECONDS),
  past('mail_messages', 'sentAt', (db) => db.mailMessage, limits.mail.keepDays * DAY_SECONDS),
  past('mail_messages', 'failedAt', (db) => db.mailMessage, limits.mail.keepDays * DAY_SECONDS),
];

/** Deletes what tables without a relation to the account have about a deleted person. A message that is not sent yet has a day. */
async function removeRowsOf({ db, now }: Base, userId: string): Promise<void> {
  const dayAgo = new Date(now().getTime() - DAY_SECONDS * 1000);
  const isOver = [{ sentAt: { not: null } }, { failedAt: { not: null } }, { createdAt: { lt: dayAgo } }];
  await db.mailMessage.deleteMany({ where: { userId, OR: isOver } });
  const isAnswered = [{ doneAt: { not: null } }, { failedAt: { not: null } }, { createdAt: { lt: dayAgo } }];
  await db.logoutDelivery.deleteMany({ where: { accountId: userId, OR: isAnswered } });
  await db.logoutRun.deleteMany({ where: { userId, createdAt: { lt: dayAgo } } });
  await db.rejection.deleteMany({ where: { subjectId: userId } });
  await db.groupInvitation.deleteMany({ where: { acceptedBy: userId } });
  await db.samlNameId.deleteMany({ where: { userId } });
  await db.samlParticipant.deleteMany({ where: { userId } });
  await db.sessionDevice.deleteMany({ where: { userId } });
  await db.rpSession.deleteMany({ where: { userId } });
  await db.upstreamSession.deleteMany({ where: { userId } });
  await db.storedForm.deleteMany({ where: { userId } });
}

/** Up to which position all that follows the audit log has read it: applications to which people are written, and event streams. */
export async function readByAll({ db }: Base): Promise<number> {
  const [targets, streams, waiting] = await Promise.all([
    db.provisioningTarget.aggregate({ _min: { auditSeq: true } }),
    db.eventStream.aggregate({ where: { enabled: true, pausedAt: null }, _min: { cursor: true } }),
    db.eventDelivery.aggregate({ where: { doneAt: null, failedAt: null }, _min: { seq: true } }),
  ]);
  const first = waiting._min.seq === null ? Infinity : waiting._min.seq - 1;
  return Math.min(targets._min.auditSeq ?? Infinity, streams._min.cursor ?? Infinity, first);
}

function expired(table: string, rowsIn: (db: Db) => Rows<'expiresAt'>, keepSeconds?: number): SweepTarget {
  return past(table, 'expiresAt', rowsIn, keepSeconds);
}

/** The rows of a table whose time in a column has passed. */
function past<Column extends string>(
  table: string,
  column: Column,
  rowsIn: (db: Db) => Rows<Column>,
  keepSeconds?: number,
): SweepTarget {
  return {
    table,
    ...(keepSeconds !== undefined && { keepSeconds }),
    remove: (db, before, limit) =>
      rowsIn(db).deleteMany({ where: { [column]: { lt: before } } as Record<Column, { lt: Date }>, limit }),
  };
}

interface Rows<Column extends string> {
  deleteMany(rows: { where: Record<Column, { lt: Date }>; limit: number }): Promise<{ count: number }>;
}

function epochSeconds(time: Date): bigint {
  return BigInt(Math.floor(time.getTime() / 1000));
}

// Deletes expired rows in small batches with pauses, so that a large backlog blocks neither other writers nor the process.
// Every column that it compares has an index. The audit log is purged instead (core/audit/jobs.ts).

const BATCH = 500;
const PAUSE_MILLISECONDS = 10;

interface SweepTarget {
  /** The key in the result; a table may have several targets. */
  table: string;
  /** How long a row stays after the time that `remove` compares with; an hour if absent. */
  keepSeconds?: number;
  /** Deletes at most `limit` rows whose time is before `before`. */
  remove(db: Db, before: Date, limit: number): Promise<{ count: number }>;
}

/** Creates the sweep. It returns the number of deleted rows of each table, and stops early on abort. */
export function createSweep(services: Base & { targets: readonly SweepTarget[]; batch?: number }) {
  const { db, now, targets, batch = BATCH } = services;
  return async function sweep(signal?: AbortSignal): Promise<Record<string, number>> {
    const deleted: Record<string, number> = {};
    for (const { table, keepSeconds = limits.sweep.keepSeconds, remove } of targets) {
      const before = new Date(now().getTime() - keepSeconds * 1000);
      let count = batch;
      while (count === batch && !signal?.aborted) {
        ({ count } = await remove(db, before, batch));
        deleted[table] = (deleted[table] ?? 0) + count;
        await sleep(count === batch ? PAUSE_MILLISECONDS : 0);
      }
    }
    return deleted;
  };
}
