// The job queue alone, on a table in memory. test/logout/deliveries.test.ts runs it on a database and kills it.
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeEach, describe, expect, it } from 'vitest';
import { DatabaseUnavailable } from '../../src/base/storage/unavailable.ts';
import { createJobQueue, type JobQueueOptions, retryPauseSeconds } from '../../src/core/jobs/queue.ts';
import { type TestClock, testClock } from '../support/clock.ts';
import { type MemoryStore, memoryStore, type StoredJob } from './memory-store.ts';

let clock: TestClock;
let store: MemoryStore;
let attempted: string[];

beforeEach(() => {
  clock = testClock('2026-11-22T09:00:00Z');
  store = memoryStore(clock);
  attempted = [];
});

function queue(options: Partial<JobQueueOptions<StoredJob>> = {}) {
  return createJobQueue<StoredJob>({
    now: clock.now,
    store,
    async attempt({ id }) {
      attempted.push(id);
      return { outcome: 'done' };
    },
    leaseSeconds: 60,
    concurrency: { lane: () => 2, total: 8 },
    ...options,
  });
}

const jobs = (lane: string, count: number) =>
  Array.from({ length: count }, (_, index) => ({ id: `${lane}-${index}`, lane }));
const failing = async () => ({ outcome: 'retry', reason: 'no answer' }) as const;

async function until(condition: () => boolean): Promise<void> {
  for (let waited = 0; !condition(); waited += 5) {
    if (waited > 5000) throw new Error('the condition was not met within 5 s');
    await sleep(5);
  }
}

/** An attempt that never ends for jobs of the lane `dead` before `release` is called. */
function deadLane() {
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  return {
    release: () => release(),
    async attempt({ id, lane }: StoredJob) {
      attempted.push(id);
      if (lane === 'dead') await released;
      return { outcome: 'done' } as const;
    },
  };
}

describe('the queue', () => {
  it('completes every job that is due, and leaves the others', async () => {
    store.add(...jobs('a', 3));
    clock.advance({ seconds: -10 });
    store.add({ id: 'early', lane: 'a' });
    Object.assign(store.rows.get('early') ?? {}, { nextTryAt: new Date(clock.now().getTime() + 60_000) });
    clock.advance({ seconds: 10 });
    expect(await queue().run()).toBe(3);
    expect(attempted.sort()).toEqual(['a-0', 'a-1', 'a-2']);
    expect(await queue().run()).toBe(0);
  });

  it('completes more jobs than it reads at once', async () => {
    store.add(...jobs('a', 120), ...jobs('b', 120));
    expect(await queue().run()).toBe(240);
  });

  it('delays no lane for one whose destination does not respond, even behind many of its jobs', async () => {
    store.add(...jobs('dead', 1000), ...jobs('live', 5));
    const dead = deadLane();
    const running = queue({ attempt: dead.attempt }).run();
    await until(() => attempted.filter((id) => id.startsWith('live')).length === 5);
    expect(attempted.filter((id) => id.startsWith('dead'))).toHaveLength(2);
    dead.release();
    expect(await running).toBe(1005);
  });

  it('starts a job that comes in while it waits for a slow one', async () => {
    store.add(...jobs('dead', 1));
    const dead = deadLane();
    const one = queue({ attempt: dead.attempt });
    const running = one.run();
    await until(() => attempted.length === 1);
    store.add({ id: 'new', lane: 'live' });
    one.wake();
    await until(() => attempted.includes('new'));
    store.add({ id: 'of another instance', lane: 'live' });
    await until(() => attempted.includes('of another instance'));
    dead.release();
    await running;
  });

  it('attempts no more jobs at once than a lane and all lanes together allow', async () => {
    const running = new Map<string, number>();
    const most = { lane: 0, total: 0 };
    for (const lane of ['a', 'b', 'c', 'd']) store.add(...jobs(lane, 10));
    await queue({
      concurrency: { lane: () => 2, total: 5 },
      async attempt({ lane }) {
        running.set(lane, (running.get(lane) ?? 0) + 1);
        most.lane = Math.max(most.lane, ...running.values());
        most.total = Math.max(
          most.total,
          [...running.values()].reduce((sum, count) => sum + count, 0),
        );
        await sleep(2);
        running.set(lane, (running.get(lane) ?? 0) - 1);
        return { outcome: 'done' };
      },
    }).run();
    expect(most).toEqual({ lane: 2, total: 5 });
  });

  it('attempts each job once when two instances run at the same time', async () => {
    store.add(...jobs('a', 60), ...jobs('b', 60));
    const counts = await Promise.all([queue().run(), queue().run(), queue().run()]);
    expect(attempted.sort()).toEqual([...store.rows.keys()].sort());
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(120);
  });

  it('retries with growing pauses, and keeps the reason', async () => {
    store.add({ id: 'one', lane: 'a' });
    const failingQueue = queue({ attempt: failing });
    for (const seconds of [10, 20, 40, 80]) {
      expect(await failingQueue.run()).toBe(1);
      expect(store.rows.get('one')).toMatchObject({ lastError: 'no answer' });
      clock.advance({ seconds: seconds - 1 });
      expect(await failingQueue.run()).toBe(0);
      clock.advance({ seconds: 1 });
    }
    expect([0, 3, 8, 20].map(retryPauseSeconds)).toEqual([10, 80, 2560, 3600]);
  });

  it('retries after an exception', async () => {
    store.add({ id: 'one', lane: 'a' });
    await queue({ attempt: () => Promise.reject(new Error('connection refused')) }).run();
    expect(store.rows.get('one')).toMatchObject({ tries: 1, lastError: 'connection refused' });
  });

  it('gives a job up after its last try, and keeps it as a dead letter', async () => {
    store.add({ id: 'one', lane: 'a', tries: 2 });
    const outcomes: string[] = [];
    await queue({ attempt: failing, maxTries: 3, onOutcome: (_job, outcome) => outcomes.push(outcome) }).run();
    expect(store.rows.get('one')).toMatchObject({ tries: 3, failedAt: clock.now(), lastError: 'no answer' });
    clock.advance({ days: 1 });
    expect(await queue().run()).toBe(0);
    expect(outcomes).toEqual(['given-up']);
  });

  it('gives a job up at once when its attempt says so', async () => {
    store.add({ id: 'one', lane: 'a' });
    await queue({ attempt: async () => ({ outcome: 'give-up', reason: '550 no such user' }) }).run();
    expect(store.rows.get('one')).toMatchObject({ failedAt: clock.now(), lastError: '550 no such user' });
  });

  it('gives an expired job up without another attempt', async () => {
    store.add({ id: 'one', lane: 'a' });
    await queue({ expiresAt: () => clock.now() }).run();
    expect(attempted).toEqual([]);
    expect(store.rows.get('one')).toMatchObject({ failedAt: clock.now(), lastError: 'expired' });
  });

  it('leaves the rest of a lane for the next run when the destination takes nothing', async () => {
    store.add(...jobs('down', 50), ...jobs('live', 5));
    await queue({
      async attempt({ id, lane }) {
        attempted.push(id);
        if (lane === 'down') return { outcome: 'retry', reason: 'no server', closesLane: true };
        return { outcome: 'done' };
      },
    }).run();
    expect(attempted.filter((id) => id.startsWith('down'))).toHaveLength(2);
    expect(attempted.filter((id) => id.startsWith('live'))).toHaveLength(5);
  });

  it('begins no attempt after an abort, and waits for those under way', async () => {
    store.add(...jobs('dead', 10), ...jobs('live', 1));
    const dead = deadLane();
    const stopping = new AbortController();
    let hasEnded = false;
    const running = queue({ attempt: dead.attempt })
      .run(stopping.signal)
      .finally(() => {
        hasEnded = true;
      });
    await until(() => attempted.length === 3);
    stopping.abort();
    await sleep(20);
    expect(hasEnded).toBe(false);
    dead.release();
    expect(await running).toBe(3);
    expect(attempted).toHaveLength(3);
  });

  it('attempts a job of a killed instance once its lease has run out', async () => {
    store.add({ id: 'one', lane: 'a' });
    void queue({ attempt: () => new Promise(() => {}) }).run(); // never comes back, as after kill -9
    await until(() => store.rows.get('one')?.tries === 1);
    clock.advance({ seconds: 59 });
    expect(await queue().run()).toBe(0);
    clock.advance({ seconds: 1 });
    expect(await queue().run()).toBe(1);
    expect(store.rows.get('one')).toMatchObject({ tries: 2, doneAt: clock.now() });
  });

  it('does not undo the work of the instance that took over an expired lease', async () => {
    store.add({ id: 'one', lane: 'a' });
    let fail = () => {};
    const slow = queue({
      attempt: () =>
        new Promise((_resolve, reject) => {
          fail = () => reject(new Error('too late'));
        }),
    }).run();
    await until(() => store.rows.get('one')?.tries === 1);
    clock.advance({ seconds: 61 });
    await queue().run();
    fail();
    await slow;
    expect(store.rows.get('one')).toMatchObject({ doneAt: expect.any(Date), lastError: null });
  });

  it('retries after the usual pauses when the clock was set forward and back', async () => {
    clock.set({ hours: 1 });
    store.add({ id: 'one', lane: 'a' });
    await queue({ attempt: failing }).run();
    clock.set({ hours: -1 });
    const later = queue();
    await later.clockSetBack();
    expect(await later.run()).toBe(0); // a claim is good for its lease
    clock.advance({ seconds: 60 });
    expect(await later.run()).toBe(1);
  });

  it('counts each outcome for the metrics', async () => {
    store.add({ id: 'done', lane: 'a' }, { id: 'retried', lane: 'b' }, { id: 'given-up', lane: 'c' });
    const outcomes: string[] = [];
    await queue({
      async attempt({ id }) {
        if (id === 'done') return { outcome: 'done' };
        return { outcome: id === 'retried' ? 'retry' : 'give-up', reason: 'x' };
      },
      onOutcome: ({ id }, outcome) => outcomes.push(`${id}: ${outcome}`),
    }).run();
    expect(outcomes.sort()).toEqual(['done: done', 'given-up: given-up', 'retried: retried']);
  });

  it('rejects when the table fails, after the attempts under way', async () => {
    store.add(...jobs('a', 3));
    store.complete = () => Promise.reject(new Error('the database is gone'));
    await expect(queue().run()).rejects.toThrow('the database is gone');
    store.due = () => Promise.reject(new Error('the database is gone'));
    await expect(queue().run()).rejects.toThrow('the database is gone');
  });

  it('stores that a message was sent as soon as the database is back, so that it is not sent again', async () => {
    store.add(...jobs('a', 1));
    const { complete } = store;
    let failures = 2;
    store.complete = async (job) => {
      failures -= 1;
      if (failures >= 0) throw new DatabaseUnavailable('no answer');
      await complete(job);
    };
    expect(await queue().run()).toBe(1);
    clock.advance({ minutes: 5 });
    expect(await queue().run()).toBe(0);
    expect(attempted).toEqual(['a-0']);
  });

  it('leaves a result that cannot be stored when the instance stops, and another instance attempts the job after the lease', async () => {
    store.add(...jobs('a', 1));
    const stopping = new AbortController();
    const { complete } = store;
    store.complete = async () => {
      stopping.abort();
      throw new DatabaseUnavailable('no answer');
    };
    await expect(queue().run(stopping.signal)).rejects.toThrow(DatabaseUnavailable);
    store.complete = complete;
    expect(await queue().run()).toBe(0);
    clock.advance({ seconds: 61 });
    expect(await queue().run()).toBe(1);
  });
});
