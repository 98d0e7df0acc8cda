// Checkpoints of the audit log: statements "the chain reaches this entry" and "older entries were purged up to this one",
// signed with an Ed25519 key of their own. A copy outside of the database proves later that entries existed.
import { createPublicKey, type KeyObject, sign, verify } from 'node:crypto';
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { z } from 'zod';

/** `head`: the chain reaches the entry at `seq`. `tail`: the entries up to `seq` were purged, because they were old enough. */
export type CheckpointKind = 'head' | 'tail';

export interface Checkpoint {
  kind: CheckpointKind;
  seq: number;
  /** The hash of the chain at this entry. */
  hash: string;
  /** When the checkpoint was made. */
  at: Date;
  keyId: string;
  /** base64url. */
  signature: string;
}

export interface CheckpointKey {
  id: string;
  privateKey: KeyObject;
}

const PAUSE_AFTER = 20;

const line = z.strictObject({
  kind: z.enum(['head', 'tail']),
  seq: z.int().min(0),
  hash: z.string().regex(/^[0-9a-f]{64}$/),
  at: z.iso.datetime().transform((text) => new Date(text)),
  keyId: z.string().max(64),
  signature: z.string().max(256),
});

export function signCheckpoint(
  statement: Omit<Checkpoint, 'keyId' | 'signature'>,
  { id, privateKey }: CheckpointKey,
): Checkpoint {
  const signature = sign(null, signedText(statement), privateKey).toString('base64url');
  return { ...statement, keyId: id, signature };
}

export function isSigned(checkpoint: Checkpoint, publicKey: KeyObject): boolean {
  try {
    return verify(null, signedText(checkpoint), publicKey, Buffer.from(checkpoint.signature, 'base64url'));
  } catch {
    return false; // the row holds a text of the wrong form
  }
}

/** The public key as PEM, for `gatehouse audit verify --public-key`. */
export function publicKeyPem({ privateKey }: CheckpointKey): string {
  return createPublicKey(privateKey).export({ type: 'spki', format: 'pem' }).toString();
}

/** One line of JSON, without the line break. */
export function formatCheckpoint({ kind, seq, hash, at, keyId, signature }: Checkpoint): string {
  return JSON.stringify({ kind, seq, hash, at, keyId, signature });
}

export interface SignedCheckpoints {
  valid: Checkpoint[];
  /** The numbers of the lines that are no checkpoint, or that the key did not sign. */
  invalid: number[];
}

/** Reads lines of formatCheckpoint(). Lets other work run in between, because each signature costs a tenth of a millisecond. */
export async function parseCheckpoints(text: string, publicKey: KeyObject): Promise<SignedCheckpoints> {
  const found: SignedCheckpoints = { valid: [], invalid: [] };
  for (const [index, json] of text.split('\n').entries()) {
    if (index % PAUSE_AFTER === 0) await yieldToEventLoop();
    if (json.trim() === '') continue;
    const checkpoint = parseLine(json);
    if (checkpoint && isSigned(checkpoint, publicKey)) found.valid.push(checkpoint);
    else found.invalid.push(index + 1);
  }
  return found;
}

/** The last checkpoint of the kind `head` that the key signed. */
export function newestHead(text: string, publicKey: KeyObject): Checkpoint | undefined {
  for (const json of text.split('\n').reverse()) {
    const checkpoint = parseLine(json);
    if (checkpoint?.kind === 'head' && isSigned(checkpoint, publicKey)) return checkpoint;
  }
  return undefined;
}

function parseLine(json: string): Checkpoint | undefined {
  try {
    return line.safeParse(JSON.parse(json)).data;
  } catch {
    return undefined;
  }
}

function signedText({ kind, seq, hash, at }: Omit<Checkpoint, 'keyId' | 'signature'>): Buffer {
  return Buffer.from(`gatehouse audit checkpoint\n${kind}\n${seq}\n${hash}\n${at.toISOString()}\n`);
}
