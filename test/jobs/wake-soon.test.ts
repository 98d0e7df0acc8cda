// Waking a job for work whose transaction has not committed yet.
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { wakeSoon } from '../../src/core/jobs/scheduler.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

it('a job is woken once for one call, and once more for those that came before it', () => {
  const wake = vi.fn();
  const wakeJob = wakeSoon(wake, 250);
  wakeJob();
  vi.advanceTimersByTime(1000);
  expect(wake).toHaveBeenCalledTimes(1);
  wakeJob();
  vi.advanceTimersByTime(249);
  for (let call = 0; call < 3; call += 1) wakeJob();
  vi.advanceTimersByTime(1);
  expect(wake).toHaveBeenCalledTimes(2);
  vi.advanceTimersByTime(250);
  expect(wake).toHaveBeenCalledTimes(3);
  vi.advanceTimersByTime(1000);
  expect(wake).toHaveBeenCalledTimes(3);
});
