// Erases what the audit log has about a deleted person, so that the log still verifies. An erased entry has no salt, so nothing can be guessed
// from its digest, which the chain goes on with. An entry `account.erased` further on in the chain names the erased entries, each with a
// hash of what is left: an entry that another program emptied, or changed once it was erased, is found.

import { setTimeout as sleep } from 'node:timers/promises';
import type { Base } from '../../base/base.ts';
import { type Tx, transaction } from '../../base/storage/database.ts';
import type { Alarm } from './alarm.ts';
import type { Audit } from './audit.ts';
import type { AuditChain } from './chain/chain.ts';
import { createErasures, hashOfLeft } from './chain/erasures.ts';
import type { ChainRow } from './chain/link.ts';
import { isRowGenuine } from './row-mac.ts';

/** Of one transaction, which delays no sign-in; at most 200, so that all fit into the data of one entry. */
const PIECE = 50;
const PAUSE_MILLISECONDS = 10;

export type AuditErasure = ReturnType<typeof createAuditErasure>;

export function createAuditErasure(dependencies: Base & { audit: Audit; auditChain: AuditChain; alarm: Alarm }) {
  const { db, auditChain, alarm } = dependencies;
  return {
    /**
     * Erases every entry by or about the person that is in the chain, in short transactions; what was erased stays so when the process ends
     * between two of them. It may run for one person at a time. Returns how many. One that another program changed stays, and raises the
     * alarm: its erasure would be a statement of this server about content that the server never wrote.
     */
    async erase(userId: string, signal?: AbortSignal): Promise<number> {
      await auditChain.seal();
      let total = 0;
      const changed = new Set<number>();
      for (const column of ['subjectId', 'actorId'] as const) {
        let after = 0;
        let isLast = false;
        while (!isLast && !signal?.aborted) {
          const piece = await transaction(db, (tx) => erasePiece(tx, dependencies, { userId, column, after }));
          total += piece.erased;
          for (const id of piece.changed) changed.add(id);
          after = piece.lastId;
          isLast = piece.isLast;
          await sleep(PAUSE_MILLISECONDS);
        }
      }
      if (changed.size > 0) {
        const entries = [...changed].slice(0, PIECE);
        const message = `audit entries of a deleted person are not erased, because another program changed them: ${entries.join(', ')}`;
        await alarm.raise('audit-log', message, { entries });
      }
      return total;
    },
  };
}

async function erasePiece(
  tx: Tx,
  { audit, vault }: Base & { audit: Audit },
  { userId, column, after }: { userId: string; column: 'subjectId' | 'actorId'; after: number },
) {
  const where = { [column]: userId, chainSeq: { not: null }, id: { gt: after } };
  const rows = await tx.auditEvent.findMany({ where, orderBy: { id: 'asc' }, take: PIECE });
  const erasures = createErasures(tx, vault);
  await erasures.load(rows);
  const isUnchanged = (row: ChainRow) => isRowGenuine(row, vault) && erasures.isIntact(row);
  const left = rows.filter(isUnchanged).map((row) => ({ ...row, ...leftOf(row, userId) }));
  if (left.length > 0) {
    const entries = left.map((row) => `${row.id}:${hashOfLeft(row)}`);
    const erasedBy = await audit.recordWithId({ type: 'account.erased', outcome: 'success', data: { entries } }, tx);
    for (const { id, actorId, subjectId, address, userAgent, requestId, data } of left) {
      const personal = { actorId, subjectId, address, userAgent, requestId, data };
      await tx.auditEvent.update({ where: { id }, data: { ...personal, salt: null, erasedBy }, select: { id: true } });
    }
  }
  const changed = rows.filter((row) => !isUnchanged(row)).map(({ id }) => id);
  return { erased: left.length, changed, lastId: rows.at(-1)?.id ?? after, isLast: rows.length < PIECE };
}

/** What stays: what happened when to which application, and what other people did. */
function leftOf(row: ChainRow, userId: string) {
  const { actorId, subjectId, address, userAgent, requestId, data } = row;
  const isAbout = subjectId === userId;
  const isByOther = actorId !== null && actorId !== userId;
  const { apiKey: _apiKey, ...details } = JSON.parse(data) as Record<string, unknown>;
  return {
    actorId: actorId === userId ? null : actorId,
    subjectId: isAbout ? null : subjectId,
    ...(isByOther ? { address, userAgent, requestId } : { address: null, userAgent: null, requestId: null }),
    data: isAbout ? '{}' : JSON.stringify(details),
  };
}
