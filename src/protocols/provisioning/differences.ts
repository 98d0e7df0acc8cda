// What differs between an application and here: who may open it and is not there as he is here, and who is there and may not. What differs is
// marked on the object; the deliveries (deliveries.ts) compare again at the moment in which they write, so that a mark too many costs nothing.
import { accessDecision } from '../../applications/access-decision.ts';
import { randomId } from '../../base/platform/random.ts';
import { type Tx, transaction } from '../../base/storage/database.ts';
import type { Core } from '../../core/core.ts';
import type { Account } from '../../people/accounts/account.ts';
import { visibleGroups, withVisibleRoles } from '../../people/accounts/visible-roles.ts';
import type { People } from '../../people/people.ts';
import { type Accepted, type Attributes, attributesOfGroup, attributesOfUser, changedPaths } from './attributes.ts';
import type { Target } from './targets.ts';

/** How long a group waits for further changes of its members, so that one request has many. */
const GATHER_MS = 3000;

const PENDING = ['', 'create', 'update', 'deactivate', 'delete'] as const;
export type Pending = (typeof PENDING)[number];

export interface ProvisionedRow {
  id: string;
  applicationId: string;
  kind: string;
  localId: string;
  remoteId: string | null;
  accepted: string;
  isActive: boolean;
  pending: string;
  isHeld: boolean;
  version: number;
  claimedUntil: Date | null;
  tries: number;
  nextTryAt: Date;
  lastError: string | null;
}

/** What an application should have of a person; undefined where the person may not open it. */
export interface Wanted {
  attributes: Attributes;
  /** The ids of the groups that it is told about. */
  groups: readonly string[];
}

export interface Difference {
  pending: Pending;
  /** The attributes that differ. */
  paths: readonly string[];
}

export const acceptedIn = ({ accepted }: { accepted: string }): Accepted => JSON.parse(accepted) as Accepted;

/** The difference for one person. `row`: what the application has. */
export function differenceOf(
  { provision }: Target,
  { account, wanted }: { account: Account | undefined; wanted: Wanted | undefined },
  row: ProvisionedRow | undefined,
): Difference {
  const none: Difference = { pending: '', paths: [] };
  const isThere = row !== undefined && row.remoteId !== null;
  if (!wanted) {
    if (isThere && !account && provision.delete_policy === 'delete') return { pending: 'delete', paths: [] };
    return isThere && row.isActive ? { pending: 'deactivate', paths: [] } : none;
  }
  if (!isThere) return { pending: 'create', paths: [...wanted.attributes.keys()] };
  const paths = changedPaths(row.id, acceptedIn(row), wanted.attributes);
  return paths.length > 0 || !row.isActive ? { pending: 'update', paths } : none;
}

const isLeaving = (pending: Pending) => pending === 'deactivate' || pending === 'delete';

export type Differences = ReturnType<typeof createDifferences>;

export function createDifferences({ db, now, accounts }: Core & People) {
  function wantedOf(target: Target, account: Account | undefined): Wanted | undefined {
    const { application, provision } = target;
    if (!account || !accessDecision(application, account).allowed) return undefined;
    const { metadata } = application;
    const isTold = (group: Account['groups'][number]) => visibleGroups([group], metadata).length > 0;
    return {
      attributes: attributesOfUser(withVisibleRoles(account, metadata), provision, target.subjectOf(account.id)),
      groups: provision.groups ? account.groups.filter(isTold).map(({ id }) => id) : [],
    };
  }

  /** What an application should have of a group; undefined where it is not told about it, or the group is gone. */
  async function wantedGroup({ application, provision }: Target, id: string): Promise<Attributes | undefined> {
    const group = provision.groups ? await db.group.findUnique({ where: { id } }) : null;
    if (!group) return undefined;
    const [displayName] = visibleGroups([group], application.metadata);
    return displayName === undefined ? undefined : attributesOfGroup(displayName, id);
  }

  const where = ({ id: applicationId }: Target, kind: 'user' | 'group', localId: readonly string[]) => ({
    applicationId,
    kind,
    localId: { in: [...localId] },
  });

  /** Marks objects. One that is being written is looked at again afterwards; `isNews`: one that waits for another try gets it now. */
  async function mark(
    ids: readonly string[],
    { pending, isHeld = false, isNews = true }: { pending: Pending; isHeld?: boolean; isNews?: boolean },
    tx: Tx,
  ): Promise<void> {
    const at = now();
    const id = { in: [...ids] };
    const isFree = { OR: [{ claimedUntil: null }, { claimedUntil: { lte: at } }] };
    const data = { pending, isHeld, version: { increment: 1 } };
    if (!isNews) return void (await tx.provisionedObject.updateMany({ where: { id }, data }));
    await tx.provisionedObject.updateMany({
      where: { id, ...isFree },
      data: { ...data, tries: 0, nextTryAt: at, lastError: null },
    });
    await tx.provisionedObject.updateMany({ where: { id, claimedUntil: { gt: at } }, data });
  }

  /** Marks the groups, and makes those that are new there. */
  async function markGroups(target: Target, groupIds: readonly string[], tx: Tx): Promise<void> {
    if (groupIds.length === 0) return;
    const nextTryAt = new Date(now().getTime() + GATHER_MS);
    const rows = await tx.provisionedObject.findMany({ where: where(target, 'group', groupIds) });
    const missing = groupIds.filter((groupId) => !rows.some(({ localId }) => localId === groupId));
    const fresh = missing.map((localId) => newRow(target, 'group', localId, { pending: 'create', nextTryAt }));
    await createRows(fresh, tx);
    const id = { in: rows.map((row) => row.id) };
    const version = { increment: 1 };
    await tx.provisionedObject.updateMany({ where: { id, pending: { not: '' } }, data: { version } });
    const begins = { pending: 'update', nextTryAt, tries: 0, version };
    await tx.provisionedObject.updateMany({ where: { id, pending: '' }, data: begins });
  }

  function newRow(
    { id }: Target,
    kind: 'user' | 'group',
    localId: string,
    rest: { pending: Pending; nextTryAt: Date },
  ) {
    return { id: randomId(), applicationId: id, kind, localId, remoteId: null, ...rest };
  }

  /** Also in place of rows that another program wrote. */
  async function createRows(rows: readonly ReturnType<typeof newRow>[], tx: Tx): Promise<void> {
    for (const { applicationId, kind, localId } of rows)
      await tx.provisionedObject.deleteMany({ where: { applicationId, kind, localId } });
    if (rows.length > 0) await tx.provisionedObject.createMany({ data: [...rows] });
  }

  /** What an examination changes for one person: a row that is created or marked, and memberships that are brought in line. */
  function stepsOf(
    target: Target,
    { localId, account, row }: { localId: string; account: Account | undefined; row: ProvisionedRow | undefined },
    isNews: boolean,
  ) {
    const at = now();
    const wanted = wantedOf(target, account);
    const { pending } = differenceOf(target, { account, wanted }, row);
    const wasReleased = row?.pending === pending && !row.isHeld;
    const isHeld = isLeaving(pending) && !wasReleased;
    const isClaimed = row?.claimedUntil != null && row.claimedUntil > at;
    // A held leaver who is marked again would wait again, and one whose profile changes every few seconds for ever.
    const isSame = row?.pending === pending && (row.isHeld || !isNews || pending === '');
    // A leaver stays in the groups there until it is known that there are not too many.
    const isInGroups = !isHeld && (row !== undefined || wanted !== undefined);
    const isThere = row !== undefined && row.remoteId !== null;
    return {
      created: !row && pending === 'create' ? newRow(target, 'user', localId, { pending, nextTryAt: at }) : undefined,
      marked: row && (!isSame || isClaimed) ? { id: row.id, pending, isHeld } : undefined,
      joining: isInGroups ? { userId: localId, groups: wanted?.groups ?? [], isThere } : undefined,
    };
  }

  /**
   * Brings the memberships of a person in line. One waits for the person's account there (`wait`), is to be sent (`add`, `remove`), or is there
   * (`in`). Returns the groups that change.
   */
  async function joinGroups(
    target: Target,
    { userId, groups, isThere }: { userId: string; groups: readonly string[]; isThere: boolean },
    known: readonly { groupId: string; state: string }[],
    tx: Tx,
  ): Promise<string[]> {
    const ofPerson = { applicationId: target.id, userId };
    const state = isThere ? 'add' : 'wait';
    const stateOf = new Map(known.map((one) => [one.groupId, one.state]));
    const joins = groups.filter((groupId) => !stateOf.has(groupId));
    const stays = groups.filter((groupId) => stateOf.get(groupId) === 'remove');
    const leaves = known.filter((one) => !groups.includes(one.groupId) && one.state !== 'remove');
    const waiting = leaves.filter((one) => one.state === 'wait').map(({ groupId }) => groupId);
    const members = leaves.filter((one) => one.state !== 'wait').map(({ groupId }) => groupId);
    const rows = tx.provisionedMember;
    if (joins.length > 0) await rows.createMany({ data: joins.map((groupId) => ({ ...ofPerson, groupId, state })) });
    if (stays.length > 0)
      await rows.updateMany({ where: { ...ofPerson, groupId: { in: stays } }, data: { state: 'add' } });
    if (waiting.length > 0) await rows.deleteMany({ where: { ...ofPerson, groupId: { in: waiting } } });
    if (members.length > 0)
      await rows.updateMany({ where: { ...ofPerson, groupId: { in: members } }, data: { state: 'remove' } });
    return [...joins, ...stays, ...members];
  }

  interface Steps {
    created?: readonly ReturnType<typeof newRow>[];
    marks: readonly { id: string; pending: Pending; isHeld: boolean }[];
    joining: readonly { userId: string; groups: readonly string[]; isThere: boolean }[];
    isNews?: boolean;
  }

  /** Stores what changes for people: their rows, their marks, and their memberships with the groups that change by them. */
  async function apply(target: Target, { created = [], marks, joining, isNews = true }: Steps, tx: Tx): Promise<void> {
    await createRows(created, tx);
    for (const pending of PENDING)
      for (const isHeld of [false, true]) {
        const alike = marks.filter((one) => one.pending === pending && one.isHeld === isHeld);
        const ids = alike.map(({ id }) => id);
        if (ids.length > 0) await mark(ids, { pending, isHeld, isNews }, tx);
      }
    const userId = { in: joining.map((person) => person.userId) };
    const memberships = await tx.provisionedMember.findMany({ where: { applicationId: target.id, userId } });
    const changed = new Set<string>();
    for (const person of joining) {
      const known = memberships.filter((one) => one.userId === person.userId);
      for (const groupId of await joinGroups(target, person, known, tx)) changed.add(groupId);
    }
    await markGroups(target, [...changed], tx);
  }

  return {
    wantedOf,
    wantedGroup,
    markGroups,

    /** The rows of these people. */
    rowsOf: (target: Target, ids: readonly string[]) =>
      db.provisionedObject.findMany({ where: where(target, 'user', ids) }),

    /**
     * Compares these people, at most a hundred, and marks what differs. Leavers are held until it is known that there are not too many.
     * @param isNews they have changed just now: who waits for another try gets it at once
     */
    async examine(target: Target, ids: readonly string[], { isNews }: { isNews: boolean }): Promise<void> {
      const people = await accounts.findAll(ids);
      const rows = await db.provisionedObject.findMany({ where: where(target, 'user', ids) });
      const steps = ids.map((localId) => {
        const account = people.find(({ id }) => id === localId);
        const row = rows.find((one) => one.localId === localId);
        return stepsOf(target, { localId, account, row }, isNews);
      });
      const created = steps.flatMap((one) => one.created ?? []);
      const marks = steps.flatMap((one) => one.marked ?? []);
      const joining = steps.flatMap((one) => one.joining ?? []);
      await transaction(db, (tx) => apply(target, { created, marks, joining, isNews }, tx));
    },

    /** Compares these groups: their names, and whether the application is told about them. */
    async examineGroups(target: Target, ids: readonly string[]): Promise<void> {
      const rows = await db.provisionedObject.findMany({ where: where(target, 'group', ids) });
      for (const row of rows) {
        const wanted = await wantedGroup(target, row.localId);
        const isChanged = wanted ? changedPaths(row.id, acceptedIn(row), wanted).length > 0 : row.remoteId !== null;
        if (isChanged) await transaction(db, (tx) => markGroups(target, [row.localId], tx));
      }
    },

    /**
     * Lets up to a hundred held leavers go. Returns how many. Who was found just now stays: the audit log is sealed in pieces, so that others
     * of the same change may follow, and all of them may be too many.
     */
    release: (target: Target): Promise<number> =>
      transaction(db, async (tx) => {
        const held = {
          applicationId: target.id,
          isHeld: true,
          nextTryAt: { lte: new Date(now().getTime() - GATHER_MS) },
        };
        const rows = await tx.provisionedObject.findMany({ where: held, take: 100 });
        const marks = rows.map(({ id, pending }) => ({ id, pending: pending as Pending, isHeld: false }));
        const joining = rows.map(({ localId }) => ({ userId: localId, groups: [], isThere: true }));
        await apply(target, { marks, joining }, tx);
        return rows.length;
      }),
  };
}
