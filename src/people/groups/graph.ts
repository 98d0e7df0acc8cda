// The graph of groups. What reads need of it is stored with each change: the groups above each group (group_ancestors) and its path.
import { invalidInput } from '../../base/http/errors.ts';
import { eachChunk, inChunks } from '../../base/storage/chunks.ts';
import type { Tx } from '../../base/storage/database.ts';
import { fault } from '../../base/texts/faults.ts';

/** How many groups may be one below the other. */
export const MAX_DEPTH = 8;

/** A group in the graph as it is after the change. */
interface Node {
  /** 1 at the top. */
  level: number;
  path: string;
  ancestors: ReadonlySet<string>;
}

/**
 * Stores the ancestors and paths of these groups and of all below them; call it after a change of names or of group_children, under
 * `lockGroups`. Throws invalid_input for a cycle and for more than MAX_DEPTH levels, so that the transaction leaves nothing behind.
 */
export async function storeGraph(tx: Tx, changed: readonly string[]): Promise<void> {
  const affected = await reached(changed, async (ids) => {
    const edges = await tx.groupChild.findMany({ where: { parentId: { in: ids } } });
    return edges.map(({ childId }) => childId);
  });
  const parents = new Map<string, string[]>();
  const involved = await reached(affected, async (ids) => {
    const edges = await tx.groupChild.findMany({ where: { childId: { in: ids } } });
    for (const { parentId, childId } of edges) parents.set(childId, [...(parents.get(childId) ?? []), parentId]);
    return edges.map(({ parentId }) => parentId);
  });
  const rows = await inChunks(involved, (ids) =>
    tx.group.findMany({ where: { id: { in: ids } }, select: { id: true, name: true, path: true } }),
  );
  const nodeOf = graphOf(new Map(rows.map(({ id, name }) => [id, name])), parents);
  const wanted = affected.flatMap((groupId) =>
    [groupId, ...nodeOf(groupId).ancestors].map((ancestorId) => ({ groupId, ancestorId })),
  );
  await storeAncestors(tx, affected, wanted);
  const affectedIds = new Set(affected);
  for (const { id, path } of rows)
    if (affectedIds.has(id) && path !== nodeOf(id).path)
      await tx.group.update({ where: { id }, data: { path: nodeOf(id).path }, select: { id: true } });
}

/** The groups whose stored ancestors or path are not those that group_children gives. Throws as `storeGraph`. */
export async function wrongInGraph(tx: Tx): Promise<string[]> {
  const [rows, edges, stored] = [
    await tx.group.findMany({ orderBy: { nameKey: 'asc' }, select: { id: true, name: true, path: true } }),
    await tx.groupChild.findMany(),
    await tx.groupAncestor.findMany(),
  ];
  const parents = new Map<string, string[]>();
  for (const { parentId, childId } of edges) parents.set(childId, [...(parents.get(childId) ?? []), parentId]);
  const ancestors = new Map<string, Set<string>>();
  for (const { groupId, ancestorId } of stored)
    ancestors.set(groupId, (ancestors.get(groupId) ?? new Set<string>()).add(ancestorId));
  const nodeOf = graphOf(new Map(rows.map(({ id, name }) => [id, name])), parents);
  const wrong = rows.filter(({ id, path }) => {
    const node = nodeOf(id);
    const have = ancestors.get(id) ?? new Set();
    return path !== node.path || [...new Set([id, ...node.ancestors])].sort().join() !== [...have].sort().join();
  });
  return wrong.map(({ name }) => name);
}

/** These and all that `next` leads to, level by level. */
async function reached(from: readonly string[], next: (ids: string[]) => Promise<string[]>): Promise<string[]> {
  const found = new Set(from);
  for (let level = [...found]; level.length > 0; ) {
    const further = await inChunks(level, next);
    level = [...new Set(further)].filter((id) => !found.has(id));
    for (const id of level) found.add(id);
  }
  return [...found];
}

function graphOf(names: ReadonlyMap<string, string>, parents: ReadonlyMap<string, string[]>): (id: string) => Node {
  const nodes = new Map<string, Node | 'open'>();
  const nodeOf = (id: string): Node => {
    const known = nodes.get(id);
    if (known === 'open') throw invalidInput([fault(['groups'], 'group-cycle', { group: names.get(id) ?? id })]);
    if (known) return known;
    nodes.set(id, 'open');
    const above = (parents.get(id) ?? []).filter((parent) => names.has(parent));
    const aboveNodes = above.map(nodeOf);
    const node = {
      level: Math.max(0, ...aboveNodes.map(({ level }) => level)) + 1,
      path: `${aboveNodes.map(({ path }) => path).sort()[0] ?? ''}/${names.get(id)}`,
      ancestors: new Set([...above, ...aboveNodes.flatMap(({ ancestors }) => [...ancestors])]),
    };
    if (node.level > MAX_DEPTH) throw invalidInput([fault(['groups'], 'group-depth', { max: MAX_DEPTH })]);
    nodes.set(id, node);
    return node;
  };
  return nodeOf;
}

interface Ancestor {
  groupId: string;
  ancestorId: string;
}

/** Makes these the ancestors of the groups; a row that another program wrote is replaced or deleted. */
async function storeAncestors(tx: Tx, groupIds: readonly string[], wanted: readonly Ancestor[]): Promise<void> {
  const keyOf = ({ groupId, ancestorId }: Ancestor) => `${groupId} ${ancestorId}`;
  const where = (ids: string[]) => ({ where: { groupId: { in: ids } } });
  const genuine = new Set((await inChunks(groupIds, (ids) => tx.groupAncestor.findMany(where(ids)))).map(keyOf));
  const stored = await inChunks(groupIds, (ids) => tx.asStored.groupAncestor.findMany(where(ids)));
  const wantedKeys = new Set(wanted.map(keyOf));
  const needless = new Map<string, string[]>();
  for (const row of stored)
    if (!genuine.has(keyOf(row)) || !wantedKeys.has(keyOf(row)))
      needless.set(row.ancestorId, [...(needless.get(row.ancestorId) ?? []), row.groupId]);
  for (const [ancestorId, ids] of needless)
    await eachChunk(ids, async (piece) => {
      await tx.groupAncestor.deleteMany({ where: { ancestorId, groupId: { in: piece } } });
    });
  const missing = wanted.filter((row) => !genuine.has(keyOf(row)));
  await eachChunk(missing, async (data) => {
    await tx.groupAncestor.createMany({ data });
  });
}
