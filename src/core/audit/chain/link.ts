// One link of the hash chain of the audit log, and the MACs of its stored start and end. The format, so that other programs can verify an export:
//
// To verify the log without Gatehouse: an entry's digest is the hexadecimal SHA-256 over its salt, a line break and the JSON array of at
// (ISO 8601 with milliseconds, UTC), type, outcome, reason, actor_id, actor_app, subject_id, client_id, address, user_agent, request_id
// and data (as stored), with null for what is absent. Its chain_hash is SHA-256 over the previous hash (64 zeros at first), chain_seq, id
// and digest, with line breaks between. A checkpoint signs (Ed25519) the lines gatehouse audit checkpoint, kind, seq, hash and at, each
// with a line break; kind is tail where older entries were deleted. An entry without salt was erased (docs/privacy.md): its digest stays,
// and the entry erased_by, of type account.erased and later in the chain, has id:hash among its data.entries, where hash is the base64url
// SHA-256 over the JSON array of its digest and the fields above.
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
