// Creates that may be repeated (draft-ietf-httpapi-idempotency-key-header): the same key with the same request gets the
// first response again, for a day. The response is stored in the transaction that creates, so a crash leaves both or
// neither. It may hold a secret, so it is stored encrypted.
import { conflict, unprocessable } from '../../base/http/errors.ts';
import { limits } from '../../base/limits.ts';
import type { Clock } from '../../base/platform/clock.ts';
import { sha256 } from '../../base/platform/random.ts';
import { type Vault, VaultError } from '../../base/platform/vault.ts';
import { type Db, isUniqueConstraintError, type Tx } from '../../base/storage/database.ts';

export interface StoredResponse {
  status: number;
  headers: Record<string, string>;
  body: unknown;
}

/** Runs in the transaction of a creation, with what was created. */
export type OnCreated<Created> = (created: Created, tx: Tx) => Promise<void>;

/** Stores the response in the transaction of the change that it reports. */
export type RecordResponse = (response: StoredResponse, tx: Tx) => Promise<void>;

export type Idempotency = ReturnType<typeof createIdempotency>;

/**
 * `once` throws in_progress (409, with Retry-After) during the first call, key_reused (422) for another request with the same key,
 * and changed_outside (409) for a stored response that another program wrote.
 */
export function createIdempotency({ db, vault, now }: { db: Db; vault: Vault; now: Clock }) {
  const context = (id: string) => `idempotency_keys:${id}`;
  const inSeconds = (seconds: number) => new Date(now().getTime() + seconds * 1000);

  /** The call that holds the key has until `until`; most end within a second. */
  function inProgress(until = now()) {
    const seconds = Math.ceil((until.getTime() - now().getTime()) / 1000);
    const retryAfter = Math.min(Math.max(seconds, 1), limits.api.idempotencyRetrySeconds);
    return conflict('in_progress', { headers: { 'Retry-After': String(retryAfter) } });
  }

  /** The stored response, or the lock of this call, which has to make it. */
  async function begin(id: string, requestHash: string): Promise<{ stored: StoredResponse } | { lockedUntil: Date }> {
    // The key of a call that never finished, because its server died, is free again after a while.
    await db.idempotencyKey.deleteMany({ where: { id, expiresAt: { lte: now() } } });
    try {
      const lockedUntil = inSeconds(limits.api.idempotencyLockSeconds);
      await db.idempotencyKey.create({ data: { id, requestHash, createdAt: now(), expiresAt: lockedUntil } });
      return { lockedUntil };
    } catch (error) {
      if (!isUniqueConstraintError(error)) throw error;
    }
    const row = await db.idempotencyKey.findUnique({ where: { id } });
    if (!row) throw inProgress();
    if (row.requestHash !== requestHash) throw unprocessable('key_reused');
    if (row.responseSealed === null) throw inProgress(row.expiresAt);
    try {
      return { stored: JSON.parse(vault.open(row.responseSealed, context(id)).toString()) as StoredResponse };
    } catch (cause) {
      if (cause instanceof VaultError) throw conflict('changed_outside', { cause });
      throw cause;
    }
  }

  return {
    /**
     * Runs `work` once for each caller, key and request; later calls get its response. `work` must call `record` in its
     * transaction with the response that it returns.
     */
    async once(
      { caller, key, requestHash }: { caller: string; key: string; requestHash: string },
      work: (record: RecordResponse) => Promise<StoredResponse>,
    ): Promise<{ response: StoredResponse; isRepeated: boolean }> {
      const id = sha256(`${caller}\n${key}`);
      const begun = await begin(id, requestHash);
      if ('stored' in begun) return { response: begun.stored, isRepeated: true };
      // Not the lock of a later call, which got the key when this call took longer than its own: that one ends later.
      const ownLock = { id, responseSealed: null, expiresAt: begun.lockedUntil };
      const record: RecordResponse = async (response, tx) => {
        const responseSealed = vault.seal(JSON.stringify(response), context(id));
        const expiresAt = inSeconds(limits.api.idempotencySeconds);
        const { count } = await tx.idempotencyKey.updateMany({ where: ownLock, data: { responseSealed, expiresAt } });
        if (count !== 1) throw inProgress();
      };
      try {
        return { response: await work(record), isRepeated: false };
      } catch (error) {
        // Nothing was created: the key may be used for the corrected request.
        await db.idempotencyKey.deleteMany({ where: ownLock });
        throw error;
      }
    },
  };
}
