// Alarms: the database contains a row that this server did not write. Each alarm is an error in the log, a metric, an audit
// entry and a mail to the administrators, because not every operator monitors all of these.
import type { Base } from '../../base/base.ts';
import { limits } from '../../base/limits.ts';
import { createThrottle } from '../../base/platform/throttle.ts';
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
  const isNew = createThrottle(now, limits.audit.repeatAlarmSeconds, MAX_REMEMBERED);
  const mayMail = createThrottle(now, limits.audit.alarmMailSeconds);
  return {
    /**
     * Raises an alarm with a sentence for administrators. Each process raises the same one once a day, and sends one mail of each
     * kind an hour.
     */
    async raise(kind: AlarmKind, message: string, data: Record<string, unknown> = {}): Promise<void> {
      countAlarm(kind);
      if (!isNew(`${kind}: ${message}`)) return;
      logger.error({ alarm: kind, ...data }, `ALARM: ${message}`);
      try {
        await audit.record({ type: 'integrity.alarm', outcome: 'failure', reason: kind, data: { message, ...data } });
        if (mayMail(kind)) await notify(message);
      } catch (err) {
        logger.error({ err, alarm: kind }, 'an alarm could not be recorded or mailed');
      }
    },
  };
}
