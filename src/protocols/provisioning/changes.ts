// What has changed here since the last look: read from the sealed audit log, so that a change pays nothing for it and two servers share the
// work. Everybody is compared when an application is new, at what may concern everybody, and once a day; in pieces, so that the event
// loop stays free and memory is the same with a hundred people or a hundred thousand.
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ApplicationServices } from '../../applications/application-services.ts';
import { limits } from '../../base/limits.ts';
import { unavailableIn } from '../../base/storage/unavailable.ts';
import type { Core } from '../../core/core.ts';
import type { ScheduledJob } from '../../core/jobs/scheduler.ts';
import type { Differences } from './differences.ts';
import type { Target, Targets } from './targets.ts';

const EVENTS = 500;
/** People that are compared at once, and such pieces of one turn of the job. */
const PEOPLE = 100;
const PIECES = 20;
const DAY_MS = 24 * 3600 * 1000;
const HOUR_MS = 3600 * 1000;

/** Events about the person who is their subject. */
const OF_PERSON =
  /^(account\.(?!note|invited)|email\.|phone\.|identity\.|role\.(assigned|unassigned)|group\.(member|invitation-accepted|request-granted))/;
/** Events after which anybody may have got or lost access, or a group its name. */
const OF_ALL = /^(group\.(updated|deleted|child-|role-)|role\.deleted|backup\.restored)/;
const OF_APPLICATION = /^application\.(updated|enabled)$/;

/** How far a comparison has come: first those whom the application has, then the others who may use it. */
export interface Place {
  phase: 'there' | 'here';
  after: string;
}
export const BEGIN: Place = { phase: 'there', after: '' };
type Position = Place & { startedAt: number };

export function createChanges(services: Core & ApplicationServices & { targets: Targets; differences: Differences }) {
  const { db, now, audit, logger, wake, applicationPeople, targets, differences } = services;
  async function examine(target: Target, ids: readonly string[], how: { isNews: boolean }, signal: AbortSignal) {
    for (let start = 0; start < ids.length && !signal.aborted; start += PEOPLE) {
      await differences.examine(target, ids.slice(start, start + PEOPLE), how);
      await nextTurn();
    }
  }

  /** Reads the changes since the last look. */
  async function follow(target: Target, signal: AbortSignal): Promise<void> {
    const { state } = target;
    for (let count: number = EVENTS; count === EVENTS && !signal.aborted; ) {
      const events = await db.auditEvent.findMany({
        where: { chainSeq: { gt: state.auditSeq } },
        orderBy: { chainSeq: 'asc' },
        take: EVENTS,
        select: { chainSeq: true, type: true, subjectId: true, clientId: true },
      });
      count = events.length;
      const people = events.flatMap(({ type, subjectId }) => (subjectId && OF_PERSON.test(type) ? [subjectId] : []));
      await examine(target, [...new Set(people)], { isNews: true }, signal);
      const { clientId } = target.application;
      const isOfAll = events.some(
        (event) => OF_ALL.test(event.type) || (OF_APPLICATION.test(event.type) && event.clientId === clientId),
      );
      if (isOfAll) await targets.planComparison(target);
      const auditSeq = events.at(-1)?.chainSeq;
      if (signal.aborted || auditSeq == null) return;
      await targets.update(target.id, { auditSeq }, { auditSeq: state.auditSeq });
      state.auditSeq = auditSeq;
    }
  }

  /** The log ends before the position after a backup was restored, and begins after it when this server was away for its retention. */
  async function assertPosition(target: Target): Promise<void> {
    const anchors = await db.auditChain.findMany();
    const seqOf = (id: string) => anchors.find((anchor) => anchor.id === id)?.seq ?? 0;
    const { auditSeq } = target.state;
    if (auditSeq <= seqOf('head') && auditSeq >= seqOf('tail') - 1) return;
    Object.assign(target.state, { auditSeq: seqOf('head'), compareAt: now() });
    await targets.update(target.id, { auditSeq: seqOf('head'), compareAt: now() });
  }

  /** Accounts, memberships and roles that began by themselves, of which there is no event. */
  async function lookForBegun(target: Target, signal: AbortSignal): Promise<void> {
    const at = now();
    const began = { gt: target.state.lookedAt, lte: at };
    const query = { where: { since: began }, select: { userId: true } } as const;
    const members = await db.asStored.groupMember.findMany(query);
    const roles = await db.asStored.userRole.findMany(query);
    const people = await db.asStored.user.findMany({ where: { activeFrom: began }, select: { id: true } });
    const ids = [...[...members, ...roles].map(({ userId }) => userId), ...people.map(({ id }) => id)];
    await examine(target, [...new Set(ids)], { isNews: true }, signal);
    if (!signal.aborted) await targets.update(target.id, { lookedAt: at });
  }

  /** Goes on with the comparison of everybody, or begins one that is due. Returns whether one is under way. */
  async function compare(target: Target, signal: AbortSignal): Promise<boolean> {
    const { state } = target;
    const isDue = state.compareAt !== null && state.compareAt <= now();
    if (state.position === null && !isDue) return false;
    const stored = state.position === null ? null : (JSON.parse(state.position) as Position);
    let position: Position = stored ?? { ...BEGIN, startedAt: now().getTime() };
    // Another one that is planned meanwhile begins afterwards.
    if (!stored) await targets.update(target.id, { compareAt: null, position: JSON.stringify(position) });
    for (let piece = 0; piece < PIECES && !signal.aborted; piece += 1) {
      const { users, groups, next } = await pageAt(target, position);
      await examine(target, users, { isNews: false }, signal);
      // Some of them may not have been compared: the next run begins with this page again.
      if (signal.aborted) return true;
      if (groups.length > 0) await differences.examineGroups(target, groups);
      if (!next) {
        await finish(target, position);
        return false;
      }
      position = { ...position, ...next };
      await targets.update(target.id, { position: JSON.stringify(position) });
    }
    return true;
  }

  /** One page of a comparison: people and groups that the application has, then the other people who may use it. */
  async function pageAt(
    target: Target,
    { phase, after }: Place,
  ): Promise<{ users: string[]; groups: string[]; next: Place | undefined }> {
    if (phase === 'there') {
      const rows = await db.asStored.provisionedObject.findMany({
        where: { applicationId: target.id, id: { gt: after } },
        orderBy: { id: 'asc' },
        take: PEOPLE,
        select: { id: true, kind: true, localId: true },
      });
      const idsOf = (kind: string) => rows.filter((row) => row.kind === kind).map(({ localId }) => localId);
      const last = rows.length === PEOPLE ? rows.at(-1) : undefined;
      const next: Place = last ? { phase, after: last.id } : { phase: 'here', after: '' };
      return { users: idsOf('user'), groups: idsOf('group'), next };
    }
    const page = await applicationPeople.accounts(target.application, { limit: PEOPLE, after: after || undefined });
    const ids = page.accounts.map(({ id }) => id);
    const rows = await db.asStored.provisionedObject.findMany({
      where: { applicationId: target.id, kind: 'user', localId: { in: ids } },
      select: { localId: true },
    });
    const known = new Set(rows.map(({ localId }) => localId));
    const next: Place | undefined = page.next === undefined ? undefined : { phase, after: page.next };
    return { users: ids.filter((id) => !known.has(id)), groups: [], next };
  }

  async function finish(target: Target, { startedAt }: Position): Promise<void> {
    const { id, application } = target;
    const at = now();
    const compareSeconds = Math.round((at.getTime() - startedAt) / 1000);
    const tomorrow = new Date(at.getTime() + limits.provisioning.compareSeconds * 1000);
    await targets.update(id, { position: null, comparedAt: at, compareSeconds });
    await targets.update(id, { compareAt: tomorrow }, { compareAt: null });
    const left = { lt: new Date(at.getTime() - DAY_MS) };
    const gone = {
      applicationId: id,
      kind: 'user',
      remoteId: null,
      pending: '',
      OR: [{ leftAt: left }, { leftAt: null }],
    };
    await db.provisionedObject.deleteMany({ where: gone });
    const counts = await countsOf(id);
    const { clientId } = application;
    await audit.record({ type: 'provisioning.compared', outcome: 'success', clientId, data: counts });
  }

  const countsOf = async (applicationId: string) => {
    const where = { applicationId, kind: 'user' };
    const [active, waiting, held] = await Promise.all([
      db.provisionedObject.count({ where: { ...where, isActive: true } }),
      db.provisionedObject.count({ where: { ...where, pending: { not: '' } } }),
      db.provisionedObject.count({ where: { ...where, isHeld: true } }),
    ]);
    return { active, waiting, held };
  };

  /** Lets held leavers go, unless they are too many. */
  async function settle(target: Target, signal: AbortSignal): Promise<void> {
    const { id, state, provision } = target;
    const ofPeople = { applicationId: id, kind: 'user' };
    // Nearly always there are none: this runs every few seconds.
    const isHeld = await db.provisionedObject.findFirst({ where: { ...ofPeople, isHeld: true }, select: { id: true } });
    if (!isHeld) {
      if (state.stoppedAt) await targets.update(id, { stoppedAt: null });
      return;
    }
    const { active, held } = await countsOf(id);
    const since = new Date(Math.max(now().getTime() - HOUR_MS, state.approvedAt?.getTime() ?? 0));
    // Also those who may go, and have not gone yet.
    const [goes, gone] = await Promise.all([
      db.provisionedObject.count({ where: { ...ofPeople, pending: { in: ['deactivate', 'delete'] } } }),
      db.provisionedObject.count({ where: { ...ofPeople, pending: '', leftAt: { gt: since } } }),
    ]);
    const [leaving, of] = [goes + gone, active + gone];
    const isTooMany = leaving > limits.provisioning.leavers && leaving * 100 > of * provision.max_leavers_percent;
    const isApproved = state.approvedAt !== null && now().getTime() - state.approvedAt.getTime() < HOUR_MS;
    if (held > 0 && isTooMany && !isApproved) return targets.stop(target, { leaving, of });
    if (state.stoppedAt) await targets.update(id, { stoppedAt: null });
    for (let released = 0; released < held && !signal.aborted; await nextTurn()) {
      const count = await differences.release(target);
      // Those who are left were found just now, and wait a moment.
      if (count === 0) return;
      released += count;
    }
  }

  let isComparing = false;
  return {
    countsOf,
    pageAt,
    job: {
      name: 'provisioning',
      everySeconds: limits.provisioning.pollSeconds,
      againInSeconds: () => (isComparing ? 0 : undefined),
      async run(signal) {
        isComparing = false;
        await targets.tidy(signal);
        for (const target of await targets.list()) {
          // A disabled application is left as it is.
          if (signal.aborted || !target.application.enabled) continue;
          try {
            await assertPosition(target);
            await follow(target, signal);
            await lookForBegun(target, signal);
            const isUnderWay = await compare(target, signal);
            isComparing ||= isUnderWay;
            if (!isUnderWay && !signal.aborted) await settle(target, signal);
          } catch (err) {
            if (unavailableIn(err)) throw err;
            logger.error(
              { err, clientId: target.application.clientId },
              'the changes for an application could not be read',
            );
          }
        }
        wake('provisioning-deliveries', db);
      },
    } satisfies ScheduledJob,
  };
}
