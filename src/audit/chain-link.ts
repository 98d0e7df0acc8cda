// One link of the hash chain of the audit log: SHA-256 over the previous hash, a line break and the entry as a JSON array
// in UTF-8. docs/operating.md describes the format, so that other programs can verify an export.
import { createHash } from 'node:crypto';
import type { Vault } from '../platform/vault.ts';
import type { AuditEntry } from './audit.ts';

/** The stored start (`tail`) or end (`head`) of the chain. */
export interface Anchor {
  id: string;
  seq: number;
  hash: string;
}

export interface ChainedEntry extends Omit<AuditEntry, 'data'> {
  /** The JSON text as stored. */
  data: string;
  chainSeq: number | null;
}

/** The hash before the first entry. */
export const GENESIS = '0'.repeat(64);

const PURPOSE = 'audit-chain';

/** Returns SHA-256, in hexadecimal, over the previous hash (`before`) and every field of the entry. */
export function linkHash(before: string, entry: ChainedEntry): string {
  const { chainSeq, id, at, type, outcome, reason, actorId, actorApp, subjectId, clientId } = entry;
  const { address, userAgent, requestId, data } = entry;
  const fields = [chainSeq, id, at.toISOString(), type, outcome, reason, actorId, actorApp, subjectId, clientId];
  const content = JSON.stringify([...fields, address, userAgent, requestId, data]);
  return createHash('sha256').update(`${before}\n${content}`).digest('hex');
}

export function anchorMac({ id, seq, hash }: Anchor, vault: Pick<Vault, 'mac'>): string {
  return vault.mac(`${id}:${seq}:${hash}`, PURPOSE);
}

export function isGenuine({ id, seq, hash, mac }: Anchor & { mac: string }, vault: Pick<Vault, 'macMatches'>): boolean {
  return vault.macMatches(`${id}:${seq}:${hash}`, mac, PURPOSE);
}
