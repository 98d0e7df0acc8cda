// Whose turn it is in the queue of password attempts. The tests end each attempt and let time pass themselves.
import { beforeEach, describe, expect, test } from 'vitest';
import { type AttemptStep, createSignInQueue, type SignInQueue } from '../../src/people/rate-limits/sign-in-queue.ts';
import { realWaits } from '../support/waits.ts';

realWaits();

interface Timer {
  at: number;
  work(): void;
}

let nowMs: number;
let timers: Set<Timer>;
let started: string[];
let results: Map<string, string>;
let end: Map<string, (step: AttemptStep<string>) => void>;

beforeEach(() => {
  nowMs = 0;
  timers = new Set();
  started = [];
  results = new Map();
  end = new Map();
});

const after = (milliseconds: number, work: () => void) => {
  const timer = { at: nowMs + milliseconds, work };
  timers.add(timer);
  return () => void timers.delete(timer);
};
const settle = () => new Promise(setImmediate);
async function pass(milliseconds: number): Promise<void> {
  nowMs += milliseconds;
  for (const timer of [...timers].filter(({ at }) => at <= nowMs)) {
    timers.delete(timer);
    timer.work();
  }
  await settle();
}

/** An attempt `name` from an address, which runs until `finish` is called with its name. */
function enter(queue: SignInQueue, name: string, address: string, isKnownBrowser = false): void {
  const counters = [`address ${address}`];
  const result = queue.run({ address, isKnownBrowser, counters }, () => {
    started.push(name);
    return new Promise<AttemptStep<string>>((resolve) => end.set(name, resolve));
  });
  void result.then((value) => results.set(name, value));
}
async function finish(name: string, step: AttemptStep<string> = { done: 'checked' }): Promise<void> {
  end.get(name)?.(step);
  await settle();
}
/** Ends every attempt as soon as it has begun. */
async function finishAll(): Promise<void> {
  for (let index = 0; index < started.length; index += 1) await finish(started[index] ?? '');
}

describe('the queue of password attempts', () => {
  test('lets addresses take turns', async () => {
    const queue = createSignInQueue({ concurrency: 1, after });
    for (const name of ['a1', 'a2', 'a3', 'a4', 'b1', 'b2', 'c1']) enter(queue, name, name.charAt(0));
    await finishAll();
    expect(started).toEqual(['a1', 'a2', 'b1', 'c1', 'a3', 'b2', 'a4']);
  });

  test('serves known browsers first, and others after four of them', async () => {
    const queue = createSignInQueue({ concurrency: 1, after });
    enter(queue, 'first', 'x');
    for (const name of ['new1', 'new2']) enter(queue, name, 'a');
    for (const name of ['k1', 'k2', 'k3', 'k4', 'k5', 'k6']) enter(queue, name, 'b', true);
    await finishAll();
    expect(started).toEqual(['first', 'k1', 'k2', 'k3', 'k4', 'new1', 'k5', 'k6', 'new2']);
  });

  test('ends the wait of an attempt after five seconds', async () => {
    const queue = createSignInQueue({ concurrency: 1, after });
    enter(queue, 'running', 'a');
    enter(queue, 'waiting', 'a');
    await pass(4999);
    expect(results.size).toBe(0);
    await pass(1);
    expect([...results]).toEqual([['waiting', 'busy']]);
    await finish('running');
    expect(results.get('running')).toBe('checked');
    expect(started).toEqual(['running']);
  });

  test('lets an attempt wait for others in flight, without delaying those that do not depend on them', async () => {
    const queue = createSignInQueue({ concurrency: 2, after });
    enter(queue, 'a1', 'a');
    enter(queue, 'a2', 'a');
    enter(queue, 'b1', 'b');
    await finish('a2', { waitsFor: 'address a' });
    expect(started).toEqual(['a1', 'a2', 'b1']);
    await finish('b1');
    expect(started).toEqual(['a1', 'a2', 'b1']);
    await finish('a1');
    expect(started).toEqual(['a1', 'a2', 'b1', 'a2']);
  });

  test('looks again for the end of attempts on other instances, until its own time is over', async () => {
    const queue = createSignInQueue({ after });
    enter(queue, 'a1', 'a');
    for (let index = 0; index < 50; index += 1) {
      await finish('a1', { waitsFor: 'address a' });
      await pass(100);
    }
    expect(started.length).toBeGreaterThan(40);
    await finish('a1', { waitsFor: 'address a' });
    expect(results.get('a1')).toBe('busy');
  });

  test('is limited: the address with the most waiting attempts loses its newest', async () => {
    const queue = createSignInQueue({ concurrency: 1, maxWaiting: 4, after });
    enter(queue, 'running', 'x');
    for (const name of ['a1', 'a2', 'a3', 'a4', 'b1']) enter(queue, name, name.charAt(0));
    await settle();
    expect([...results]).toEqual([['a4', 'busy']]);
    await finishAll();
    expect(started).toEqual(['running', 'a1', 'b1', 'a2', 'a3']);
  });

  test('goes on after an attempt that throws', async () => {
    const queue = createSignInQueue({ concurrency: 1, after });
    const place = { address: 'a', isKnownBrowser: false, counters: [] };
    const failing = queue.run(place, () => Promise.reject(new Error('no database')));
    enter(queue, 'a1', 'a');
    await expect(failing).rejects.toThrow('no database');
    await finishAll();
    expect(results.get('a1')).toBe('checked');
  });
});
