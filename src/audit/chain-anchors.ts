// Reads, under a lock, and stores the two anchors of the audit chain: its start and its end, each with a MAC.
import type { Vault } from '../platform/vault.ts';
import type { Tx } from '../storage/database.ts';
import { type Anchor, anchorMac, GENESIS, isGenuine } from './chain-link.ts';

/** The chain was changed by another program, so no entry is added to it. */
export class ChainError extends Error {
  override name = 'ChainError';
}

/** Stores the start (`tail`) or the end (`head`) of the chain with its MAC. */
export async function storeAnchor(tx: Tx, vault: Pick<Vault, 'mac'>, { id, seq, hash }: Anchor): Promise<void> {
  const data = { seq, hash, mac: anchorMac({ id, seq, hash }, vault) };
  await tx.auditChain.upsert({ where: { id }, create: { id, ...data }, update: data });
}

/** Locks the anchors against other instances that seal or purge, and returns them. Throws ChainError for an invalid MAC. */
export async function lockAnchors(
  tx: Tx,
  vault: Pick<Vault, 'mac' | 'macMatches'>,
): Promise<{ head: Anchor; tail: Anchor | undefined }> {
  const first = { seq: 0, hash: GENESIS };
  const mac = anchorMac({ id: 'head', ...first }, vault);
  await tx.$executeRaw`INSERT INTO audit_chain (id, seq, hash, mac) VALUES ('head', 0, ${first.hash}, ${mac})
    ON CONFLICT (id) DO UPDATE SET seq = audit_chain.seq`;
  const anchors = await tx.auditChain.findMany();
  for (const anchor of anchors) {
    // Checked first, because storing a new MAC would confirm entries that this server did not write.
    if (!isGenuine(anchor, vault)) throw new ChainError(`the ${anchor.id} of the audit chain was changed`);
  }
  const head = anchors.find(({ id }) => id === 'head');
  const tail = anchors.find(({ id }) => id === 'tail');
  if (!head) throw new ChainError('the head of the audit chain is missing');
  if (head.seq === 0 && (await tx.auditEvent.count({ where: { chainSeq: { not: null } } })) > 0) {
    throw new ChainError('the head of the audit chain was removed');
  }
  return { head, tail };
}
