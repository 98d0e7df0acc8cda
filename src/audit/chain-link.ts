// One link of the audit's hash chain. What is hashed is written down in docs/operating.md, so that an export can be
// checked by others: the JSON array below, in UTF-8, behind the hash before it and a line break.
import { createHash } from 'node:crypto';
import type { Vault } from '../platform/vault.ts';
import type { AuditEntry } from './audit.ts';

/** Where the chain begins, or ends. */
export interface Anchor {
  id: string;
  seq: number;
  hash: string;
}

export interface ChainedEntry extends Omit<AuditEntry, 'data'> {
  /** As stored. */
  data: string;
  chainSeq: number | null;
}

/** The hash before the first entry. */
export const GENESIS = '0'.repeat(64);

const PURPOSE = 'audit-chain';

/** SHA-256 in hexadecimal over the hash before and every field of the entry. */
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
