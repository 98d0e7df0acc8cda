// Creates that may be sent again (draft-ietf-httpapi-idempotency-key-header): the same key with the same request gets the
// first answer once more, for a day. Answers may hold a secret that is shown once, so they are kept sealed.
import { conflict, unprocessable } from '../http/errors.ts';
import { limits } from '../limits.ts';
import type { Clock } from '../platform/clock.ts';
import { type Db, isUniqueViolation } from '../platform/db.ts';
import { sha256 } from '../platform/random.ts';
import type { Vault } from '../platform/vault.ts';

export interface KeptAnswer {
  status: number;
  headers: Record<string, string>;
  body: unknown;
}

export interface Idempotency {
  /** Runs `work` once for each caller, key and request; gives its answer again to those that come later. */
  once(
    request: { caller: string; key: string; request: string },
    work: () => Promise<KeptAnswer>,
  ): Promise<{ answer: KeptAnswer; isRepeated: boolean }>;
}

export function createIdempotency({ db, vault, now }: { db: Db; vault: Vault; now: Clock }): Idempotency {
  const context = (id: string) => `idempotency_keys:${id}`;
  const inSeconds = (seconds: number) => new Date(now().getTime() + seconds * 1000);

  /** The answer that is there already, or undefined when it is ours to make. */
  async function begin(id: string, requestHash: string): Promise<KeptAnswer | undefined> {
    // What was begun and never finished, because its server died, is free again after a while.
    await db.idempotencyKey.deleteMany({ where: { id, expiresAt: { lte: now() } } });
    try {
      const expiresAt = inSeconds(limits.api.idempotencyLockSeconds);
      await db.idempotencyKey.create({ data: { id, requestHash, createdAt: now(), expiresAt } });
      return undefined;
    } catch (error) {
      if (!isUniqueViolation(error)) throw error;
    }
    const row = await db.idempotencyKey.findUnique({ where: { id } });
    if (!row) throw conflict('in_progress');
    if (row.requestHash !== requestHash) throw unprocessable('key_reused');
    if (row.responseSealed === null) throw conflict('in_progress');
    return JSON.parse(vault.open(row.responseSealed, context(id)).toString()) as KeptAnswer;
  }

  return {
    async once({ caller, key, request }, work) {
      const id = sha256(`${caller}\n${key}`);
      const kept = await begin(id, sha256(request));
      if (kept) return { answer: kept, isRepeated: true };
      try {
        const answer = await work();
        const responseSealed = vault.seal(JSON.stringify(answer), context(id));
        const expiresAt = inSeconds(limits.api.idempotencySeconds);
        await db.idempotencyKey.updateMany({ where: { id }, data: { responseSealed, expiresAt } });
        return { answer, isRepeated: false };
      } catch (error) {
        // Nothing was created: the key may be used for the corrected request.
        await db.idempotencyKey.deleteMany({ where: { id, responseSealed: null } });
        throw error;
      }
    },
  };
}
