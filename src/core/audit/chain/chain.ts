// The hash chain of the audit log. Each row is inserted with a MAC. A job adds the rows with a valid MAC to the chain
// seconds later, because a lock for each sign-in would be too slow (docs/decisions/0016-asynchronous-audit-chain.md), and signs checkpoints that are
// also stored outside of the database. So a program that can only write to the database cannot change the log unnoticed.

import { createPublicKey } from 'node:crypto';
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { Base } from '../../../base/base.ts';
import { limits } from '../../../base/limits.ts';
import type { Vault } from '../../../base/platform/vault.ts';
import { type Db, isUniqueConstraintError, type Tx, transaction } from '../../../base/storage/database.ts';
import { hotStatements } from '../../../base/storage/statements.ts';
import type { Alarm } from '../alarm.ts';
import { type ChainResult, checkChain } from './check.ts';
import { type Checkpoint, type CheckpointKey, parseCheckpoints, publicKeyPem, signCheckpoint } from './checkpoint.ts';
import { createErasures } from './erasures.ts';
import { type Anchor, anchorMac, GENESIS, isGenuine, linkHash } from './link.ts';
import type { OutsideCheckpoints } from './outside-checkpoints.ts';
import { readUnsealed, type UnsealedRows } from './unsealed.ts';

export type AuditChain = ReturnType<typeof createAuditChain>;

// Small batches, because 200 entries at once delayed every request by 20 to 40 ms. The event loop runs other work between two
// transactions, never inside one, where SQLite would hold the write lock.
const BATCH = 20;

const LINK = '(CAST(? AS INTEGER), CAST(? AS INTEGER), ?)';
export const statements = hotStatements('audit-chain', {
  // One statement per batch; both databases name the columns of VALUES column1, column2, ….
  link: `UPDATE audit_events SET chain_seq = link.column2, chain_hash = link.column3
    FROM (VALUES ${Array(BATCH).fill(LINK).join(', ')}) AS link WHERE audit_events.id = link.column1`,
});

/** Seals, verifies and purges the chain; `seal` and `purge` may run on several instances at once. */
export function createAuditChain(
  dependencies: Base & { outside: OutsideCheckpoints; alarm: Alarm; checkpointKey: CheckpointKey },
) {
  const { db, vault, outside, alarm, checkpointKey } = dependencies;
  // The newest end of the chain that this process has read. If the chain ends earlier, the database was rolled back.
  let newestHead: { seq: number; hash: string } | undefined;
  let isFileRead = false;

  async function readKnown(): Promise<void> {
    if (!isFileRead) newestHead = await outside.newest();
    isFileRead = true;
  }

  async function seal(signal?: AbortSignal): Promise<number> {
    await readKnown();
    let total = 0;
    let after = 0;
    for (;;) {
      const batch = await transaction(db, (tx) => sealBatch(tx, dependencies, { after, known: newestHead }));
      newestHead = batch.head;
      total += batch.sealed;
      if (batch.checkpoint) await outside.publish(batch.checkpoint);
      if (batch.forged.length > 0) {
        const entries = batch.forged.map(({ id }) => id);
        await alarm.raise('audit-log', `audit entries were added by another program: ${entries.join(', ')}`, {
          entries,
        });
      }
      if (batch.count < BATCH || signal?.aborted) return total;
      after = batch.lastId;
      await yieldToEventLoop();
    }
  }

  return {
    /** Adds all unsealed entries with a valid MAC to the chain and returns their number. Throws ChainError when the chain was changed. */
    seal,
    /** PEM of the key that verifies checkpoints. */
    publicKey: publicKeyPem(checkpointKey),
    /** The checkpoints in the database, oldest first. */
    checkpoints: async (): Promise<Checkpoint[]> =>
      (await db.auditCheckpoint.findMany({ orderBy: { at: 'asc' } })) as Checkpoint[],
    /** Starts the chain of a database without any event. */
    begin: (): Promise<void> => beginChain(db, vault),
    /**
     * Reads the whole log and reports each entry that was changed, removed, added or moved. Changes nothing. `checkpoints` is the
     * text of another checkpoint file than that of this server.
     */
    async verify({ pageSize, checkpoints }: { pageSize?: number; checkpoints?: string } = {}): Promise<ChainResult> {
      const publicKey = createPublicKey(checkpointKey.privateKey);
      const exported =
        checkpoints === undefined ? await outside.read() : await parseCheckpoints(checkpoints, publicKey);
      return checkChain({ db, vault, publicKey, outside: exported, ...(pageSize && { pageSize }) });
    },
    /** Deletes up to `limit` of the entries before `olderThan`, oldest first, and stores the new start of the chain. */
    async purge(olderThan: Date, limit: number): Promise<number> {
      await seal();
      const purged = await transaction(db, (tx) =>
        purgeOldest(tx, dependencies, { olderThan, limit, known: newestHead }),
      );
      if (purged.checkpoint) await outside.publish(purged.checkpoint);
      return purged.count;
    },
  };
}

type Known = { known: { seq: number; hash: string } | undefined };

type SealedBatch = Omit<UnsealedRows, 'genuine'> & {
  head: { seq: number; hash: string };
  sealed: number;
  checkpoint?: Checkpoint;
};

/** Seals up to BATCH entries, oldest first, and signs a checkpoint when one is due. */
async function sealBatch(
  tx: Tx,
  dependencies: Base & { checkpointKey: CheckpointKey },
  { after, known }: Known & { after: number },
): Promise<SealedBatch> {
  const { sql, vault } = dependencies;
  const { head, tail } = await lockAnchors(tx, vault, known);
  const { genuine, ...rows } = await readUnsealed(tx, vault, { after, limit: BATCH });
  let { seq, hash } = head;
  const links = genuine.map((row) => {
    seq += 1;
    hash = linkHash(hash, { ...row, chainSeq: seq });
    return { id: row.id, seq, hash };
  });
  const sealed = { ...rows, head: { seq, hash }, sealed: links.length };
  if (links.length === 0) return sealed;
  // The statement has a fixed number of parameters, so an incomplete batch repeats its last entry.
  const batch = Array.from({ length: BATCH }, (_, at) => links[Math.min(at, links.length - 1)]);
  const values = batch.flatMap((link) => (link ? [link.id, link.seq, link.hash] : []));
  await sql.in(tx).execute(statements.link, ...values);
  await storeAnchor(tx, vault, { id: 'head', seq, hash });
  // Renews the MAC under the newest data key.
  if (tail) await storeAnchor(tx, vault, tail);
  const checkpoint = await dueCheckpoint(tx, dependencies, { seq, hash });
  return { ...sealed, ...(checkpoint && { checkpoint }) };
}

/** Signs and stores a checkpoint when the newest one is old enough, or enough entries follow it. */
async function dueCheckpoint(tx: Tx, dependencies: Base & { checkpointKey: CheckpointKey }, head: Omit<Anchor, 'id'>) {
  const { checkpointEntries, checkpointSeconds } = limits.audit;
  const last = await tx.auditCheckpoint.findFirst({ where: { kind: 'head' }, orderBy: { seq: 'desc' } });
  const age = last && dependencies.now().getTime() - last.at.getTime();
  const isDue = !last || head.seq - last.seq >= checkpointEntries || Math.abs(age ?? 0) >= checkpointSeconds * 1000;
  return isDue ? storeCheckpoint(tx, dependencies, 'head', head) : undefined;
}

async function storeCheckpoint(
  tx: Tx,
  { checkpointKey, now }: Base & { checkpointKey: CheckpointKey },
  kind: Checkpoint['kind'],
  { seq, hash }: Omit<Anchor, 'id'>,
): Promise<Checkpoint> {
  const checkpoint = signCheckpoint({ kind, seq, hash, at: now() }, checkpointKey);
  await tx.auditCheckpoint.upsert({
    where: { kind_seq: { kind, seq } },
    create: checkpoint,
    update: checkpoint,
    select: { seq: true },
  });
  return checkpoint;
}

/** Removes entries from the beginning of the chain and moves its tail behind them. */
async function purgeOldest(
  tx: Tx,
  dependencies: Base & { checkpointKey: CheckpointKey },
  { olderThan, limit, known }: Known & { olderThan: Date; limit: number },
): Promise<{ count: number; checkpoint?: Checkpoint }> {
  const { vault } = dependencies;
  const { tail } = await lockAnchors(tx, vault, known);
  const rows = await tx.auditEvent.findMany({
    where: { chainSeq: { not: null } },
    orderBy: { chainSeq: 'asc' },
    take: limit,
  });
  const end = rows.findIndex(({ at }) => at >= olderThan);
  const old = end < 0 ? rows : rows.slice(0, end);
  const erasures = createErasures(tx, vault);
  await erasures.load(old);
  let { seq, hash } = tail ?? { seq: 0, hash: GENESIS };
  for (const row of old) {
    seq += 1;
    hash = linkHash(hash, row);
    // A changed entry is not purged, so that verify() can find it.
    if (row.chainSeq !== seq || row.chainHash !== hash || !erasures.isIntact(row))
      throw new ChainError(`audit entry ${row.id} was changed, or one before it removed: nothing is purged`);
  }
  if (old.length === 0) return { count: 0 };
  await storeAnchor(tx, vault, { id: 'tail', seq, hash });
  // Before the new checkpoint, which contains the new start of the chain.
  await tx.auditCheckpoint.deleteMany({ where: { seq: { lt: seq } } });
  const checkpoint = await storeCheckpoint(tx, dependencies, 'tail', { seq, hash });
  const { count } = await tx.auditEvent.deleteMany({ where: { chainSeq: { lte: seq } } });
  return { count, checkpoint };
}

// Reads, under a lock, and stores the two anchors of the audit chain: its start and its end, each with a MAC.

/** The chain was changed by another program, so no entry is added to it. */
export class ChainError extends Error {
  override name = 'ChainError';
}

/**
 * Stores the end of an empty chain, where there is neither a chain nor an event. Only then, because a chain never starts
 * again.
 */
async function beginChain(db: Db, vault: Vault): Promise<void> {
  if ((await db.auditChain.count()) > 0) return;
  if (await db.auditEvent.findFirst({ select: { id: true } })) return;
  const head = { id: 'head', seq: 0, hash: GENESIS };
  await db.auditChain.create({ data: { ...head, mac: anchorMac(head, vault) } }).catch((error: unknown) => {
    if (!isUniqueConstraintError(error)) throw error; // another instance starts at the same time
  });
}

/** Stores the start (`tail`) or the end (`head`) of the chain with its MAC. */
async function storeAnchor(tx: Tx, vault: Vault, { id, seq, hash }: Anchor): Promise<void> {
  const data = { seq, hash, mac: anchorMac({ id, seq, hash }, vault) };
  await tx.auditChain.upsert({ where: { id }, create: { id, ...data }, update: data });
}

/**
 * Locks the anchors against other instances that seal or purge, and returns them. Throws ChainError when one has an invalid MAC,
 * or when the end is missing or older than `known`, an end that this chain is known to have had.
 */
async function lockAnchors(
  tx: Tx,
  vault: Vault,
  known: { seq: number; hash: string } | undefined,
): Promise<{ head: Anchor; tail: Anchor | undefined }> {
  await tx.auditChain.updateMany({ where: { id: 'head' }, data: { id: 'head' } });
  const anchors = await tx.auditChain.findMany();
  for (const anchor of anchors) {
    // Checked first, because storing a new MAC would confirm entries that this server did not write.
    if (!isGenuine(anchor, vault)) throw new ChainError(`the ${anchor.id} of the audit chain was changed`);
  }
  const head = anchors.find(({ id }) => id === 'head');
  const tail = anchors.find(({ id }) => id === 'tail');
  if (!head) throw new ChainError('the head of the audit chain was removed');
  if (known && (head.seq < known.seq || (head.seq === known.seq && head.hash !== known.hash))) {
    throw new ChainError(`the audit log was rolled back: it ends at ${head.seq}, but already had entry ${known.seq}`);
  }
  return { head, tail };
}
