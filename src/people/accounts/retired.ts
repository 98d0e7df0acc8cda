// What stays of deleted accounts: that their `sub` is taken, without saying whose it was once their personal data is erased.

import { hmacSha256 } from '../../base/platform/hmac.ts';
import type { Vault } from '../../base/platform/vault.ts';
import type { Tx } from '../../base/storage/database.ts';
import { unavailableIn } from '../../base/storage/unavailable.ts';
import type { AuditErasure } from '../../core/audit/erasure.ts';
import type { Core } from '../../core/core.ts';
import type { ScheduledJob } from '../../core/jobs/scheduler.ts';

const DAY_MS = 24 * 3600 * 1000;
const EVERY_SECONDS = 300;
const LONGEST_PAUSE_MS = DAY_MS / 4;
/** Read at once. */
const PAGE = 50;

/** The ids in retired_subjects that this `sub` may have: by each data key, the newest first. */
export const retiredIds = (vault: Vault, sub: string): [string, ...string[]] =>
  vault.deriveKeys('retired-subject').map((key) => hmacSha256(key)(sub)) as [string, ...string[]];

interface Retired {
  id: string;
  userId: string;
  retiredAt: Date;
}

/** In the transaction that deletes the account. */
export async function retire(sub: string, { vault, now, wake }: Core, tx: Tx): Promise<void> {
  const [id] = retiredIds(vault, sub);
  const row = { id, userId: sub, retiredAt: now() };
  await tx.retiredSubject.upsert({ where: { id }, create: row, update: row });
  wake('erasure', tx);
}

/**
 * Erases the personal data of deleted accounts from the audit log, and the rows about them that outlive the account, as soon as the setting
 * `erase_after_days` says; but not before all that follows the log has read of the deletion, for a day at most. Again for a day, after
 * pauses that grow: a notice to an application may be under way that long, and writes entries. One that fails keeps no other waiting.
 */
export function erasureJob({
  db,
  now,
  logger,
  settings,
  auditChain,
  auditErasure,
  removeRows,
  readByAll,
}: Core & {
  auditErasure: AuditErasure;
  removeRows(userId: string): Promise<void>;
  /** Up to which position of the chain. */
  readByAll(): Promise<number>;
}): ScheduledJob {
  /** By id of the row. Forgotten when the process ends, or another one runs the job: these try at once. */
  const tried = new Map<string, { tries: number; nextTryAt: Date }>();

  async function isRead(userId: string, retiredAt: Date): Promise<boolean> {
    if (retiredAt.getTime() + DAY_MS <= now().getTime()) return true;
    await auditChain.seal();
    const about = { where: { subjectId: userId }, orderBy: { id: 'desc' }, select: { chainSeq: true } } as const;
    const last = await db.auditEvent.findFirst(about);
    return !last || (last.chainSeq !== null && last.chainSeq <= (await readByAll()));
  }

  async function erase({ id, userId, isOver }: { id: string; userId: string; isOver: boolean }, signal: AbortSignal) {
    // A row of another program, whose MAC is right only because it was put back: the account is there.
    if ((await db.asStored.user.count({ where: { id: userId } })) > 0) return;
    await auditErasure.erase(userId, signal);
    await removeRows(userId);
    if (!isOver || signal.aborted) return;
    await db.retiredSubject.update({ where: { id }, data: { userId: null } });
    tried.delete(id);
  }

  /** Erases what is due now; later again if that fails. */
  async function eraseDue({ id, userId, retiredAt }: Retired, due: Date, signal: AbortSignal): Promise<void> {
    const last = tried.get(id);
    if (last && last.nextTryAt > now()) return;
    if (!last && !(await isRead(userId, retiredAt))) return;
    const isOver = retiredAt.getTime() + DAY_MS <= due.getTime();
    const tries = (last?.tries ?? 0) + 1;
    const pause = Math.min(EVERY_SECONDS * 1000 * 2 ** tries, LONGEST_PAUSE_MS);
    tried.set(id, { tries, nextTryAt: new Date(now().getTime() + pause) });
    try {
      await erase({ id, userId, isOver }, signal);
    } catch (err) {
      if (unavailableIn(err)) throw err;
      logger.error({ err, tries }, 'the personal data of a deleted account could not be erased');
    }
  }

  return {
    name: 'erasure',
    everySeconds: EVERY_SECONDS,
    async run(signal) {
      const due = new Date(now().getTime() - settings.latest().erase_after_days * DAY_MS);
      for (let after = ''; !signal.aborted; ) {
        const rows = await db.retiredSubject.findMany({
          where: { userId: { not: null }, retiredAt: { lte: due }, id: { gt: after } },
          orderBy: { id: 'asc' },
          take: PAGE,
        });
        for (const { userId, ...row } of rows)
          if (userId !== null && !signal.aborted) await eraseDue({ ...row, userId }, due, signal);
        after = rows.at(-1)?.id ?? '';
        if (rows.length < PAGE) return;
      }
    },
  };
}
