// The hash chain of the audit log, which reveals a change by an attacker who can only write to the database: each entry holds
// SHA-256 over the previous hash and its content, and the newest hash has a MAC under the server's secret. A job seals
// entries seconds after they are written, because a lock at every sign-in would cost too much
// (docs/decisions/0016-asynchronous-audit-chain.md).
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { Clock } from '../platform/clock.ts';
import type { Logger } from '../platform/logger.ts';
import type { Vault } from '../platform/vault.ts';
import { type Db, type Tx, transaction } from '../storage/database.ts';
import { hotStatements, type Sql } from '../storage/statements.ts';
import { ChainError, lockAnchors, storeAnchor } from './chain-anchors.ts';
import { type ChainVerdict, checkChain } from './chain-check.ts';
import { type Anchor, GENESIS, linkHash } from './chain-link.ts';

export { ChainError } from './chain-anchors.ts';

export interface AuditChain {
  /** Adds all unsealed entries to the chain and returns their number. Throws ChainError when the end of the chain is invalid. */
  seal(signal?: AbortSignal): Promise<number>;
  /** Reads the whole chain and reports the first entry that was changed, removed or added. Changes nothing. */
  verify(): Promise<ChainVerdict>;
  /** Deletes up to `limit` of the entries before `olderThan`, oldest first, and stores the new start of the chain. */
  purge(olderThan: Date, limit: number): Promise<number>;
}

export interface AuditChainDependencies {
  db: Db;
  sql: Sql;
  vault: Vault;
  now: Clock;
  logger: Logger;
}

// Small batches, because 200 entries at once delayed every request by 20 to 40 ms. The event loop runs other work between two
// transactions, never inside one, where SQLite would hold the write lock.
const BATCH = 20;
const LOG_EVERY_MS = 3600_000;

const LINK = '(CAST(? AS INTEGER), CAST(? AS INTEGER), ?)';
export const statements = hotStatements('audit-chain', {
  // One statement per batch; both databases name the columns of VALUES column1, column2, ….
  link: `UPDATE audit_events SET chain_seq = link.column2, chain_hash = link.column3
    FROM (VALUES ${Array(BATCH).fill(LINK).join(', ')}) AS link WHERE audit_events.id = link.column1`,
});

/** Seals, verifies and purges the chain; `seal` and `purge` may run on several instances at once. */
export function createAuditChain({ db, sql, vault, now, logger }: AuditChainDependencies): AuditChain {
  let loggedAt = Number.NEGATIVE_INFINITY;

  async function seal(signal?: AbortSignal): Promise<number> {
    let total = 0;
    for (;;) {
      const { count, head } = await transaction(db, (tx) => sealBatch(tx, { sql, vault }));
      total += count;
      if (count > 0 && now().getTime() - loggedAt >= LOG_EVERY_MS) {
        // With a copy of the log, an administrator can prove which entries existed even if the database is replaced.
        logger.info({ seq: head.seq, hash: head.hash }, 'audit chain');
        loggedAt = now().getTime();
      }
      if (count < BATCH || signal?.aborted) return total;
      await yieldToEventLoop();
    }
  }

  return {
    seal,
    verify: () => checkChain({ db, vault }),
    async purge(olderThan, limit) {
      await seal();
      return transaction(db, (tx) => purgeOldest(tx, vault, { olderThan, limit }));
    },
  };
}

/** Seals up to BATCH entries, oldest first. */
async function sealBatch(
  tx: Tx,
  { sql, vault }: Pick<AuditChainDependencies, 'sql' | 'vault'>,
): Promise<{ count: number; head: Anchor }> {
  const { head, tail } = await lockAnchors(tx, vault);
  const rows = await tx.auditEvent.findMany({ where: { chainSeq: null }, orderBy: { id: 'asc' }, take: BATCH });
  let { seq, hash } = head;
  const links = rows.map((row) => {
    seq += 1;
    hash = linkHash(hash, { ...row, chainSeq: seq });
    return { id: row.id, seq, hash };
  });
  if (links.length > 0) {
    // The statement has a fixed number of parameters, so an incomplete batch repeats its last entry.
    const batch = Array.from({ length: BATCH }, (_, at) => links[Math.min(at, links.length - 1)]);
    const values = batch.flatMap((link) => (link ? [link.id, link.seq, link.hash] : []));
    await sql.in(tx).execute(statements.link, ...values);
    await storeAnchor(tx, vault, { id: 'head', seq, hash });
    // Renews the MAC under the first secret, so that an old secret can be removed.
    if (tail) await storeAnchor(tx, vault, tail);
  }
  return { count: links.length, head: { id: 'head', seq, hash } };
}

/** Removes entries from the beginning of the chain and moves its tail behind them; returns how many. */
async function purgeOldest(
  tx: Tx,
  vault: Vault,
  { olderThan, limit }: { olderThan: Date; limit: number },
): Promise<number> {
  const { tail } = await lockAnchors(tx, vault);
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
    // A changed entry is not purged, so that verify() can find it.
    if (row.chainSeq !== seq || row.chainHash !== hash)
      throw new ChainError(`audit entry ${row.id} was changed, or one before it removed: nothing is purged`);
  }
  if (old.length === 0) return 0;
  await storeAnchor(tx, vault, { id: 'tail', seq, hash });
  const { count } = await tx.auditEvent.deleteMany({ where: { chainSeq: { lte: seq } } });
  return count;
}
