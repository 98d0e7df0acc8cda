// One link of the hash chain of the audit log, and the MACs of its stored start and end. docs/operating.md describes the
// format, so that other programs can verify an export.
import { createHash } from 'node:crypto';
import type { Vault } from '../../../base/platform/vault.ts';
import type { AuditContent, RowProof } from '../row-mac.ts';

/** The stored start (`tail`) or end (`head`) of the chain. */
export interface Anchor {
  id: string;
  seq: number;
  hash: string;
}

/** A row of `audit_events`. */
export interface ChainRow extends AuditContent, RowProof {
  id: number;
  chainSeq: number | null;
  chainHash: string | null;
  /** The id of the entry that says what is left after an erasure. */
  erasedBy: number | null;
}

/** The hash before the first entry. */
export const GENESIS = '0'.repeat(64);

const PURPOSE = 'audit-chain';

/** SHA-256, in hexadecimal, over the previous hash, the position, the id and the digest of the entry, one on each line. */
export function linkHash(before: string, entry: Pick<ChainRow, 'chainSeq' | 'id' | 'digest'>): string {
  return createHash('sha256').update(`${before}\n${entry.chainSeq}\n${entry.id}\n${entry.digest}`).digest('hex');
}

export function anchorMac({ id, seq, hash }: Anchor, vault: Vault): string {
  return vault.mac(`${id}:${seq}:${hash}`, PURPOSE);
}

export function isGenuine({ id, seq, hash, mac }: Anchor & { mac: string }, vault: Vault): boolean {
  return vault.macMatches(`${id}:${seq}:${hash}`, mac, PURPOSE);
}
