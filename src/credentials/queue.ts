// Hashing takes 19 MiB and a core each time. A flood of sign-ins waits in line here instead of exhausting memory and
// the thread pool, and beyond the end of the line is turned away.
import { unavailable } from '../http/errors.ts';

export interface Queue {
  run<T>(work: () => Promise<T>): Promise<T>;
}

export function createQueue({ concurrency, maxWaiting }: { concurrency: number; maxWaiting: number }): Queue {
  let running = 0;
  const waiting: (() => void)[] = [];

  return {
    async run(work) {
      if (running >= concurrency) {
        if (waiting.length >= maxWaiting) {
          throw unavailable('unavailable', {
            message: 'Too many people are signing in at this moment.',
            advice: 'Try again in a few seconds.',
            headers: { 'Retry-After': '3' },
          });
        }
        // Whoever finishes hands its place over, so `running` does not change in between.
        await new Promise<void>((resolve) => waiting.push(resolve));
      } else {
        running += 1;
      }
      try {
        return await work();
      } finally {
        const next = waiting.shift();
        if (next) next();
        else running -= 1;
      }
    },
  };
}
