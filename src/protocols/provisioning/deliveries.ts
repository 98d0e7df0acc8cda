// Writes what differs to the applications: jobs of a queue (core/jobs/queue.ts) with a lane for each. An attempt compares again and sends what the
// application lacks at that moment, so that one that was interrupted, also by `kill -9`, is made again without harm: before a second
// POST, it looks whether the first one has come to something.
import type { ApplicationServices } from '../../applications/application-services.ts';
import { limits } from '../../base/limits.ts';
import { type Tx, transaction } from '../../base/storage/database.ts';
import type { Core } from '../../core/core.ts';
import { type AttemptResult, createJobQueue, type QueueStore } from '../../core/jobs/queue.ts';
import type { ScheduledJob } from '../../core/jobs/scheduler.ts';
import type { People } from '../../people/people.ts';
import {
  type Accepted,
  type Attributes,
  acceptedOf,
  changedPaths,
  changeOf,
  membersChange,
  newGroup,
  newUser,
} from './attributes.ts';
import {
  type createScimClients,
  filterOf,
  idOf,
  isList,
  resourcesOf,
  type ScimClient,
  TargetRejected,
  TargetUnavailable,
} from './client.ts';
import { acceptedIn, type Differences, differenceOf, type ProvisionedRow } from './differences.ts';
import type { Target, Targets } from './targets.ts';

/** Entra sends up to five requests for one application at once. */
const CONCURRENCY = { lane: () => 4, total: limits.delivery.atOnce };
const MOST_REASON = 300;

type Resource = Record<string, unknown>;

/** The attribute with the name of an object, by the place of its kind. */
const NAME_AT = { '/Users': 'userName', '/Groups': 'displayName' } as const;
type Place = keyof typeof NAME_AT;

interface Delivery extends ProvisionedRow {
  lane: string;
  target: Target;
  result?: Result;
  /** The application took no call, which says nothing about this object. */
  isUntried?: boolean;
}

/** What an attempt has made of an object. */
interface Result {
  remoteId: string | null;
  accepted: Accepted;
  isActive: boolean;
  /** For the audit log; undefined: nothing was sent. */
  action?: 'created' | 'adopted' | 'updated' | 'deactivated' | 'deleted' | undefined;
  data?: Record<string, unknown>;
  /** There is more to send. */
  isUnfinished?: boolean;
}

const DELETED: Result = { remoteId: null, accepted: {}, isActive: false, action: 'deleted' };

/** How many members the application accepted, and its first rejection. */
interface Sent {
  count: number;
  rejection?: TargetRejected | undefined;
}

interface Attempt {
  target: Target;
  row: ProvisionedRow;
  scim: ScimClient;
}

export function createDeliveries(
  services: Core &
    People &
    ApplicationServices & {
      targets: Targets;
      differences: Differences;
      clients: ReturnType<typeof createScimClients>;
    },
) {
  const { db, now, audit, accounts, applications, targets, differences, clients } = services;

  /** The object that the application has already, found by the external ID, else by its name there. Throws TargetRejected for one that may not be taken over. */
  async function find({ target, scim }: Attempt, place: Place, attributes: Attributes): Promise<Resource | undefined> {
    const nameAttribute = NAME_AT[place];
    const externalId = String(attributes.get('externalId') ?? '');
    const name = String(attributes.get(nameAttribute) ?? '');
    // Some know no filter for it.
    const byId = await scim('GET', `${place}?${filterOf('externalId', externalId)}`).catch(ifRejected({}));
    const own = resourcesOf(byId).find((one) => one.externalId === externalId);
    if (own && idOf(own)) return own;
    const byName = resourcesOf(await scim('GET', `${place}?${filterOf(nameAttribute, name)}`));
    const same = byName.find((one) => sameName(one[nameAttribute], name) && idOf(one));
    if (!same || same.externalId === externalId) return same;
    const isFree = same.externalId === undefined || same.externalId === null || same.externalId === '';
    if (isFree && target.provision.adopt === 'user_name') return same;
    throw new TargetRejected(
      409,
      `${name} exists there already, ${isFree ? 'and is not taken over (adopt)' : 'with another externalId'}`,
    );
  }

  /** Creates the object, or finds the one that is there. */
  async function createOrFind(
    attempt: Attempt,
    place: Place,
    { attributes, body }: { attributes: Attributes; body: Resource },
  ): Promise<{ id: string; isFound: boolean }> {
    // The names of groups need not be unique there; and a first attempt may have been interrupted.
    const looksFirst = place === '/Groups' || attempt.row.tries > 0;
    let found = looksFirst ? await find(attempt, place, attributes) : undefined;
    let made: Resource | undefined;
    if (!found)
      try {
        made = await attempt.scim('POST', place, body);
      } catch (error) {
        if (!isStatus(error, 409)) throw error;
        found = await find(attempt, place, attributes);
        if (!found) throw error;
      }
    const id = idOf(found ?? made ?? {});
    if (id === undefined) throw new TargetRejected(200, 'answered without an id');
    return { id, isFound: found !== undefined };
  }

  /** Whether an object is gone there. Throws TargetUnavailable where nothing at all is found, as at a wrong address or behind a proxy. */
  async function isGone({ scim, row }: Attempt, path: string): Promise<boolean> {
    if (!(await scim('GET', path).then(() => false, ifRejected(true, 404, 410)))) return false;
    const place = path.startsWith('/Users') ? '/Users' : '/Groups';
    const list = await scim('GET', `${place}?${filterOf(NAME_AT[place], row.id)}`).catch(ifRejected({}));
    if (isList(list)) return true;
    throw new TargetUnavailable('found nothing (404), not even a list');
  }

  /** The answer to a change; undefined where the object is gone there. */
  async function unlessGone(attempt: Attempt, path: string, answer: Promise<Resource>): Promise<Resource | undefined> {
    try {
      return await answer;
    } catch (error) {
      if (isStatus(error, 404, 410) && (await isGone(attempt, path))) return undefined;
      throw error;
    }
  }

  async function pushUser(attempt: Attempt): Promise<Result> {
    const { target, row, scim } = attempt;
    const { remoteId, isActive } = row;
    const account = await accounts.find(row.localId);
    const wanted = differences.wantedOf(target, account);
    const { pending, paths } = differenceOf(target, { account, wanted }, row);
    if (pending === '') return { remoteId, accepted: acceptedIn(row), isActive };
    const path = userPath(remoteId ?? '');
    if (pending === 'delete') {
      await unlessGone(attempt, path, scim('DELETE', path));
      return DELETED;
    }
    if (!wanted) {
      const isThere = await deactivate(attempt, path);
      // Of a person who is gone here nothing stays.
      const accepted = account && isThere ? acceptedIn(row) : {};
      return { remoteId: isThere ? remoteId : null, accepted, isActive: false, action: 'deactivated' };
    }
    const { attributes } = wanted;
    if (!attributes.has('userName'))
      throw new TargetRejected(0, 'has no verified email address, which is the userName');
    const accepted = acceptedOf(row.id, attributes);
    if (remoteId !== null) {
      const active = isActive ? undefined : true;
      const change = changeOf(paths, attributes, { dialect: target.provision.dialect, active });
      const isThere = !change || (await unlessGone(attempt, path, scim('PATCH', path, change)));
      if (isThere) return { remoteId, accepted, isActive: true, action: 'updated', data: { attributes: paths } };
    }
    const { id, isFound } = await createOrFind(attempt, '/Users', { attributes, body: newUser(attributes) });
    // What it has of the person is brought in line at the next attempt.
    if (isFound) return { remoteId: id, accepted: {}, isActive: false, action: 'adopted', isUnfinished: true };
    return { remoteId: id, accepted, isActive: true, action: 'created' };
  }

  /** Returns false for an account that is not there. Throws TargetRejected for one that the application leaves active. */
  async function deactivate(attempt: Attempt, path: string): Promise<boolean> {
    const { target, scim } = attempt;
    const change = changeOf([], new Map(), { dialect: target.provision.dialect, active: false });
    const answer = await unlessGone(attempt, path, scim('PATCH', path, change));
    const isSilent = answer && answer.active === undefined;
    const after = isSilent ? await unlessGone(attempt, path, scim('GET', path)) : answer;
    // Entra's booleans are texts.
    if (after && String(after.active).toLowerCase() !== 'false') throw new TargetRejected(200, 'is still active there');
    return after !== undefined;
  }

  async function pushGroup(attempt: Attempt): Promise<Result> {
    const { target, row, scim } = attempt;
    const { remoteId } = row;
    const attributes = await differences.wantedGroup(target, row.localId);
    if (attributes) return pushWantedGroup(attempt, attributes);
    if (remoteId === null) return { remoteId, accepted: {}, isActive: false };
    // Else it stays there, and loses its members.
    if (target.provision.delete_policy !== 'delete') return pushMembers(attempt, { remoteId, accepted: {} });
    const path = groupPath(remoteId);
    await unlessGone(attempt, path, scim('DELETE', path));
    return DELETED;
  }

  async function pushWantedGroup(attempt: Attempt, attributes: Attributes): Promise<Result> {
    const { target, row, scim } = attempt;
    const { remoteId } = row;
    const accepted = acceptedOf(row.id, attributes);
    if (remoteId === null) {
      const { id, isFound } = await createOrFind(attempt, '/Groups', { attributes, body: newGroup(attributes) });
      if (isFound) return { remoteId: id, accepted: {}, isActive: true, action: 'adopted', isUnfinished: true };
      return pushMembers(attempt, { remoteId: id, accepted, action: 'created' });
    }
    const paths = changedPaths(row.id, acceptedIn(row), attributes);
    if (paths.length === 0) return pushMembers(attempt, { remoteId, accepted });
    const path = groupPath(remoteId);
    const change = changeOf(paths, attributes, { dialect: target.provision.dialect });
    if (!(await unlessGone(attempt, path, scim('PATCH', path, change)))) throw new GroupGone();
    return pushMembers(attempt, { remoteId, accepted, action: 'updated' });
  }

  /**
   * Removes and adds members of a group whose attributes are as they should be, in requests of a hundred, for a minute at most. Throws GroupGone,
   * and the first rejection after the last request.
   */
  async function pushMembers(
    attempt: Attempt,
    group: { remoteId: string; accepted: Accepted; action?: Result['action'] },
  ): Promise<Result> {
    const { target, row } = attempt;
    const counts = { added: 0, removed: 0 };
    const resultOf = (isUnfinished: boolean): Result => {
      const action = group.action ?? (counts.added + counts.removed > 0 ? 'updated' : undefined);
      return { ...group, isActive: true, action, data: counts, isUnfinished };
    };
    const began = performance.now();
    let rejection: TargetRejected | undefined;
    for (const state of ['remove', 'add'] as const) {
      for (let after = ''; ; ) {
        if (performance.now() - began > limits.provisioning.attemptSeconds * 1000) return resultOf(true);
        const members = await db.provisionedMember.findMany({
          where: { applicationId: target.id, groupId: row.localId, state, userId: { gt: after } },
          orderBy: { userId: 'asc' },
          take: limits.provisioning.members,
          select: { userId: true },
        });
        if (members.length === 0) break;
        const userIds = members.map(({ userId }) => userId);
        after = userIds.at(-1) ?? '';
        const sent = await pushPage(attempt, groupPath(group.remoteId), state, userIds);
        counts[state === 'add' ? 'added' : 'removed'] += sent.count;
        rejection ??= sent.rejection;
      }
    }
    if (rejection) throw rejection;
    return resultOf(false);
  }

  async function pushPage(
    attempt: Attempt,
    path: string,
    state: 'add' | 'remove',
    userIds: readonly string[],
  ): Promise<Sent> {
    const people = await differences.rowsOf(attempt.target, userIds);
    const there = people.flatMap(({ localId, remoteId }) => (remoteId === null ? [] : [{ localId, remoteId }]));
    const sent = await sendMembers(attempt, path, state, there);
    // Without an ID there, nobody is a member.
    const lost = userIds.filter((id) => !there.some(({ localId }) => localId === id));
    await settleMembers(attempt, lost, state, 'wait');
    return sent;
  }

  /** A request that is rejected is made again by halves, so that one person does not keep out the others. */
  async function sendMembers(
    attempt: Attempt,
    path: string,
    state: 'add' | 'remove',
    people: readonly { localId: string; remoteId: string }[],
  ): Promise<Sent> {
    const [person, ...others] = people;
    if (!person) return { count: 0 };
    const { target, scim } = attempt;
    const ids = people.map(({ remoteId }) => remoteId);
    const change = membersChange(state, ids, target.provision.dialect);
    const rejection = await scim('PATCH', path, change).then(() => undefined, rejectionOf);
    if (isStatus(rejection, 404, 410) && (await isGone(attempt, path))) throw new GroupGone();
    if (rejection && others.length > 0) {
      const half = Math.ceil(people.length / 2);
      const first = await sendMembers(attempt, path, state, people.slice(0, half));
      const second = await sendMembers(attempt, path, state, people.slice(half));
      return { count: first.count + second.count, rejection: first.rejection ?? second.rejection };
    }
    if (rejection) {
      const isPersonGone = await isGone(attempt, userPath(person.remoteId));
      if (isPersonGone) await createAgain(target, person.localId);
      // Who is no member there is removed.
      const isRemoved = state === 'remove' && isStatus(rejection, 400, 404);
      if (!isRemoved) return { count: 0, rejection: isPersonGone ? undefined : rejection };
    }
    const userIds = people.map(({ localId }) => localId);
    await settleMembers(attempt, userIds, state, 'in');
    return { count: people.length };
  }

  /** Stores what became of members that were to be added or removed. One that changed meanwhile has another state, and is sent again. */
  async function settleMembers(
    { target, row }: Attempt,
    userIds: readonly string[],
    state: 'add' | 'remove',
    added: 'in' | 'wait',
  ): Promise<void> {
    const where = { applicationId: target.id, groupId: row.localId, userId: { in: [...userIds] }, state };
    if (state === 'remove') await db.provisionedMember.deleteMany({ where });
    else await db.provisionedMember.updateMany({ where, data: { state: added } });
  }

  /** For a person whose account there is gone. */
  async function createAgain(target: Target, localId: string): Promise<void> {
    const [person] = await differences.rowsOf(target, [localId]);
    if (!person) return;
    const data = { remoteId: null, accepted: '{}', isActive: false };
    await db.provisionedObject.update({ where: { id: person.id }, data, select: { id: true } });
    await differences.examine(target, [localId], { isNews: true });
  }

  async function attempt(delivery: Delivery): Promise<AttemptResult> {
    const { target } = delivery;
    const token = await applications.provisioningTokens.find(target.id);
    try {
      if (token === undefined) throw new TargetUnavailable('has no token');
      const scim = clients({ url: target.provision.url, token });
      const work = { target, row: delivery, scim };
      delivery.result = await (delivery.kind === 'user' ? pushUser(work) : pushGroup(work).catch(ifGone));
      await targets.worked(target);
      return { outcome: 'done' };
    } catch (error) {
      if (error instanceof TargetUnavailable) {
        await targets.failed(target, error);
        delivery.isUntried = true;
        return { outcome: 'retry', reason: error.message, closesLane: true };
      }
      if (!(error instanceof TargetRejected)) throw error;
      await targets.worked(target);
      const reason = error.message.slice(0, MOST_REASON);
      if (delivery.lastError === null) await record(delivery, 'provisioning.rejected', { reason }, db);
      return { outcome: 'retry', reason };
    }
  }

  const store: QueueStore<Delivery> = {
    async due({ limit, exceptLanes }) {
      const open = (await targets.list()).filter(
        ({ id, application, state }) =>
          application.enabled &&
          state.pausedAt === null &&
          (state.retryAt === null || state.retryAt <= now()) &&
          !exceptLanes.includes(id),
      );
      const found: Delivery[] = [];
      for (const target of open) {
        // Groups follow their members.
        for (const kind of ['user', 'group']) {
          const take = limit - found.length;
          const where = {
            applicationId: target.id,
            kind,
            pending: { not: '' },
            isHeld: false,
            nextTryAt: { lte: now() },
          };
          const rows =
            take > 0 ? await db.provisionedObject.findMany({ where, orderBy: { nextTryAt: 'asc' }, take }) : [];
          found.push(...rows.map((row) => ({ ...row, lane: target.id, target })));
          if (rows.length > 0) break;
        }
      }
      return found;
    },

    async claim({ id, tries }, leaseUntil) {
      const where = { id, tries, pending: { not: '' }, OR: [{ claimedUntil: null }, { claimedUntil: { lte: now() } }] };
      const data = { tries: tries + 1, claimedUntil: leaseUntil, nextTryAt: leaseUntil };
      const { count } = await db.provisionedObject.updateMany({ where, data });
      return count === 1;
    },

    complete: (delivery) => transaction(db, (tx) => complete(delivery, tx)),

    async retry({ id, isUntried }, { reason, nextTryAt }) {
      const data = isUntried
        ? { nextTryAt: now(), claimedUntil: null }
        : { lastError: reason.slice(0, MOST_REASON), nextTryAt, claimedUntil: null };
      await db.provisionedObject.updateMany({ where: { id }, data });
    },

    // No attempt is the last one.
    giveUp: async () => {},

    waitAtMost: async (until) => {
      const late = { pending: { not: '' }, nextTryAt: { gt: until } };
      await db.provisionedObject.updateMany({ where: late, data: { nextTryAt: until } });
    },
  };

  async function complete(delivery: Delivery, tx: Tx): Promise<void> {
    const { id, version, localId, target, result } = delivery;
    if (!result) return;
    const at = now();
    const { remoteId, isActive, action, isUnfinished } = result;
    if (remoteId !== delivery.remoteId)
      await tx.provisionedObject.update({ where: { id }, data: { remoteId }, select: { id: true } });
    const data = {
      accepted: JSON.stringify(result.accepted),
      isActive,
      claimedUntil: null,
      lastError: null,
      ...(action && { sentAt: at }),
      ...(delivery.isActive && !isActive && { leftAt: at }),
    };
    const done = { ...data, pending: '' };
    const { count } = isUnfinished
      ? { count: 0 }
      : await tx.provisionedObject.updateMany({ where: { id, version }, data: done });
    // There is more to send, or it changed while it was sent. A leaver stays held.
    if (count === 0) {
      const again = { ...data, pending: 'update', tries: 0, nextTryAt: at };
      await tx.provisionedObject.updateMany({ where: { id, isHeld: true }, data });
      await tx.provisionedObject.updateMany({ where: { id, isHeld: false }, data: again });
    }
    if (delivery.kind === 'user') await followUser(delivery, result, tx);
    if (delivery.kind === 'group' && remoteId === null) {
      const members = { applicationId: target.id, groupId: localId };
      await tx.provisionedMember.updateMany({ where: { ...members, state: 'in' }, data: { state: 'add' } });
    }
    if (action) await record(delivery, 'provisioning.sent', { action, ...result.data }, tx);
  }

  /** The memberships of a person whose account there is new, or gone: they are sent, or wait for the next account. */
  async function followUser(
    { target, localId, remoteId: before }: Delivery,
    { remoteId }: Result,
    tx: Tx,
  ): Promise<void> {
    if (remoteId === before) return;
    const ofPerson = { applicationId: target.id, userId: localId };
    const members = tx.provisionedMember;
    if (remoteId === null) {
      await members.updateMany({ where: { ...ofPerson, state: { in: ['in', 'add'] } }, data: { state: 'wait' } });
      await members.deleteMany({ where: { ...ofPerson, state: 'remove' } });
      return;
    }
    const where = { ...ofPerson, state: { in: ['wait', 'in'] } };
    const rows = await members.findMany({ where });
    await members.updateMany({ where, data: { state: 'add' } });
    const groupIds = rows.map(({ groupId }) => groupId);
    await differences.markGroups(target, groupIds, tx);
  }

  function record(
    { target, kind, localId }: Delivery,
    type: 'provisioning.sent' | 'provisioning.rejected',
    data: Record<string, unknown>,
    tx: Tx,
  ): Promise<void> {
    const { clientId } = target.application;
    const about = kind === 'user' ? { subjectId: localId, data } : { data: { groupId: localId, ...data } };
    const outcome = type === 'provisioning.sent' ? 'success' : 'failure';
    return audit.record({ type, outcome, clientId, ...about }, tx);
  }

  const queue = createJobQueue<Delivery>({
    now,
    store,
    attempt,
    leaseSeconds: limits.provisioning.leaseSeconds,
    concurrency: CONCURRENCY,
  });
  return {
    job: {
      name: 'provisioning-deliveries',
      everySeconds: limits.provisioning.pollSeconds,
      ...queue,
    } satisfies ScheduledJob,
  };
}

const userPath = (remoteId: string) => `/Users/${encodeURIComponent(remoteId)}`;
const groupPath = (remoteId: string) => `/Groups/${encodeURIComponent(remoteId)}`;

function rejectionOf(error: unknown): TargetRejected {
  if (!(error instanceof TargetRejected)) throw error;
  return error;
}

const isStatus = (error: unknown, ...statuses: number[]): boolean =>
  error instanceof TargetRejected && statuses.includes(error.status);

/** Takes a rejection as this answer: any, or one with these statuses. */
const ifRejected =
  <Answer>(answer: Answer, ...statuses: number[]) =>
  (error: unknown): Answer => {
    if (statuses.length === 0 ? error instanceof TargetRejected : isStatus(error, ...statuses)) return answer;
    throw error;
  };

/** The group is gone there: it is created again. */
class GroupGone extends Error {}

function ifGone(error: unknown): Result {
  if (!(error instanceof GroupGone)) throw error;
  return { remoteId: null, accepted: {}, isActive: false, isUnfinished: true };
}

const sameName = (one: unknown, other: string): boolean =>
  typeof one === 'string' && one.normalize('NFC').toLowerCase() === other.normalize('NFC').toLowerCase();
