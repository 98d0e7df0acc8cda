// Verifies the hash chain of the audit log from the first entry to the last, and stops at the first fault.
import type { Vault } from '../platform/vault.ts';
import type { Db } from '../storage/database.ts';
import { type Anchor, GENESIS, isGenuine, linkHash } from './chain-link.ts';

export type ChainVerdict =
  | { ok: true; entries: number; unsealed: number; newest: number }
  | { ok: false; fault: ChainFault };

export interface ChainFault {
  /** What happened to the entry; `anchor`: the stored start or end of the chain has an invalid MAC. */
  kind: 'changed' | 'removed' | 'added' | 'anchor';
  /** The position of the entry in the chain. */
  seq: number;
  /** The id of the entry, unless it was removed. */
  id?: number;
  /** The time of the entry; of the entry before it when it was removed. */
  at?: Date;
  message: string;
}

const PAGE = 1000;

/** Verifies the whole chain: every hash, both anchors, and that no entry outside the chain claims a position in it. */
export async function checkChain({ db, vault }: { db: Db; vault: Pick<Vault, 'macMatches'> }): Promise<ChainVerdict> {
  const broken = (fault: ChainFault): ChainVerdict => ({ ok: false, fault });
  const anchors = await db.auditChain.findMany();
  for (const anchor of anchors) {
    if (isGenuine(anchor, vault)) continue;
    const message = `The stored ${anchor.id === 'head' ? 'end' : 'start'} of the chain was changed, or was made under a secret that is not set here.`;
    return broken({ kind: 'anchor', seq: anchor.seq, message });
  }
  const head = anchors.find(({ id }) => id === 'head');
  let last: Anchor & { at?: Date; entry?: number } = anchors.find(({ id }) => id === 'tail') ?? start;
  const beforeFirst = await db.auditEvent.findFirst({ where: { chainSeq: { lte: last.seq } } });
  if (beforeFirst) return broken(added(beforeFirst));

  let entries = 0;
  const until = head?.seq ?? 0;
  while (last.seq < until) {
    const rows = await db.auditEvent.findMany({
      where: { chainSeq: { gt: last.seq, lte: until } },
      orderBy: { chainSeq: 'asc' },
      take: PAGE,
    });
    const [first] = rows;
    if (first?.chainSeq !== last.seq + 1) {
      // A purge may have removed these entries since the anchors were read.
      const tail = await db.auditChain.findUnique({ where: { id: 'tail' } });
      if (!tail || tail.seq <= last.seq || !isGenuine(tail, vault)) return broken(removed(last, first?.id));
      last = tail;
      continue;
    }
    for (const row of rows) {
      if (row.chainSeq !== last.seq + 1) return broken(removed(last, row.id));
      const hash = linkHash(last.hash, row);
      if (row.chainHash !== hash) {
        const message = `Entry ${row.id} of ${row.at.toISOString()} was changed.`;
        return broken({ kind: 'changed', seq: row.chainSeq, id: row.id, at: row.at, message });
      }
      last = { id: 'head', seq: row.chainSeq, hash, at: row.at, entry: row.id };
      entries += 1;
    }
  }
  if (head && last.seq === head.seq && last.hash !== head.hash) {
    const message =
      'The last hash differs from the stored end of the chain: entries were hashed again without the secret.';
    return broken({ kind: 'changed', seq: last.seq, message, ...(last.at && { at: last.at }) });
  }
  const newest = (await db.auditChain.findUnique({ where: { id: 'head' } }))?.seq ?? 0;
  const beyond = await db.auditEvent.findFirst({ where: { chainSeq: { gt: newest } }, orderBy: { chainSeq: 'asc' } });
  if (beyond) return broken(added(beyond));
  return { ok: true, entries, newest: until, unsealed: await db.auditEvent.count({ where: { chainSeq: null } }) };
}

const start: Anchor = { id: 'tail', seq: 0, hash: GENESIS };

function removed({ seq, at, entry }: Anchor & { at?: Date; entry?: number }, next: number | undefined): ChainFault {
  const place = [entry && `after entry ${entry}`, next && `before entry ${next}`].filter(Boolean).join(', ');
  const message = `The entry at position ${seq + 1}${place ? ` (${place})` : ''} was removed.`;
  return { kind: 'removed', seq: seq + 1, message, ...(at && { at }) };
}

function added({ id, at, chainSeq }: { id: number; at: Date; chainSeq: number | null }): ChainFault {
  return { kind: 'added', seq: chainSeq ?? 0, id, at, message: `Entry ${id} was added: it is not part of the chain.` };
}
