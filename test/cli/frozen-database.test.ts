// Commands on a PostgreSQL that does not answer: each ends with one line when the time for the first answer is over (ten seconds; here two), and
// not after the hour that long work may take.
import { existsSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { exportPostgres } from '../../src/base/storage/backup/export.ts';
import { parseDatabaseUrl } from '../../src/base/storage/database-url.ts';
import { patientLimits } from '../../src/base/storage/open-options.ts';
import { type TcpProxy, tcpProxy } from '../faults/tcp-proxy.ts';
import { databaseKind } from '../support/database/database.ts';
import { commandLine } from './support.ts';

const FIRST_ANSWER_MS = 2000;

describe.runIf(databaseKind() === 'postgresql')('a PostgreSQL that is silent', () => {
  const usual = { ...patientLimits };
  let cli: Awaited<ReturnType<typeof commandLine>>;
  let proxy: TcpProxy;
  let url: string;
  beforeAll(async () => {
    cli = await commandLine();
    Object.assign(patientLimits, { lookMs: FIRST_ANSWER_MS / 2, connectMs: FIRST_ANSWER_MS / 2 });
    const through = new URL(cli.url);
    proxy = await tcpProxy(Number(through.port));
    through.port = String(proxy.port);
    url = through.href;
    expect((await cli.gatehouse(['backup', path.join(cli.folder, 'backup')])).code).toBe(0);
  });
  afterAll(async () => {
    Object.assign(patientLimits, usual);
    await proxy.close();
    await cli.close();
  });

  it.each(['silenceAll', 'silenceAfterLogin'] as const)(
    'ends every command with one line: %s',
    async (fault) => {
      proxy[fault]();
      const file = (name: string) => path.join(cli.folder, name);
      const commands = [
        ['backup', file('never')],
        ['upgrade', 'check'],
        ['restore', '--replace', file('backup')],
        ['user', 'list'],
        ['doctor'],
      ];
      const began = performance.now();
      const ended = await Promise.all(
        commands.map((args) => cli.gatehouse(args, { env: { DATABASE_URL: url, ISSUER: 'http://127.0.0.1:9' } })),
      );
      const waited = performance.now() - began;
      await proxy.serve();
      // The work around the wait takes long on a busy machine.
      expect(waited).toBeLessThan(FIRST_ANSWER_MS + 5000);
      for (const { code, out, err } of ended) {
        expect(code).toBe(1);
        expect(`${out}${err}`).toMatch(/the database cannot be opened \(PostgreSQL at 127\.0\.0\.1:\d+\): no answer/);
        expect(err).not.toMatch(/^\s+at /m);
      }
      expect(existsSync(file('never'))).toBe(false);
    },
    40_000,
  );

  it('ends a backup whose next rows do not come', async () => {
    const location = parseDatabaseUrl(url);
    if (location.kind !== 'postgresql') throw new Error('this is about PostgreSQL');
    const onProgress = () => proxy.silenceConnections();
    const limits = { ...patientLimits, answerMs: 500 };
    const target = path.join(cli.folder, 'half');
    await expect(exportPostgres(location, target, { now: new Date(), limits, onProgress })).rejects.toThrow();
  });
});
