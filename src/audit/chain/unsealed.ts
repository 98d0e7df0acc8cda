// The audit rows that are not in the chain yet: which of them this server wrote, each once.
import type { Vault } from '../../platform/vault.ts';
import type { Tx } from '../../storage/database.ts';
import { isContentIntact, isRowGenuine } from '../row-mac.ts';
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
  vault: Pick<Vault, 'macMatches'>,
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
