// The hash chain of the audit log: every entry holds SHA-256 over the hash before it and its own content, and the newest
// hash lies under a MAC that only our secret can make. So whoever writes to the database alone cannot change or remove an
// entry unseen. Entries are chained seconds after they are written, by a job: a lock that every sign-in waits for would
// cost more than the few seconds are worth (docs/decisions/0016).
import { setImmediate as othersTurn } from 'node:timers/promises';
import type { Clock } from '../platform/clock.ts';
import type { DatabaseKind } from '../platform/database-url.ts';
import { type Db, type Tx, transaction } from '../platform/db.ts';
import type { Logger } from '../platform/logger.ts';
import { sqlFor } from '../platform/sql.ts';
import type { Vault } from '../platform/vault.ts';
import { type ChainVerdict, checkChain } from './chain-check.ts';
import { type Anchor, anchorMac, GENESIS, isGenuine, linkHash } from './chain-link.ts';

export interface AuditChain {
  /** Chains the entries that are not yet; returns how many. Throws ChainError when the chain it would add to is broken. */
  seal(signal?: AbortSignal): Promise<number>;
  /** Reads the whole chain and names the first entry that was changed or removed. Changes nothing. */
  verify(): Promise<ChainVerdict>;
  /** Removes up to `limit` of the oldest entries, those from before `olderThan`, and notes where the chain goes on. */
  purge(olderThan: Date, limit: number): Promise<number>;
}

export interface AuditChainNeeds {
  db: Db;
  kind: DatabaseKind;
  vault: Vault;
  now: Clock;
  logger: Logger;
}

/** The chain cannot be added to: somebody changed it. */
export class ChainError extends Error {
  override name = 'ChainError';
}

// In small steps, with a turn of the event loop for others between them (never inside: with SQLite the lock would be kept
// through it): 200 at once held up every request for 20 to 40 ms.
const BATCH = 20;
const TELL_EVERY_MS = 3600_000;

export function createAuditChain({ db, kind, vault, now, logger }: AuditChainNeeds): AuditChain {
  let toldAt = Number.NEGATIVE_INFINITY;

  async function sealBatch(tx: Tx): Promise<{ count: number; head: Anchor }> {
    const { head, tail } = await lockAnchors(tx);
    const rows = await tx.auditEvent.findMany({ where: { chainSeq: null }, orderBy: { id: 'asc' }, take: BATCH });
    let { seq, hash } = head;
    const links = rows.map((row) => {
      seq += 1;
      hash = linkHash(hash, { ...row, chainSeq: seq });
      return { id: row.id, seq, hash };
    });
    if (links.length > 0) {
      const [statement, values] = [linkStatement(kind, links.length), links.flatMap((link) => Object.values(link))];
      await tx.$executeRawUnsafe(statement, ...values);
      await keepAnchor(tx, { id: 'head', seq, hash });
      // Under the secret that is first today, so that an old one can go.
      if (tail) await keepAnchor(tx, tail);
    }
    return { count: links.length, head: { id: 'head', seq, hash } };
  }

  async function keepAnchor(tx: Tx, { id, seq, hash }: Anchor): Promise<void> {
    const data = { seq, hash, mac: anchorMac({ id, seq, hash }, vault) };
    await tx.auditChain.upsert({ where: { id }, create: { id, ...data }, update: data });
  }

  /** Both ends, and the lock: whoever seals or purges waits here for the other to finish. */
  async function lockAnchors(tx: Tx): Promise<{ head: Anchor; tail: Anchor | undefined }> {
    const first = { seq: 0, hash: GENESIS };
    const mac = anchorMac({ id: 'head', ...first }, vault);
    await tx.$executeRaw`INSERT INTO audit_chain (id, seq, hash, mac) VALUES ('head', 0, ${first.hash}, ${mac})
      ON CONFLICT (id) DO UPDATE SET seq = audit_chain.seq`;
    const anchors = await tx.auditChain.findMany();
    for (const anchor of anchors) {
      // To go on would put our name under what somebody else wrote.
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

  return {
    async seal(signal) {
      let total = 0;
      for (;;) {
        const { count, head } = await transaction(db, sealBatch);
        total += count;
        if (count > 0 && now().getTime() - toldAt >= TELL_EVERY_MS) {
          // A copy of the log elsewhere then proves which entries there were, whatever happens to the database.
          logger.info({ seq: head.seq, hash: head.hash }, 'audit chain');
          toldAt = now().getTime();
        }
        if (count < BATCH || signal?.aborted) return total;
        await othersTurn();
      }
    },

    verify: () => checkChain({ db, vault }),

    async purge(olderThan, limit) {
      await this.seal();
      return transaction(db, async (tx) => {
        const { tail } = await lockAnchors(tx);
        const rows = await tx.auditEvent.findMany({
          where: { chainSeq: { not: null } },
          orderBy: { chainSeq: 'asc' },
          take: limit,
        });
        const end = rows.findIndex(({ at }) => at >= olderThan);
        const old = end < 0 ? rows : rows.slice(0, end);
        let { seq, hash } = tail ?? { seq: 0, hash: GENESIS };
        for (const row of old) {
          seq += 1;
          hash = linkHash(hash, row);
          // What was changed is kept, so that it can be found.
          if (row.chainSeq !== seq || row.chainHash !== hash)
            throw new ChainError(`audit entry ${row.id} was changed, or one before it removed: nothing is purged`);
        }
        if (old.length === 0) return 0;
        await keepAnchor(tx, { id: 'tail', seq, hash });
        const { count } = await tx.auditEvent.deleteMany({ where: { chainSeq: { lte: seq } } });
        return count;
      });
    },
  };
}

// One statement for a batch: both databases call the columns of VALUES so.
function linkStatement(kind: DatabaseKind, count: number): string {
  const row = '(CAST(? AS INTEGER), CAST(? AS INTEGER), ?)';
  const sql = `UPDATE audit_events SET chain_seq = link.column2, chain_hash = link.column3
    FROM (VALUES ${Array(count).fill(row).join(', ')}) AS link WHERE audit_events.id = link.column1`;
  return sqlFor(kind, { sql }).sql;
}
