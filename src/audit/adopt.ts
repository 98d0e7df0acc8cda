// Gives a log that an older version wrote its MACs, as part of `gatehouse secrets adopt`: from then on a change is detected.
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { Vault } from '../platform/vault.ts';
import type { Db } from '../storage/database.ts';
import { beginChain } from './chain/anchors.ts';
import { proofOf } from './row-mac.ts';

const PAGE = 500;

/** Writes a MAC to every row, whatever the rows hold, and starts the chain again; returns the number of rows. */
export async function adoptAuditLog({ db, vault }: { db: Db; vault: Pick<Vault, 'mac'> }): Promise<number> {
  await db.auditEvent.updateMany({ data: { chainSeq: null, chainHash: null } });
  await db.auditChain.deleteMany();
  await db.auditCheckpoint.deleteMany();
  let [count, after] = [0, 0];
  for (;;) {
    const rows = await db.auditEvent.findMany({ where: { id: { gt: after } }, orderBy: { id: 'asc' }, take: PAGE });
    await db.$transaction(
      rows.map((row) =>
        db.auditEvent.update({ where: { id: row.id }, data: proofOf(row, vault), select: { id: true } }),
      ),
    );
    count += rows.length;
    if (rows.length < PAGE) break;
    after = rows.at(-1)?.id ?? after;
    await yieldToEventLoop();
  }
  await beginChain(db, vault, { evenWithEvents: true });
  return count;
}
