// The applications to which people and groups are written, each with its state: what was read of the changes here, how its calls went, and
// whether it is paused. A state belongs to an address: with another one, everything begins again.
import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  type Application,
  fromRow,
  idsMarked,
  UnreadableApplication,
  withAccess,
} from '../../applications/application.ts';
import { type ProvisionSettings, withDefaults } from '../../applications/fields/provisioning.ts';
import { conflict, notFound } from '../../base/http/errors.ts';
import { present } from '../../base/platform/defined.ts';
import { inChunks } from '../../base/storage/chunks.ts';
import { type Tx, transaction, withinTransaction } from '../../base/storage/database.ts';
import { t } from '../../base/texts/text.ts';
import type { Actor } from '../../core/audit/audit.ts';
import type { Core } from '../../core/core.ts';
import { createOutages, NO_FAILURES, type Outage } from '../../core/jobs/outages.ts';
import { createSubjects, type Subjects, sectorOfMetadata } from '../oidc/claims/pairwise-subjects.ts';
import type { TargetUnavailable } from './client.ts';

/** Rows that are deleted in one transaction. */
const PIECE = 500;

export interface TargetState extends Outage {
  url: string;
  auditSeq: number;
  lookedAt: Date;
  compareAt: Date | null;
  position: string | null;
  comparedAt: Date | null;
  compareSeconds: number;
  pausedBy: string | null;
  stoppedAt: Date | null;
  approvedAt: Date | null;
}

export interface Target {
  id: string;
  application: Application;
  provision: Required<ProvisionSettings>;
  state: TargetState;
  /** How the application knows an account (OIDC Core 8). */
  subjectOf(accountId: string): string;
}

/** What an administrator decides. */
export type TargetDecision = 'compare' | 'pause' | 'resume' | 'approve';

export type Targets = ReturnType<typeof createTargets>;

export function createTargets(services: Core) {
  const { db, now, audit, wake, notifyAdministrators } = services;
  let subjects: Subjects | undefined;

  /** Applications with a declaration, as this server wrote it. */
  async function declared(): Promise<Application[]> {
    const rows = await inChunks(await idsMarked('provision', db), (some) =>
      db.application.findMany({ where: { id: { in: some } }, include: withAccess, orderBy: { id: 'asc' } }),
    );
    return rows.flatMap((row) => {
      try {
        const application = fromRow(row);
        return application.metadata.provision ? [application] : [];
      } catch (error) {
        if (error instanceof UnreadableApplication) return [];
        throw error;
      }
    });
  }

  /** Undefined for an application without provisioning. */
  async function targetOf(
    application: Application,
    stored: TargetState | null | undefined,
  ): Promise<Target | undefined> {
    const { id, protocol, metadata } = application;
    const { provision } = metadata;
    if (!provision) return undefined;
    // A moment after the address was declared, nothing is known of it.
    const state = stored?.url === provision.url ? stored : { ...NEW_STATE, ...pauseOf(stored) };
    const sector = protocol === 'oidc' ? sectorOfMetadata(metadata) : undefined;
    subjects ??= await createSubjects(services);
    const { of } = subjects;
    const subjectOf = (accountId: string) => of(sector, accountId);
    return { id, application, provision: withDefaults(provision), state, subjectOf };
  }

  async function list(): Promise<Target[]> {
    const applications = await declared();
    if (applications.length === 0) return [];
    const ids = applications.map(({ id }) => id);
    const states = await db.provisioningTarget.findMany({ where: { applicationId: { in: ids } } });
    const stateOf = new Map(states.map((state) => [state.applicationId, state]));
    const targets = await Promise.all(applications.map((one) => targetOf(one, stateOf.get(one.id))));
    return present(targets).filter(({ provision, state }) => state.url === provision.url);
  }

  /** Begins with new ones, and forgets those that are none any more, in pieces. */
  async function tidy(signal: AbortSignal): Promise<void> {
    const applications = await declared();
    const states = await db.provisioningTarget.findMany({ select: { applicationId: true, url: true } });
    for (const { applicationId, url } of states) {
      const provision = applications.find(({ id }) => id === applicationId)?.metadata.provision;
      if (provision?.url !== url && !(await forget(applicationId, provision, signal))) return;
    }
    const known = new Set((await list()).map(({ id }) => id));
    for (const { id, metadata } of applications)
      if (!known.has(id) && metadata.provision) await begin(id, metadata.provision, db);
  }

  async function begin(
    applicationId: string,
    { url }: ProvisionSettings,
    tx: Tx,
    pause: Partial<TargetState> = {},
  ): Promise<void> {
    const head = await tx.auditChain.findUnique({ where: { id: 'head' } });
    const data = { applicationId, url, auditSeq: head?.seq ?? 0, lookedAt: now(), compareAt: now(), ...pause };
    await tx.provisioningTarget.upsert({ where: { applicationId }, create: data, update: {} });
  }

  /**
   * Returns false where the signal stops it.
   * @param next what is declared instead, at another address
   */
  async function forget(
    applicationId: string,
    next: ProvisionSettings | undefined,
    signal: AbortSignal,
  ): Promise<boolean> {
    const where = { applicationId };
    const deletions = [
      () => db.provisionedMember.deleteMany({ where, limit: PIECE }),
      () => db.provisionedObject.deleteMany({ where, limit: PIECE }),
    ];
    for (const deletePiece of deletions)
      for (let count: number = PIECE; count === PIECE; await nextTurn()) {
        if (signal.aborted) return false;
        ({ count } = await deletePiece());
      }
    await transaction(db, async (tx) => {
      const state = await tx.provisioningTarget.delete({ where });
      if (next) await begin(applicationId, next, tx, pauseOf(state));
    });
    return true;
  }

  const update = (id: string, data: Partial<TargetState>, where: Partial<TargetState> = {}) =>
    db.provisioningTarget.updateMany({ where: { applicationId: id, ...where }, data });

  const outages = createOutages<Target>(services, {
    read: ({ id }, tx) => tx.provisioningTarget.findUnique({ where: { applicationId: id } }),
    write: ({ id }, data, tx) =>
      tx.provisioningTarget.updateMany({
        where: { applicationId: id },
        data: { ...data, ...(data.pausedAt && { pausedBy: 'failures' }) },
      }),
    async paused({ id, application: { clientId, name } }, { since, reason }, tx) {
      const data = { since, error: reason };
      await audit.record({ type: 'provisioning.paused', outcome: 'failure', clientId, data }, tx);
      await notifyAdministrators(
        { kind: 'provisioning', problem: 'paused', application: name, applicationId: id, detail: reason },
        tx,
      );
    },
  });

  /** Plans a comparison of everybody: soon, but the longer the last one took, the later. */
  async function planComparison({ id, state }: Target): Promise<void> {
    const soonest = (state.comparedAt?.getTime() ?? 0) + 5000 * state.compareSeconds;
    const at = new Date(Math.max(now().getTime(), soonest));
    if (state.compareAt === null || state.compareAt > at) await update(id, { compareAt: at });
  }

  /** Throws not_found (404) without provisioning, and conflict (409) where there is nothing to decide. */
  function decide(application: Application, decision: TargetDecision, by: Actor, outer?: Tx): Promise<void> {
    return withinTransaction(db, outer, async (tx) => {
      const { id, clientId, metadata } = application;
      const where = { applicationId: id };
      if (!metadata.provision) throw notFound({ message: t('console.provisioning.error.none') });
      if (decision === 'pause') await begin(id, metadata.provision, tx);
      const at = now();
      const byNoPerson = [{ pausedAt: null }, { pausedBy: 'failures' }];
      const changes: Record<TargetDecision, Parameters<typeof tx.provisioningTarget.updateMany>[0]> = {
        compare: { where, data: { compareAt: at, ...NO_FAILURES } },
        pause: { where: { ...where, OR: byNoPerson }, data: { pausedAt: at, pausedBy: 'administrator' } },
        resume: {
          where: { ...where, pausedAt: { not: null } },
          data: { pausedAt: null, pausedBy: null, ...NO_FAILURES },
        },
        approve: { where: { ...where, stoppedAt: { not: null } }, data: { stoppedAt: null, approvedAt: at } },
      };
      const { count } = await tx.provisioningTarget.updateMany(changes[decision]);
      if (count === 0 && decision !== 'compare')
        throw conflict('conflict', { message: t('console.provisioning.error.nothing', { decision }) });
      const types = {
        pause: 'provisioning.paused',
        resume: 'provisioning.resumed',
        approve: 'provisioning.approved',
      } as const;
      if (decision !== 'compare')
        await audit.record({ ...by, type: types[decision], outcome: 'success', clientId }, tx);
      // What was rejected is tried again.
      const waits = { ...where, pending: { not: '' }, claimedUntil: null };
      if (decision === 'compare') await tx.provisionedObject.updateMany({ where: waits, data: { nextTryAt: at } });
      wake('provisioning', tx);
    });
  }

  return {
    list,
    tidy,
    update,
    planComparison,

    /** Undefined for an application without provisioning. */
    async find(application: Application): Promise<Target | undefined> {
      const state = await db.provisioningTarget.findUnique({ where: { applicationId: application.id } });
      return targetOf(application, state);
    },

    failed: (target: Target, { message, pauseSeconds }: TargetUnavailable) =>
      outages.failed(target, message, pauseSeconds),

    async worked({ id, state }: Target): Promise<void> {
      if (state.failures > 0) await update(id, NO_FAILURES);
    },

    /** Too many people would lose their accounts there: an administrator has to say so. */
    stop: ({ id, application: { clientId, name } }: Target, counts: { leaving: number; of: number }): Promise<void> =>
      transaction(db, async (tx) => {
        const where = { applicationId: id, stoppedAt: null };
        const { count } = await tx.provisioningTarget.updateMany({ where, data: { stoppedAt: now() } });
        if (count === 0) return;
        await audit.record({ type: 'provisioning.stopped', outcome: 'failure', clientId, data: counts }, tx);
        const detail = `${counts.leaving} of ${counts.of}`;
        await notifyAdministrators(
          { kind: 'provisioning', problem: 'stopped', application: name, applicationId: id, detail },
          tx,
        );
      }),

    decide,

    /** In the transaction that declares an address: nothing is sent to it before an administrator resumes. */
    async beginPaused(application: Application, by: Actor, tx: Tx): Promise<void> {
      const isPaused = { applicationId: application.id, pausedBy: 'administrator' };
      if ((await tx.provisioningTarget.count({ where: isPaused })) === 0) await decide(application, 'pause', by, tx);
    },
  };
}

/** With another address everything begins again, but an administrator's pause stays. */
const pauseOf = (state: TargetState | null | undefined): Partial<TargetState> =>
  state?.pausedBy === 'administrator' ? { pausedAt: state.pausedAt, pausedBy: state.pausedBy } : {};

const NEW_STATE: TargetState = {
  url: '',
  auditSeq: 0,
  lookedAt: new Date(0),
  compareAt: null,
  position: null,
  comparedAt: null,
  compareSeconds: 0,
  ...NO_FAILURES,
  pausedAt: null,
  pausedBy: null,
  stoppedAt: null,
  approvedAt: null,
};
