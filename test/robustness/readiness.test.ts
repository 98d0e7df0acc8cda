// What /readyz says at the limits: before the start is complete, with no space left, and when one check is disturbed for a moment.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import path from 'node:path';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { openDatabase } from '../../src/base/storage/database.ts';
import { DatabaseUnavailable } from '../../src/base/storage/unavailable.ts';
import { readinessChecks } from '../../src/server/readiness.ts';
import { testFolder } from '../support/database/database.ts';
import { httpClient } from '../support/http.ts';
import { freePort, startIdp } from '../support/idp.ts';
import { programArguments } from '../support/program.ts';

interface Ready {
  status: string;
  checks: Record<string, string>;
  reasons?: Record<string, string>;
  warnings?: Record<string, string>;
}

it('is not ready before the first administrator exists, and says that it is starting', async () => {
  const port = await freePort();
  const folder = testFolder();
  const issuer = `http://localhost:${port}`;
  const child = spawn(process.execPath, programArguments('main'), {
    env: { PATH: process.env.PATH, DATA_DIR: folder, PORT: String(port), ISSUER: issuer, LOG_FORMAT: 'json' },
    stdio: 'ignore',
  });
  const ended = once(child, 'exit');
  onTestFinished(async () => {
    child.kill('SIGTERM');
    await ended;
  });
  const before = new Set<string>();
  const ready = async () => {
    const page = await httpClient(issuer)
      .get('/readyz')
      .catch(() => undefined);
    if (page && page.status !== 200) before.add(page.json<Ready>().status);
    return page?.status;
  };
  await expect.poll(ready, { interval: 5, timeout: 60_000 }).toBe(200);
  const { db, close } = await openDatabase(`file:${path.join(folder, 'gatehouse.db')}`);
  expect(await db.user.count()).toBe(1);
  await close();
  expect([...before]).toEqual(['starting']);
});

describe('the checks of /readyz', () => {
  afterEach(() => {
    vi.restoreAllMocks();
    syncBuiltinESMExports();
  });

  /** A server on a disk with so many bytes free. */
  async function readyWith(free: number): Promise<{ status: number } & Ready> {
    const idp = await startIdp();
    const real = fs.statfsSync;
    vi.spyOn(fs, 'statfsSync').mockImplementation(((folder: string) => ({
      ...real(folder),
      bsize: 4096,
      blocks: 1_000_000,
      bavail: free / 4096,
    })) as never);
    syncBuiltinESMExports();
    const page = await httpClient(idp.issuer).get('/readyz');
    await idp.stop();
    return { ...page.json<Ready>(), status: page.status } as never;
  }

  it('names a disk with little space as a warning, and stays ready', async () => {
    expect(await readyWith(400 * 1024 * 1024)).toMatchObject({
      status: 200,
      checks: { database: 'ok', disk: 'warning' },
      warnings: { disk: '400 MB free, less than MIN_FREE_MB (500)' },
    });
  });

  it('fails on a full disk', async () => {
    const { status, checks, reasons, warnings } = await readyWith(0);
    expect({ status, disk: checks.disk, reasons, warnings }).toEqual({
      status: 503,
      disk: 'failed',
      warnings: undefined,
      reasons: { disk: 'disk full' },
    });
  });

  it('does not fail for a schema that could not be read once, and has one reason for one fault', async () => {
    const idp = await startIdp();
    const { services } = idp;
    onTestFinished(() => idp.stop());
    const faults: unknown[] = [];
    let written: () => Promise<{ count: number }> = async () => ({ count: 1 });
    const db = {
      jobLock: { updateMany: () => written() },
      $queryRawUnsafe: async () => {
        const fault = faults.shift();
        if (fault) throw fault;
        return [];
      },
    };
    const log: string[] = [];
    const logger = { error: (...line: unknown[]) => void log.push(JSON.stringify(line)), warn: () => {} };
    const checksOf = () => readinessChecks({ ...services, db, logger } as never);
    const busy = () => new DatabaseUnavailable('busy');

    faults.push(busy());
    expect(await checksOf().schema?.()).toBe(true);

    // All connections are taken by queries that get no answer: the pool can only say that it is busy.
    written = () => Promise.reject(new DatabaseUnavailable('no answer'));
    faults.push(busy());
    expect(await checksOf().schema?.()).toEqual({ passed: false, reason: 'no answer' });

    written = async () => ({ count: 1 });
    faults.push(new Error('relation does not exist'), new Error('relation does not exist'));
    expect(await checksOf().schema?.()).toEqual({ passed: false, reason: 'failed' });
    expect(log).toEqual([expect.stringContaining('the schema of the database could not be read')]);
  });
});
