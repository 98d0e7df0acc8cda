// The time limit of a stop: what does not end, such as a database that does not answer, is left.
import { describe, expect, it } from 'vitest';
import { stopServer } from '../../src/server/stop.ts';

const never = () => new Promise<never>(() => {});

/** What a stop logs and how it ends. */
async function stopped(stop: () => Promise<void>) {
  const log: string[] = [];
  const logger = {
    info: (_fields: unknown, text?: string) => void log.push(text ?? String(_fields)),
    error: (_fields: unknown, text?: string) => void log.push(text ?? String(_fields)),
  };
  const announceStop = () => void log.push('announced');
  const server = { announceStop, stop };
  const outcome = await stopServer(server, { announceSeconds: 0, limitSeconds: 0.02, logger: logger as never });
  return { outcome, first: log[0], last: log.at(-1) };
}

describe('a stop', () => {
  it('ends at its limit when the server never stops', async () => {
    expect(await stopped(never)).toEqual({
      outcome: 'cut off',
      first: 'announced',
      last: 'stopped before everything was finished: a request, a job or the database did not end in time',
    });
  });

  it('ends when stopping fails', async () => {
    const { outcome } = await stopped(() => Promise.reject(new Error('the database cannot be closed')));
    expect(outcome).toBe('cut off');
  });

  it('ends as soon as everything is finished', async () => {
    expect(await stopped(async () => {})).toMatchObject({ outcome: 'stopped', last: 'stopped' });
  });
});
