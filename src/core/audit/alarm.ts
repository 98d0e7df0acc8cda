// Alarms: the database contains a row that this server did not write. Each alarm is an error in the log, a metric, an audit
// entry and a mail to the administrators, because not every operator monitors all of these.
import type { Base } from '../../base/base.ts';
import { limits } from '../../base/limits.ts';
import { type Clock, isWithin } from '../../base/platform/clock.ts';
import type { Audit } from './audit.ts';

/** `audit-log`: an entry or the chain; `row`: a row that grants a right or authenticates a person. */
export type AlarmKind = 'audit-log' | 'row';

export type Alarm = ReturnType<typeof createAlarm>;

const MAX_REMEMBERED = 1000;

export function createAlarm({
  audit,
  logger,
  now,
  notify,
  countAlarm,
}: Base & {
  audit: Audit;
  /** Queues the mail to every administrator. */
  notify(message: string): Promise<void>;
  /** Counts the alarm in the metrics. */
  countAlarm(kind: AlarmKind): void;
}) {
  const isFirstIn = createMemory(now);
  return {
    /**
     * Raises an alarm with a sentence for administrators. Each process raises the same one once a day, and sends one mail of each
     * kind an hour.
     */
    async raise(kind: AlarmKind, message: string, data: Record<string, unknown> = {}): Promise<void> {
      countAlarm(kind);
      if (!isFirstIn(limits.audit.repeatAlarmSeconds, `${kind}: ${message}`)) return;
      logger.error({ alarm: kind, ...data }, `ALARM: ${message}`);
      try {
        await audit.record({ type: 'integrity.alarm', outcome: 'failure', reason: kind, data: { message, ...data } });
        if (isFirstIn(limits.audit.alarmMailSeconds, kind)) await notify(message);
      } catch (err) {
        logger.error({ err, alarm: kind }, 'an alarm could not be recorded or mailed');
      }
    },
  };
}

/** Returns a function that is true if the same name was not passed to it within the interval. */
function createMemory(now: Clock) {
  const usedAt = new Map<string, number>();
  return (seconds: number, name: string): boolean => {
    const before = usedAt.get(name);
    if (before !== undefined && isWithin(seconds, before, now())) return false;
    if (usedAt.size >= MAX_REMEMBERED) usedAt.clear();
    usedAt.set(name, now().getTime());
    return true;
  };
}
