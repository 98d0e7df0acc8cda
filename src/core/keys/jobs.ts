// The periodic job of the signing keys: publishes, activates and retires them on schedule (rotation.ts).
import type { ScheduledJob } from '../jobs/scheduler.ts';
import type { Keyring } from './keyring.ts';

export function keyJobs(keyring: Keyring): ScheduledJob[] {
  return [{ name: 'keys', everySeconds: 60, run: () => keyring.runSchedule() }];
}
