// The groups of a SCIM connection (RFC 7643 4.2): groups here, in which the connection has memberships of its own. Members are added and
// removed one by one, never read and written again, so that none is lost when requests run beside each other.
import { conflict, notFound, preconditionFailed } from '../../base/http/errors.ts';
import { inChunks } from '../../base/storage/chunks.ts';
import { type Tx, transaction } from '../../base/storage/database.ts';
import { lockRow } from '../../base/storage/row-lock.ts';
import { isStorable } from '../../base/storage/storable-text.ts';
import type { Core } from '../../core/core.ts';
import type { People } from '../../people/people.ts';
import { groupKey } from '../../people/rbac/names.ts';
import type { ScimConnection } from './connections.ts';
import { externalIdTaken, scimError } from './errors.ts';
import { type Complex, type Filter, listOf, textKey } from './filter.ts';
import { afterMark, createPlaces, narrow, type Page, type Place, pageOf } from './pages.ts';
import { applyStep, type MemberStep, memberStepOf, type Step } from './patch.ts';
import { type IfMatch, type Resource, readResource, textAt, toJson, type Values, valuesOf } from './resource-values.ts';
import { groupType } from './schemas.ts';
import { type ScimRequest, type ScimUsers, sourceOf } from './users.ts';

/** Members of all groups of one page; of more, the page is shorter. */
const MOST_MEMBERS = 20_000;
/** A change of many members. */
const LONG = { timeout: 120_000 };

type Row = {
  groupId: string;
  externalId: string | null;
  content: string;
  isOwn: boolean;
  createdAt: Date;
  updatedAt: Date;
};

export type ScimGroups = ReturnType<typeof createScimGroups>;

export function createScimGroups({ db, sql, now, groups, users }: Core & People & { users: ScimUsers }) {
  const places = createPlaces(now);

  async function rowOf(groupId: string, { connection }: ScimRequest, tx: Tx): Promise<Row> {
    const where = { groupId, connectionId: connection.id };
    const row = isStorable(groupId) ? await tx.scimGroup.findFirst({ where }) : null;
    if (!row) throw unknown();
    return row;
  }

  /** The row for a change. Throws not_found (404), and precondition_failed (412) where the version is another one. */
  async function locked(groupId: string, request: ScimRequest, ifMatch: IfMatch | undefined, tx: Tx): Promise<Row> {
    if (!isStorable(groupId)) throw unknown();
    await lockRow(tx, sql, 'scim_groups', groupId);
    const row = await rowOf(groupId, request, tx);
    if (ifMatch && !ifMatch(await one(groupId, request, tx))) throw preconditionFailed('precondition_failed');
    return row;
  }

  const shown = (row: Row): Resource => {
    const { groupId: id, createdAt, updatedAt } = row;
    return { id, values: valuesOf(row), createdAt, updatedAt };
  };

  /** Adds the members; without the last groups where these are too many. */
  async function withMembers(groups: Resource[], { connection }: ScimRequest, tx: Tx) {
    const items: Resource[] = [];
    let count = 0;
    for (const group of groups) {
      const where = { groupId: group.id, source: sourceOf(connection), user: { scim: { deletedAt: null } } };
      const members = await tx.groupMember.findMany({ where, select: { userId: true }, orderBy: { userId: 'asc' } });
      count += members.length;
      if (items.length > 0 && count > MOST_MEMBERS) return { items, isCut: true };
      const all = members.map(
        ({ userId }): Complex =>
          new Map([
            ['value', userId],
            ['type', 'User'],
          ]),
      );
      group.values.set('members', all);
      items.push(group);
    }
    return { items, isCut: false };
  }

  async function one(groupId: string, request: ScimRequest, tx: Tx, hasMembers = true): Promise<Resource> {
    const group = shown(await rowOf(groupId, request, tx));
    if (hasMembers) await withMembers([group], request, tx);
    return group;
  }

  /** The group here that gets the members: a mapped one, or a new one. */
  async function groupFor(name: string, { connection, by }: ScimRequest, tx: Tx) {
    const mapped = Object.entries(connection.mappings.groups).find(([from]) => groupKey(from) === groupKey(name))?.[1];
    if (mapped === undefined) {
      if (await groups.find(nameOf(name), tx))
        throw conflict('group_name_taken', {
          message: 'A group with this name exists here. It gets the members once `mappings.groups` names it.',
        });
      const { id: groupId } = await groups.create({ name: nameOf(name) }, { by, tx });
      return { groupId, isOwn: true };
    }
    const found = await groups.find(mapped, tx);
    if (!found) throw conflict('conflict', { message: `The group ${mapped}, which is mapped, does not exist.` });
    if (await tx.asStored.scimGroup.findUnique({ where: { groupId: found.id } }))
      throw conflict('conflict', { message: `The group ${mapped} has the members of another group of a directory.` });
    // The directory decides who is in the group, which may give rights in Gatehouse.
    await groups.assertMayPut(found.id, sourceOf(connection), { by }, tx);
    return { groupId: found.id, isOwn: false };
  }

  async function carryOut(groupId: string, steps: readonly MemberStep[], request: ScimRequest, tx: Tx): Promise<void> {
    const { connection, by } = request;
    const options = { by, tx, via: sourceOf(connection) };
    for (const { kind, ids } of steps) {
      const named = [...new Set(ids)];
      if (kind !== 'remove') await assertUsers(named, request, tx);
      const inside = await insideOf(groupId, kind === 'replace' ? undefined : named, options.via, tx);
      let leaving: string[] = [];
      if (kind === 'remove') leaving = inside;
      if (kind === 'replace') leaving = without(inside, named);
      if (leaving.length > 0) await groups.removeMembers(groupId, leaving, options);
      const joining = kind === 'remove' ? [] : without(named, inside).map((userId) => ({ userId }));
      if (joining.length > 0) await groups.addMembers(groupId, joining, options);
    }
  }

  /** Throws invalidValue for an id that is no user of this connection. */
  async function assertUsers(ids: readonly string[], request: ScimRequest, tx: Tx): Promise<void> {
    const known = await inChunks(ids, async (some) => [...(await users.known(some, request, tx))]);
    const [missing] = without(ids, known.flat());
    if (missing !== undefined) throw scimError('invalidValue', `members: ${missing} is no user of this connection.`);
  }

  /** Who is in the group by this source; of these, or all. */
  async function insideOf(groupId: string, ids: readonly string[] | undefined, source: string, tx: Tx) {
    const read = async (where: object) => {
      const rows = await tx.groupMember.findMany({ where: { groupId, source, ...where }, select: { userId: true } });
      return rows.map(({ userId }) => userId);
    };
    return ids === undefined ? read({}) : (await inChunks(ids, (some) => read({ userId: { in: [...some] } }))).flat();
  }

  /** Writes the attributes, and the name to a group that the connection created; a mapped one keeps its own. */
  async function store(
    row: Row,
    before: Complex,
    after: Values,
    { connection, by }: ScimRequest,
    tx: Tx,
  ): Promise<void> {
    const [oldName, name] = [displayNameOf(before), displayNameOf(after)];
    const { groupId, isOwn } = row;
    if (name !== oldName && isOwn) await groups.update(groupId, { name: nameOf(name) }, { by, tx });
    const externalId = textAt(after, 'externalId') ?? null;
    const data = { groupId, connectionId: connection.id, externalId, content: contentOf(after), isOwn };
    const changed = { ...data, displayKey: textKey(name), updatedAt: now() };
    await tx.scimGroup
      .update({ where: { groupId }, data: changed, select: { groupId: true } })
      .catch(externalIdTaken('group'));
  }

  return {
    /** Throws conflict (409), group_sensitive (409), invalid_input (400). */
    create(body: Readonly<Record<string, unknown>>, request: ScimRequest): Promise<Resource> {
      const values = readResource(body, groupType);
      const name = displayNameOf(values);
      return transaction(
        db,
        async (tx) => {
          const { connection } = request;
          const externalId = textAt(values, 'externalId') ?? null;
          const where = { connectionId: connection.id, externalId: externalId ?? '' };
          if (externalId !== null && (await tx.scimGroup.findFirst({ where })))
            throw conflict('conflict', { message: 'A group with this externalId exists.' });
          const { groupId, isOwn } = await groupFor(name, request, tx);
          const at = now();
          const row = {
            groupId,
            connectionId: connection.id,
            externalId,
            displayKey: textKey(name),
            content: contentOf(values),
            isOwn,
          };
          await tx.scimGroup.create({ data: { ...row, createdAt: at, updatedAt: at }, select: { groupId: true } });
          await carryOut(groupId, [{ kind: 'replace', ids: membersOf(values) }], request, tx);
          return one(groupId, request, tx);
        },
        LONG,
      );
    },

    /** Throws not_found (404). */
    get: (id: string, request: ScimRequest, hasMembers: boolean): Promise<Resource> => one(id, request, db, hasMembers),

    /** PUT. Without `members` in the body they are none afterwards. */
    replace: (
      id: string,
      body: Readonly<Record<string, unknown>>,
      request: ScimRequest,
      ifMatch?: IfMatch,
    ): Promise<Resource> => {
      const after = readResource(body, groupType);
      displayNameOf(after);
      return transaction(
        db,
        async (tx) => {
          const row = await locked(id, request, ifMatch, tx);
          await store(row, valuesOf(row), after, request, tx);
          await carryOut(id, [{ kind: 'replace', ids: membersOf(after) }], request, tx);
          return one(id, request, tx);
        },
        LONG,
      );
    },

    /** PATCH. All of the steps, or none. */
    patch: (
      id: string,
      steps: readonly Step[],
      request: ScimRequest,
      ifMatch?: IfMatch,
      hasMembers = true,
    ): Promise<Resource> =>
      transaction(
        db,
        async (tx) => {
          const row = await locked(id, request, ifMatch, tx);
          const before = valuesOf(row);
          const after: Values = new Map(before);
          const members: MemberStep[] = [];
          for (const step of steps) {
            const ofMembers = memberStepOf(step);
            if (ofMembers) members.push(ofMembers);
            else applyStep(after, step);
          }
          displayNameOf(after);
          if (contentOf(after) !== row.content) await store(row, before, after, request, tx);
          await carryOut(id, members, request, tx);
          return one(id, request, tx, hasMembers);
        },
        LONG,
      ),

    /** Its members leave. One that the connection created goes where nothing else uses it; each other stays, and is managed here from then on. */
    remove: (id: string, request: ScimRequest, ifMatch?: IfMatch): Promise<void> =>
      transaction(
        db,
        async (tx) => {
          const { isOwn } = await locked(id, request, ifMatch, tx);
          await carryOut(id, [{ kind: 'replace', ids: [] }], request, tx);
          await tx.scimGroup.delete({ where: { groupId: id }, select: { groupId: true } });
          if (!isOwn) return;
          const { source } = await groups.get(id, tx);
          const { members, children, owners, roles, applications, apis, limited } = await groups.losses(id, tx);
          const isUsed =
            [roles, applications, apis, limited].some(({ length }) => length > 0) || members + children + owners > 0;
          if (source === 'local' && !isUsed) await groups.remove(id, { by: request.by, tx });
        },
        LONG,
      ),

    /** The groups that fit the filter, in the order of their creation. */
    async list(filter: Filter | undefined, place: Place, request: ScimRequest, hasMembers: boolean): Promise<Page> {
      const { where, rest } = await narrow(
        filter,
        (name, value) => foundBy(name, value, request.connection),
        'members',
      );
      const own = { connectionId: request.connection.id };
      return pageOf({
        filter: rest,
        place,
        places,
        list: JSON.stringify([own, where]),
        count: () => db.scimGroup.count({ where: { AND: [own, ...where] } }),
        async markAt(skip) {
          const row = await db.asStored.scimGroup.findFirst({
            where: { AND: [own, ...where] },
            orderBy: [{ createdAt: 'asc' }, { groupId: 'asc' }],
            select: { groupId: true, createdAt: true },
            skip,
          });
          return row ? { at: row.createdAt, id: row.groupId } : undefined;
        },
        read: async (mark, take) => {
          const rows = await db.scimGroup.findMany({
            where: { AND: [own, ...where, afterMark(mark, 'groupId')] },
            orderBy: [{ createdAt: 'asc' }, { groupId: 'asc' }],
            take,
          });
          return rows.map(shown);
        },
        complete: async (items) => (hasMembers ? withMembers(items, request, db) : { items, isCut: false }),
      });
    },
  };
}

/** What an index finds for an attribute that is equal to the text. */
function foundBy(name: string, value: string, connection: ScimConnection): object | undefined {
  if (name === 'externalId') return { externalId: value };
  if (name === 'id') return { groupId: value };
  if (name === 'displayName') return { displayKey: textKey(value) };
  return name === 'members'
    ? {
        group: {
          members: { some: { userId: value, source: sourceOf(connection), user: { scim: { deletedAt: null } } } },
        },
      }
    : undefined;
}

const unknown = () => notFound({ message: 'This connection has no such group.', next: { href: '/', label: '' } });

/** The name here, where fewer characters are allowed: `Sales / Berlin` is `Sales - Berlin`. */
const nameOf = (displayName: string): string =>
  displayName
    .normalize('NFC')
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/[^\p{L}\p{N}\p{M} ._:@&()+'-]/gu, '-')
    .replace(/^[^\p{L}\p{N}]+/u, '')
    .slice(0, 100)
    .replace(/[^\p{L}\p{N}\p{M})]+$/u, '');

function displayNameOf(values: Complex): string {
  const name = textAt(values, 'displayName') ?? '';
  if (name.trim() === '') throw scimError('invalidValue', 'displayName is missing.');
  return name;
}

function without(ids: readonly string[], others: readonly string[]): string[] {
  const excluded = new Set(others);
  return ids.filter((id) => !excluded.has(id));
}

const membersOf = (values: Complex): string[] =>
  listOf(values.get('members')).map((one) => one.get('value')) as string[];

function contentOf(values: Values): string {
  const { members: _members, ...content } = toJson(values);
  return JSON.stringify(content);
}
