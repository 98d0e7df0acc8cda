import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Database, openDatabase } from '../../src/base/storage/database.ts';
import { createScheduler, type Scheduler } from '../../src/core/jobs/scheduler.ts';
import { type TestClock, testClock } from '../support/clock.ts';
import { type TestDatabase, testDatabase } from '../support/database/database.ts';
import { servicesOf } from '../support/services-of.ts';
import { promptJobs } from '../support/waits.ts';

let test: TestDatabase;
let second: Database;
let clock: TestClock;
const instances: Scheduler[] = [];
const logged: unknown[] = [];
const logger = pino({ level: 'warn' }, { write: (line) => logged.push(JSON.parse(line)) });

beforeAll(async () => {
  promptJobs();
  test = await testDatabase();
  second = await openDatabase(test.url);
});
beforeEach(async () => {
  clock = testClock();
  logged.length = 0;
  await test.database.db.jobLock.deleteMany();
});
afterEach(() => Promise.all(instances.splice(0).map((jobs) => jobs.stop())));
afterAll(async () => {
  await second.close();
  await test.close();
});

function instance(instanceId: string, database = test.database): Scheduler {
  const jobs = createScheduler({ ...servicesOf({ ...clock, db: database.db, logger }), instanceId });
  instances.push(jobs);
  return jobs;
}

async function until(condition: () => boolean): Promise<void> {
  for (let tries = 0; !condition(); tries += 1) {
    if (tries > 400) throw new Error('the condition was not met within 4 s');
    await sleep(10);
  }
}

describe('a scheduled job', () => {
  it('runs on one of two instances at a time', async () => {
    let running = 0;
    let most = 0;
    let runs = 0;
    const run = async () => {
      running += 1;
      most = Math.max(most, running);
      await sleep(30);
      running -= 1;
      runs += 1;
    };
    for (const jobs of [instance('one'), instance('two', second)]) {
      jobs.add({ name: 'sweep', everySeconds: 0.02, run });
      jobs.start();
    }
    await until(() => runs >= 5);
    expect(most).toBe(1);
  });

  it('runs again before its period ends while it has work, on the instance that knows of it', async () => {
    let runs = 0;
    const run = async () => {
      runs += 1;
    };
    const againInSeconds = () => (runs < 3 ? 0.01 : undefined);
    const jobs = instance('one');
    jobs.add({ name: 'retry', everySeconds: 3600, run, againInSeconds });
    jobs.start();
    await until(() => runs === 3);
    await sleep(100);
    expect(runs).toBe(3);
  });

  it('runs once in its period on any number of instances', async () => {
    clock = testClock(new Date()); // stands still, so the period lasts while every instance tries several times
    let runs = 0;
    const run = async () => {
      runs += 1;
    };
    const all = [instance('one'), instance('two', second), instance('three')];
    for (const jobs of all) {
      jobs.add({ name: 'often', everySeconds: 0.05, run });
      jobs.start();
    }
    await until(() => runs > 0);
    await sleep(300);
    expect(runs).toBe(1);
  });

  it('runs again after a failure, which is logged', async () => {
    let runs = 0;
    const jobs = instance('one');
    const run = async () => {
      runs += 1;
      if (runs === 1) throw new Error('the mail server is down');
    };
    jobs.add({ name: 'outbox', everySeconds: 0.02, run });
    jobs.start();
    await until(() => runs >= 3);
    expect(logged).toMatchObject([{ job: 'outbox', msg: 'job failed', err: { message: 'the mail server is down' } }]);
  });

  it('runs when it is woken before its time, but not while it runs on another instance', async () => {
    let runs = 0;
    let release = () => {};
    const [one, two] = [instance('one'), instance('two', second)];
    const run = () =>
      new Promise<void>((resolve) => {
        runs += 1;
        release = resolve;
      });
    for (const jobs of [one, two]) {
      jobs.add({ name: 'outbox', everySeconds: 3600, run });
      jobs.start();
    }
    one.wake('outbox');
    await until(() => runs === 1);
    two.wake('outbox');
    await sleep(100);
    expect(runs).toBe(1);
    one.wake('outbox'); // woken while it runs here, it runs once more afterwards
    release();
    await until(() => runs === 2);
    release();
  });

  it('runs once for several wakes within its delay', async () => {
    let runs = 0;
    const jobs = instance('one');
    const run = async () => {
      runs += 1;
    };
    jobs.add({ name: 'mail', everySeconds: 3600, wakeDelayMs: 200, run });
    jobs.start();
    for (let wake = 0; wake < 3; wake += 1) jobs.wake('mail');
    expect(runs).toBe(0);
    await until(() => runs === 1);
    jobs.wake('mail');
    await until(() => runs === 2);
  });

  it('runs on another instance when the first one was killed', async () => {
    await test.database.db.jobLock.create({
      data: { name: 'outbox', holder: 'killed', lockedUntil: new Date(clock.now().getTime() + 60_000) },
    });
    let runs = 0;
    const run = async () => {
      runs += 1;
    };
    const jobs = instance('one');
    jobs.add({ name: 'outbox', everySeconds: 0.05, run });
    jobs.start();
    await sleep(300);
    expect(runs).toBe(0);
    clock.advance({ seconds: 61 });
    await until(() => runs > 0);
  });

  it('runs on time although the time of its next run was stored before the clock was set back', async () => {
    const runs: string[] = [];
    const jobs = instance('one');
    const run = (name: string) => async () => void runs.push(name);
    jobs.add({ name: 'often', everySeconds: 0.02, run: run('often') });
    jobs.add({ name: 'seldom', everySeconds: 3600, run: run('seldom') });
    const lockedUntil = new Date(clock.now().getTime() + 2 * 3600_000);
    await test.database.db.jobLock.createMany({
      data: ['often', 'seldom'].map((name) => ({ name, holder: '', lockedUntil })),
    });
    jobs.start();
    await until(() => runs.includes('often') && runs.includes('seldom'));
  });

  it('runs once its row did not change for a period, when the clock was set back by a little', async () => {
    clock = testClock(new Date());
    let runs = 0;
    const run = async () => {
      runs += 1;
    };
    const jobs = instance('one');
    jobs.add({ name: 'sweep', everySeconds: 0.02, run });
    const lockedUntil = new Date(clock.now().getTime() + 300_000);
    await test.database.db.jobLock.create({ data: { name: 'sweep', holder: '', lockedUntil } });
    jobs.start();
    await sleep(200);
    expect(runs).toBe(0);
    clock.advance({ seconds: 1 });
    await until(() => runs > 0);
  });

  it('runs in place of an instance that was killed before the clock was set back', async () => {
    clock = testClock(new Date());
    let runs = 0;
    const run = async () => {
      runs += 1;
    };
    const jobs = instance('one');
    jobs.add({ name: 'sweep', everySeconds: 0.02, run });
    const lockedUntil = new Date(clock.now().getTime() + 3600_000);
    await test.database.db.jobLock.create({ data: { name: 'sweep', holder: 'killed', lockedUntil } });
    jobs.start();
    await sleep(200); // it sees the row, which a running instance would renew
    clock.advance({ seconds: 50 });
    await sleep(200);
    expect(runs).toBe(0);
    clock.advance({ seconds: 15 });
    await until(() => runs > 0);
  });

  it('is aborted and awaited when its instance stops, and may run elsewhere at once', async () => {
    let hasEnded = false;
    const jobs = instance('one');
    const run = async (signal: AbortSignal) => {
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      await sleep(50);
      hasEnded = true;
    };
    jobs.add({ name: 'long', everySeconds: 3600, run });
    jobs.start();
    jobs.wake('long');
    await until(() => instances.length > 0);
    await sleep(100);
    await jobs.stop();
    expect(hasEnded).toBe(true);
    const row = await test.database.db.jobLock.findUniqueOrThrow({ where: { name: 'long' } });
    expect(row.lockedUntil.getTime()).toBeLessThanOrEqual(clock.now().getTime());
    jobs.wake('long');
  });

  it('runs again after the database was unavailable, also during a run', async () => {
    const closing = await openDatabase(test.url);
    const jobs = instance('one', closing);
    let runs = 0;
    const run = async () => {
      runs += 1;
    };
    jobs.add({ name: 'sweep', everySeconds: 0.02, run });
    await closing.db.$executeRawUnsafe('ALTER TABLE job_locks RENAME TO job_locks_away');
    jobs.start();
    await until(() => logged.length > 1);
    expect(runs).toBe(0);
    await closing.db.$executeRawUnsafe('ALTER TABLE job_locks_away RENAME TO job_locks');
    await until(() => runs > 0);
    const messages = new Set(logged.map((line) => (line as { msg: string }).msg));
    expect([...messages]).toEqual(['job could not be started']);

    // It goes away during a run, which stays in the table as one that goes on.
    let mailRuns = 0;
    const away = async () => {
      mailRuns += 1;
      if (mailRuns === 1) await closing.db.$executeRawUnsafe('ALTER TABLE job_locks RENAME TO job_locks_away');
    };
    jobs.add({ name: 'mail', everySeconds: 0.02, run: away });
    await until(() => logged.some((line) => (line as { job: string }).job === 'mail'));
    await closing.db.$executeRawUnsafe('ALTER TABLE job_locks_away RENAME TO job_locks');
    await until(() => mailRuns > 1);
    await jobs.stop();
    await closing.close();
  });
});
