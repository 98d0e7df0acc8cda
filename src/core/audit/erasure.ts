// Erases what the audit log has about a deleted person, so that the log still verifies. An erased entry has no salt, so nothing can be guessed
// from its digest, which the chain goes on with. An entry `account.erased` further on in the chain names the erased entries, each with a
// hash of what is left: an entry that another program emptied, or changed once it was erased, is found.

import { setTimeout as sleep } from 'node:timers/promises';
import type { Base } from '../../base/base.ts';
import { type Tx, transaction } from '../../base/storage/database.ts';
import type { Audit } from './audit.ts';
import type { AuditChain } from './chain/chain.ts';
import { hashOfLeft } from './chain/erasures.ts';
import type { ChainRow } from './chain/link.ts';

/** Of one transaction, which delays no sign-in; at most 200, so that all fit into the data of one entry. */
const PIECE = 50;
const PAUSE_MILLISECONDS = 10;

export type AuditErasure = ReturnType<typeof createAuditErasure>;

export function createAuditErasure({ db, audit, auditChain }: Base & { audit: Audit; auditChain: AuditChain }) {
  return {
    /**
     * Erases every entry by or about the person that is in the chain, in short transactions; what was erased stays so when the process ends
     * between two of them. It may run for one person at a time. Returns how many.
     */
    async erase(userId: string, signal?: AbortSignal): Promise<number> {
      await auditChain.seal();
      let total = 0;
      for (const column of ['subjectId', 'actorId'] as const) {
        let count = PIECE;
        while (count === PIECE && !signal?.aborted) {
          count = await transaction(db, (tx) => erasePiece(tx, audit, { userId, column }));
          total += count;
          await sleep(PAUSE_MILLISECONDS);
        }
      }
      return total;
    },
  };
}

async function erasePiece(
  tx: Tx,
  audit: Audit,
  { userId, column }: { userId: string; column: 'subjectId' | 'actorId' },
): Promise<number> {
  const where = { [column]: userId, chainSeq: { not: null } };
  const rows = await tx.auditEvent.findMany({ where, orderBy: { id: 'asc' }, take: PIECE });
  if (rows.length === 0) return 0;
  const left = rows.map((row) => ({ ...row, ...leftOf(row, userId) }));
  const entries = left.map((row) => `${row.id}:${hashOfLeft(row)}`);
  const erasedBy = await audit.recordWithId({ type: 'account.erased', outcome: 'success', data: { entries } }, tx);
  for (const { id, actorId, subjectId, address, userAgent, requestId, data } of left) {
    const personal = { actorId, subjectId, address, userAgent, requestId, data };
    await tx.auditEvent.update({ where: { id }, data: { ...personal, salt: null, erasedBy }, select: { id: true } });
  }
  return rows.length;
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
