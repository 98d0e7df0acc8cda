// The periodic jobs of connections: documents and domain proofs that are due, and mail about what ends.

import type { Base } from '../../base/base.ts';
import { limits } from '../../base/limits.ts';
import { sha256 } from '../../base/platform/random.ts';
import { transaction } from '../../base/storage/database.ts';
import { isFirstUse } from '../../base/storage/single-use.ts';
import type { Core } from '../../core/core.ts';
import type { ScheduledJob } from '../../core/jobs/scheduler.ts';
import type { ConnectionWarning } from './warnings.ts';

export function connectionJobs({
  documents,
  domains,
  notifyOfExpiry,
  now,
}: Base & {
  documents: { refreshDue(signal: AbortSignal): Promise<Date | undefined> };
  domains: { checkDue: ScheduledJob['run'] };
  notifyOfExpiry: ScheduledJob['run'];
}): ScheduledJob[] {
  const everySeconds = limits.connections.pollSeconds;
  let next: Date | undefined;
  return [
    {
      name: 'connection-documents',
      everySeconds,
      async run(signal) {
        next = await documents.refreshDue(signal);
      },
      againInSeconds() {
        const seconds = next && Math.max(1, (next.getTime() - now().getTime()) / 1000);
        next = undefined;
        return seconds;
      },
    },
    { name: 'connection-domains', everySeconds, run: domains.checkDue },
    { name: 'connection-ends', everySeconds: 24 * 3600, run: notifyOfExpiry },
  ];
}

const REMEMBER_MS = 90 * 86_400_000;

/** Queues the mails that are due and returns how many secrets and certificates they are about. Run by one instance, once a day. */
export function createExpiryNotices({
  db,
  sql,
  now,
  warnings,
  notifyAdministrators,
}: Core & { warnings(): Promise<ConnectionWarning[]> }) {
  return async function notify(): Promise<number> {
    let notices = 0;
    for (const { connection, what, until, text, isUrgent } of await warnings()) {
      if (!what || !until) continue;
      const key = [connection?.id ?? '', what, until.getTime(), isUrgent].join('\n');
      const rememberUntil = new Date(Math.max(until.getTime(), now().getTime()) + REMEMBER_MS);
      const isNew = await transaction(db, async (tx) => {
        // In the transaction of the mails, so that neither exists without the other.
        if (!(await isFirstUse(sql.in(tx), `connection-end:${sha256(key)}`, rememberUntil))) return false;
        const about = connection ? { connection: connection.name, connectionId: connection.id } : {};
        await notifyAdministrators({ kind: 'connection-end', text: String(text), until, ...about }, tx);
        return true;
      });
      if (isNew) notices += 1;
    }
    return notices;
  };
}
