// A configuration file sent to the API: one that is large, or made to be costly, delays nobody else.
import { beforeAll, describe, expect, it } from 'vitest';
import { limits } from '../../src/base/limits.ts';
import { createFileReader } from '../../src/config-file/file-reader.ts';
import { type ApiCaller, aService } from '../admin/support.ts';
import { turnsDuring } from '../credentials/event-loop.ts';
import { isLongRun } from '../support/long-run.ts';
import { sharedIdp } from '../support/shared-idp.ts';

/** Four thousand in `npm run test:long`: nearly as large as a file may be. */
const MANY = isLongRun ? 4000 : 800;
const people = (count: number) =>
  Array.from(
    { length: count },
    (_, n) => `  - { username: large${n}, email: large${n}@example.com, name: Number ${n}, roles: [user-manager] }\n`,
  ).join('');

let admin: ApiCaller;
beforeAll(async () => {
  admin = await aService(await sharedIdp());
});

const plan = (file: string) => admin.send('POST', '/configuration/plan', file, { 'content-type': 'application/yaml' });
const faultOf = async (file: string) => {
  const response = await plan(file);
  expect(response.status).toBe(400);
  return response.json<{ errors: unknown[] }>().errors[0];
};

describe('the plan of a configuration', () => {
  it('gives other requests their turn while many users are read, compared and written', async () => {
    const file = `users:\n${people(MANY)}`;
    if (isLongRun) expect(file.length).toBeGreaterThan(limits.configuration.bodyBytes * 0.7);
    const { fileReader, configFile } = (await sharedIdp()).services;
    let read: Awaited<ReturnType<typeof fileReader.read>> | undefined;
    const reading = fileReader.read(file).then((parsed) => {
      read = parsed;
    });
    // A piece of 50 users leaves the thread.
    expect(await turnsDuring(reading), 'turns while it is read').toBeGreaterThan(MANY / 40);
    if (!read) throw new Error('nothing was read');
    expect(read.declared.users).toHaveLength(MANY);
    const planning = configFile.plan({ ...read, path: '' }, { hidesSecrets: true });
    // One for each 4 users of the last step, and for each 25 of those before.
    expect(await turnsDuring(planning), 'turns while it is planned').toBeGreaterThan(MANY / 4);
    const response = await plan(file);
    expect(response.status).toBe(200);
    expect(response.json<{ create: unknown[] }>().create).toHaveLength(MANY);
  });

  it('is rejected with 413 when the file is larger than the proxies let through', async () => {
    const response = await plan(`# ${'x'.repeat(limits.configuration.bodyBytes)}`);
    expect(response.status).toBe(413);
  });

  it.each([
    [
      'aliases of aliases',
      `a: &a [x, x]\n${[...'bcdefgh'].map((to, n) => `${to}: &${to} [${`*${'abcdefg'[n]},`.repeat(9)}]`).join('\n')}`,
    ],
    ['one long text, a hundred times', `a: &a ${'x'.repeat(100_000)}\nb: [${'*a,'.repeat(99)}]`],
  ])('is rejected for %s', async (_, file) => {
    expect(await faultOf(file)).toMatchObject({ message: expect.stringContaining('too many aliases') });
  });

  it.each([
    ['a list in itself', 'users: &a [*a]'],
    ['forty levels', `users: ${'['.repeat(40)}${']'.repeat(40)}`],
    ['a hundred thousand levels', `users: ${'['.repeat(100_000)}${']'.repeat(100_000)}`],
  ])('is rejected for %s', async (_, file) => {
    expect(await faultOf(file)).toMatchObject({ message: expect.stringContaining('nested more than 32 levels deep') });
  });

  it('names the line of a fault that only the database shows', async () => {
    const { services } = await sharedIdp();
    const holder = await services.accounts.create({ username: 'holder-of-a-line' });
    const other = await services.accounts.create({ username: 'other-of-a-line' });
    const file = `users:\n  - username: ${holder.username}\n    sub: ${other.id}\n`;
    expect(await faultOf(file)).toMatchObject({
      path: 'users[0].username',
      line: 2,
    });
  });
});

describe('the reader of configuration files', () => {
  it('rejects one more file with 503 and Retry-After when its queue is full', async () => {
    const reader = createFileReader({ maxWaiting: 2 });
    const results = await Promise.allSettled([1, 2, 3].map(() => reader.read('settings: { session_hours: 9 }')));
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected']);
    expect(results[2]).toMatchObject({ reason: { status: 503, headers: { 'Retry-After': '5' } } });
    await reader.close();
  });

  it('ends each file that takes too long', async () => {
    const reader = createFileReader({ timeLimitMs: 1 });
    const [slow, next] = await Promise.allSettled([reader.read(`users:\n${people(4000)}`), reader.read('{}')]);
    for (const ended of [slow, next])
      expect(ended).toMatchObject({
        reason: { status: 400, faults: [{ code: 'costly-time' }] },
      });
    await reader.close();
  });
});
