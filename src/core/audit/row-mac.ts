// What an audit row proves about itself from the insert on: the digest of its content and a MAC over the digest under a key
// that the database does not hold. docs/operating.md describes the digest, so that other programs can verify an export.
import { createHash } from 'node:crypto';
import { randomToken } from '../../base/platform/random.ts';
import type { Vault } from '../../base/platform/vault.ts';

/** The fields of an entry as they are stored. */
export interface AuditContent {
  at: Date;
  type: string;
  outcome: string;
  reason: string | null;
  actorId: string | null;
  actorApp: string | null;
  subjectId: string | null;
  clientId: string | null;
  address: string | null;
  userAgent: string | null;
  requestId: string | null;
  /** JSON text. */
  data: string;
}

export interface RowProof {
  salt: string | null;
  digest: string;
  rowMac: string;
}

const PURPOSE = 'audit-row';
const SALT_BYTES = 16;

/**
 * SHA-256, in hexadecimal, over the salt, a line break and every field of the entry as a JSON array. The chain covers the digest
 * and not the content, so that personal fields can be erased later; the salt prevents that they are guessed from the digest.
 */
export function digestOf(salt: string, content: AuditContent): string {
  const { at, type, outcome, reason, actorId, actorApp, subjectId, clientId } = content;
  const { address, userAgent, requestId, data } = content;
  const fields = [at.toISOString(), type, outcome, reason, actorId, actorApp, subjectId, clientId];
  const text = JSON.stringify([...fields, address, userAgent, requestId, data]);
  return createHash('sha256').update(`${salt}\n${text}`).digest('hex');
}

/** The proof of a new row. */
export function proofOf(content: AuditContent, vault: Vault): RowProof & { salt: string } {
  const salt = randomToken(SALT_BYTES);
  const digest = digestOf(salt, content);
  return { salt, digest, rowMac: vault.mac(digest, PURPOSE) };
}

/** Whether the content is what the digest was made from. */
export function isContentIntact(row: AuditContent & RowProof): boolean {
  return row.salt !== null && digestOf(row.salt, row) === row.digest;
}

/** Whether this server wrote the row. */
export function isRowGenuine({ digest, rowMac }: RowProof, vault: Vault): boolean {
  return vault.macMatches(digest, rowMac, PURPOSE);
}

/** Data key, dot, HMAC-SHA-256 in base64url. */
const MAC = /^[\w-]+\.[\w-]{43}$/;

/** Whether the MAC has the form of one: all that can be said about it without the secret. */
export function hasMacForm({ rowMac }: { rowMac: RowProof['rowMac'] }): boolean {
  return MAC.test(rowMac);
}
