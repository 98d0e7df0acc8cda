import bcrypt from 'bcryptjs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createPasswords, createQueue } from '../../src/people/credentials/password.ts';
import { createWorker } from '../../src/people/credentials/worker.ts';
import { computeEveryHash } from '../support/hash-cache.ts';
import { turnsDuring } from './event-loop.ts';

computeEveryHash();

describe('the queue', () => {
  test('runs a limited number at a time, in order, and rejects tasks when it is full', async () => {
    const queue = createQueue({ concurrency: 2, maxWaiting: 3 });
    let running = 0;
    let most = 0;
    const order: number[] = [];
    const work = (index: number) => async () => {
      running += 1;
      most = Math.max(most, running);
      await new Promise((resolve) => setTimeout(resolve, 5));
      running -= 1;
      order.push(index);
      if (index === 1) throw new Error('this one fails');
      return index;
    };
    const results = await Promise.allSettled(Array.from({ length: 7 }, (_, index) => queue.run(work(index))));
    expect(results.map(({ status }) => status)).toEqual([
      'fulfilled',
      'rejected',
      'fulfilled',
      'fulfilled',
      'fulfilled',
      'rejected',
      'rejected',
    ]);
    expect(results[6]).toMatchObject({ reason: { code: 'unavailable', status: 503, headers: { 'Retry-After': '3' } } });
    expect(most).toBe(2);
    expect(order).toEqual([0, 1, 2, 3, 4]);
    await expect(queue.run(work(9))).resolves.toBe(9);
  });
});

describe('a flood of sign-ins', () => {
  const passwords = createPasswords({ concurrency: 2, maxWaiting: 10 });
  let hash: string;
  beforeAll(async () => {
    hash = await passwords.hash('the one and only password');
  });
  afterAll(() => passwords.close());

  test('takes the memory of two hashes, and its other sign-ins are rejected', async () => {
    const before = process.memoryUsage().rss;
    let peak = before;
    const watch = setInterval(() => {
      peak = Math.max(peak, process.memoryUsage().rss);
    }, 2);
    const results = await Promise.allSettled(Array.from({ length: 300 }, () => passwords.verify(hash, 'guess')));
    clearInterval(watch);
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(12);
    // 300 hashes at once would take 5.7 GiB.
    expect((peak - before) / 2 ** 20, 'MiB more than before').toBeLessThan(500);
  });

  test('does not block the event loop with imported bcrypt hashes', async () => {
    const stored = bcrypt.hashSync('imported password', 12);
    await passwords.verify(stored, 'starts the thread');
    const checks = Promise.all([1, 2, 3].map(() => passwords.verify(stored, 'imported password')));
    // bcrypt itself takes 300 ms here each time.
    expect(await turnsDuring(checks), 'turns of the event loop').toBeGreaterThan(50);
    expect(await checks).toEqual(Array(3).fill({ ok: true, rehash: true }));
  });
});

describe('the worker thread', () => {
  test('answers each task, reports errors, and starts again after it has ended', async () => {
    const file = new URL('./double-task.mjs', import.meta.url);
    const worker = createWorker<number, number>({ file, maxWaiting: 4 });
    expect(await Promise.all([1, 2, 3].map((task) => worker.run(task)))).toEqual([2, 4, 6]);
    await expect(worker.run(-1)).rejects.toThrow('negative');
    await expect(worker.run(99)).rejects.toThrow('ended');
    expect(await worker.run(21)).toBe(42);
    const results = await Promise.allSettled([1, 2, 3, 4, 5].map((task) => worker.run(task)));
    expect(results[4]).toMatchObject({ status: 'rejected', reason: { code: 'unavailable' } });
    await worker.close();
    expect(await worker.run(4)).toBe(8);
    await worker.close();
  });
});
