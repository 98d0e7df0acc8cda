// Audit entries that anyone can cause without signing in, such as rejected requests: the first is written at once; equal ones
// that follow within some minutes are counted, and become one entry with their number. Otherwise anyone could fill the log.
import type { Base } from '../../base/base.ts';
import { limits } from '../../base/limits.ts';
import { isWithin } from '../../base/platform/clock.ts';
import type { Dialect } from '../../base/storage/dialect.ts';
import { type Fragment, fragment } from '../../base/storage/fragments.ts';
import { unavailableIn } from '../../base/storage/unavailable.ts';
import type { Audit, AuditInput } from './audit.ts';
import type { AuditEventType } from './events.ts';

export type RepeatedEntries = ReturnType<typeof createRepeatedEntries>;

interface Repeated {
  entry: AuditInput;
  /** In milliseconds. */
  startedAt: number;
  count: number;
}

const { repeatSeconds, maxRepeated } = limits.audit;

/** SQL: for how many events an audit entry that failed stands; reads the data of such entries alone. */
export function timesOf(dialect: Dialect): Fragment {
  return fragment`CASE outcome WHEN 'failure' THEN COALESCE(${dialect.jsonNumber('data', 'repeated')}, 1) ELSE 1 END`;
}

/** Counts in this process; several instances write an entry each. */
export function createRepeatedEntries(
  dependencies: Base & {
    audit: Audit;
    /** One text for the addresses that one sender can use. */
    networkOf(address: string): string;
  },
) {
  const { audit, now, logger, networkOf } = dependencies;
  // In the order in which they end, because all last equally long.
  const open = new Map<string, Repeated>();

  async function close(key: string): Promise<void> {
    const repeated = open.get(key);
    open.delete(key);
    if (!repeated || repeated.count === 0) return;
    const { entry, count } = repeated;
    await audit.record({ ...entry, data: { ...entry.data, repeated: count } });
  }

  async function closeEnded(): Promise<void> {
    for (const [key, { startedAt }] of open) {
      if (isWithin(repeatSeconds, startedAt, now()) && open.size <= maxRepeated) return;
      await close(key);
    }
  }

  function closeLater(): void {
    const close = () => closeEnded().catch((err) => logger.error({ err }, 'an audit event was not written'));
    setTimeout(close, repeatSeconds * 1000 + 1).unref();
  }

  return {
    /** Writes the entry, or counts it. Entries are equal in type, reason, client, subject and network. */
    async record<Type extends AuditEventType>(entry: AuditInput<Type>): Promise<void> {
      await closeEnded();
      const { type, reason, clientId, subjectId, request } = entry;
      const key = JSON.stringify([type, reason, clientId, subjectId, request && networkOf(request.address)]);
      const repeated = open.get(key);
      if (repeated) {
        repeated.count += 1;
        return;
      }
      open.set(key, { entry, startedAt: now().getTime(), count: 0 });
      closeLater();
      await audit.record(entry);
    },

    /**
     * Writes the number of all entries that were only counted; call it before the process stops. When the database cannot be used, it logs
     * how many numbers are lost, because a stop does not wait for the database.
     */
    async flush(): Promise<void> {
      const counted = [...open.values()].filter(({ count }) => count > 0).length;
      try {
        for (const key of [...open.keys()]) await close(key);
      } catch (error) {
        const unavailable = unavailableIn(error);
        if (!unavailable) throw error;
        const fields = { ...unavailable.logFields, entries: counted };
        logger.warn(fields, 'the database cannot be used: the numbers of repeated audit entries are not written');
      }
    },
  };
}
