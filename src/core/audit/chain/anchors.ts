// Reads, under a lock, and stores the two anchors of the audit chain: its start and its end, each with a MAC.
import type { Vault } from '../../../base/platform/vault.ts';
import { type Db, isUniqueViolation, type Tx } from '../../../base/storage/database.ts';
import { type Anchor, anchorMac, GENESIS, isGenuine } from './link.ts';

/** The chain was changed by another program, so no entry is added to it. */
export class ChainError extends Error {
  override name = 'ChainError';
}

/**
 * Stores the end of an empty chain, where there is neither a chain nor an event. Only then, because a chain never starts
 * again.
 */
export async function beginChain(db: Db, vault: Vault): Promise<void> {
  if ((await db.auditChain.count()) > 0) return;
  if (await db.auditEvent.findFirst({ select: { id: true } })) return;
  const head = { id: 'head', seq: 0, hash: GENESIS };
  await db.auditChain.create({ data: { ...head, mac: anchorMac(head, vault) } }).catch((error: unknown) => {
    if (!isUniqueViolation(error)) throw error; // another instance starts at the same time
  });
}

/** Stores the start (`tail`) or the end (`head`) of the chain with its MAC. */
export async function storeAnchor(tx: Tx, vault: Vault, { id, seq, hash }: Anchor): Promise<void> {
  const data = { seq, hash, mac: anchorMac({ id, seq, hash }, vault) };
  await tx.auditChain.upsert({ where: { id }, create: { id, ...data }, update: data });
}

/**
 * Locks the anchors against other instances that seal or purge, and returns them. Throws ChainError when one has an invalid MAC,
 * or when the end is missing or older than `known`, an end that this chain is known to have had.
 */
export async function lockAnchors(
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
