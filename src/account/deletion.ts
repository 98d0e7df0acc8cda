// People delete their own account: it is kept for some days, in which each sign-in says so, and then deleted by a job as an administrator would.

import type { Tx } from '../base/storage/database.ts';
import { transaction } from '../base/storage/database.ts';
import { lockRow } from '../base/storage/row-lock.ts';
import { type PageText, t } from '../base/texts/text.ts';
import type { Actor } from '../core/audit/audit.ts';
import type { Core } from '../core/core.ts';
import type { ScheduledJob } from '../core/jobs/scheduler.ts';
import { recipientOf } from '../core/mail/messages.ts';
import type { Account } from '../people/accounts/account.ts';
import { removeAccount } from '../people/accounts/life.ts';
import type { People } from '../people/people.ts';
import { ADMIN_ROLE } from '../people/rbac/built-in.ts';
import type { SessionServices } from '../protocols/logout/session-services.ts';

const DAY_MS = 24 * 3600 * 1000;
/** Deleted one after the other, each in a transaction of its own. */
const PAGE = 50;

export type Deletion = ReturnType<typeof createDeletion>;

export function createDeletion(services: Core & People & SessionServices) {
  const { db, sql, now, accounts, outbox, roles, settings, logger } = services;

  /** Why this account cannot be deleted by its person, and where to ask; undefined: it can. Without a transaction only to show it. */
  async function obstacleOf({ id, source, roles: held }: Account, tx?: Tx): Promise<PageText | undefined> {
    if (source === 'file') return t('deletion.by-file');
    const directory = (await accounts.directoriesOf([id], tx)).get(id);
    if (directory && !directory.deletedAt) return t('deletion.by-directory', { directory: directory.name });
    const isLast = held.includes(ADMIN_ROLE) && (await roles.isLastAdmin(id, tx));
    return isLast ? t('deletion.last-administrator') : undefined;
  }

  /** Unless its person has kept it, or an administrator of the file, a directory or the last of all was made of it meanwhile. */
  async function remove(id: string): Promise<void> {
    await transaction(db, async (tx) => {
      await lockRow(tx, sql, 'users', id);
      const account = await accounts.findWithLater(id, tx);
      if (!account?.deleteAt || account.deleteAt > now()) return;
      if (await obstacleOf(account, tx)) {
        await accounts.setDeletion(id, null, {}, tx);
        return;
      }
      await removeAccount(services, id, { actorId: id }, tx);
    });
  }

  return {
    obstacleOf,

    /** The account is deleted after the days of the setting. Mails the person, who may not have asked. Returns why not, if not. */
    request: (account: Account, by: Actor): Promise<PageText | undefined> =>
      transaction(db, async (tx) => {
        const obstacle = await obstacleOf(account, tx);
        if (obstacle) return obstacle;
        const deleteAt = new Date(now().getTime() + settings.latest().self_deletion_days * DAY_MS);
        if (!(await accounts.setDeletion(account.id, deleteAt, by, tx))) return undefined;
        const to = recipientOf(account, by.request && { application: by.request.application });
        if (to) await outbox.send({ kind: 'deletion', to, until: deleteAt }, tx);
        return undefined;
      }),

    job: {
      name: 'own-deletions',
      everySeconds: 60,
      async run(signal) {
        for (let last = ''; !signal.aborted; ) {
          const where = { id: { gt: last }, deleteAt: { lte: now() } };
          const order = { orderBy: { id: 'asc' as const }, take: PAGE };
          const rows = await db.asStored.user.findMany({ where, ...order, select: { id: true } });
          for (const { id } of rows) {
            if (signal.aborted) return;
            await remove(id).catch((err: unknown) => logger.error({ err }, 'an account was not deleted'));
          }
          last = rows.at(-1)?.id ?? '';
          if (rows.length < PAGE) return;
        }
      },
    } satisfies ScheduledJob as ScheduledJob,
  };
}
