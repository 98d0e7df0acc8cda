// The audit rows that are not in the chain yet: which of them this server wrote, each once; and what can be said about them without
// the secret (docs/operating.md lists what cannot).
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { limits } from '../../../base/limits.ts';
import type { Vault } from '../../../base/platform/vault.ts';
import { inChunks } from '../../../base/storage/chunks.ts';
import type { Db, Tx } from '../../../base/storage/database.ts';
import { hasMacForm, isContentIntact, isRowGenuine } from '../row-mac.ts';
import type { Checkpoint } from './checkpoint.ts';
import { describeEntry, type Faults } from './faults.ts';
import type { ChainRow } from './link.ts';

export interface UnsealedRows {
  genuine: ChainRow[];
  /** Without a valid MAC, or a copy of another row: another program wrote them. */
  forged: ChainRow[];
  /** How many rows were read, and the cursor for the next ones. */
  count: number;
  lastId: number;
}

/** Reads up to `limit` rows outside of the chain with an id above `after`, in the order of their ids. */
export async function readUnsealed(
  tx: Tx,
  vault: Vault,
  { after, limit }: { after: number; limit: number },
): Promise<UnsealedRows> {
  const where = { chainSeq: null, id: { gt: after } };
  const rows = await tx.auditEvent.findMany({ where, orderBy: { id: 'asc' }, take: limit });
  const originals = await originalsOf(tx, rows);
  const isOurs = (row: ChainRow) =>
    isContentIntact(row) && isRowGenuine(row, vault) && originals.get(row.digest) === row.id;
  const genuine = rows.filter(isOurs);
  const forged = rows.filter((row) => !isOurs(row));
  return { genuine, forged, count: rows.length, lastId: rows.at(-1)?.id ?? after };
}

/**
 * Digest -> the id of the row that has it by right: the one in the chain, else the first. The salt makes each digest unique, and
 * a copy has the time of its original, so the index on the time finds both.
 */
async function originalsOf(tx: Tx, rows: readonly ChainRow[]): Promise<Map<string, number>> {
  if (rows.length === 0) return new Map();
  const found = await tx.auditEvent.findMany({
    where: { at: { in: rows.map(({ at }) => at) }, digest: { in: rows.map(({ digest }) => digest) } },
    select: { id: true, digest: true, chainSeq: true },
    orderBy: { id: 'desc' },
  });
  const sealedLast = [
    ...found.filter(({ chainSeq }) => chainSeq === null),
    ...found.filter(({ chainSeq }) => chainSeq),
  ];
  return new Map(sealedLast.map(({ id, digest }) => [digest, id]));
}

const PAGE = 1000;

/** The newest statement of the checkpoints that the chain reached an entry. */
export function newestOf(checkpoints: readonly Checkpoint[]): Checkpoint | undefined {
  const heads = checkpoints.filter(({ kind }) => kind === 'head');
  return heads.reduce<Checkpoint | undefined>(
    (newest, each) => (each.seq > (newest?.seq ?? -1) ? each : newest),
    undefined,
  );
}

/**
 * Reports the entries outside of the chain that this server cannot have written: changed, without a MAC, a copy of another one, or so
 * much older than the newest checkpoint that they would be in the chain. Returns how many others there are.
 */
export async function checkWaitingOffline(db: Db, newest: Checkpoint | undefined, faults: Faults): Promise<number> {
  const late = newest && newest.at.getTime() - limits.audit.sealedWithinSeconds * 1000;
  let [count, after] = [0, 0];
  for (;;) {
    const rows = await db.auditEvent.findMany({
      where: { chainSeq: null, id: { gt: after } },
      orderBy: { id: 'asc' },
      take: PAGE,
    });
    const copies = await copiesAmong(db, rows);
    for (const row of rows) {
      const what = faultOf(row, copies, late);
      if (!what) count += 1;
      else
        faults.add({
          kind: 'added',
          seq: 0,
          id: row.id,
          at: row.at,
          message: `${describeEntry(row)} is not part of the chain: ${what}.`,
        });
    }
    if (rows.length < PAGE || faults.isFull()) return count;
    after = rows.at(-1)?.id ?? after;
    await yieldToEventLoop();
  }
}

function faultOf(row: ChainRow, copies: ReadonlySet<number>, late: number | undefined): string | undefined {
  if (!isContentIntact(row)) return 'its content is not what its digest was made from';
  if (!hasMacForm(row)) return 'it has no MAC';
  if (copies.has(row.id)) return 'it is a copy of another entry';
  if (late !== undefined && row.at.getTime() < late) return 'it is older than the newest checkpoint, so it was added';
  return undefined;
}

/** The ids of the rows whose digest another row has by right. */
async function copiesAmong(db: Db, rows: readonly ChainRow[]): Promise<Set<number>> {
  const copies = await inChunks(rows, async (piece) => {
    const originals = await originalsOf(db, piece);
    return piece.filter(({ id, digest }) => originals.get(digest) !== id);
  });
  return new Set(copies.map(({ id }) => id));
}
