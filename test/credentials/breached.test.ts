// Known passwords: the built-in list, the range API and the strength meter.

import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Writable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createLogger } from '../../src/base/platform/logger.ts';
import { createBreached } from '../../src/people/credentials/breached.ts';
import { createStrengthMeter } from '../../src/people/credentials/strength.ts';
import { servicesOf } from '../support/services-of.ts';
import { turnsDuring } from './event-loop.ts';

const strength = createStrengthMeter();
afterAll(() => strength.close());

const log: string[] = [];
const destination = new Writable({ write: (line, _encoding, done) => done(void log.push(String(line))) });
const logger = createLogger({ level: 'info', format: 'json', destination });

describe('the built-in list', () => {
  const breached = createBreached({ ...servicesOf({ logger }), strength });

  test.each([
    '123456789987654321',
    'passwordpassword',
    'PasswordPassword',
    'ｐassword1',
    'password1234567890',
    'qwerty123456789',
    'monkeymonkeymonkey',
    'dragondragon',
    'iloveyou',
    'password password password',
    'Letmein-Letmein-Letmein!',
    '  iloveyou  ',
  ])('holds %s', async (password) => {
    expect(await breached.check(password)).toBe('common');
  });

  test.each([
    'correct horse battery staple',
    'a walk along the river',
    '馬電池正確釘書針',
    '',
    'x',
    'toString',
    '__proto__',
  ])('does not hold %j', async (password) => expect(await breached.check(password)).toBe('clean'));
});

describe('the range look-up', () => {
  let mode: 'answer' | 'error' | 'hang' | 'redirect' = 'answer';
  const requests: string[] = [];
  const known = 'a password that was stolen';
  const suffix = (password: string) => createHash('sha1').update(password).digest('hex').toUpperCase().slice(5);
  const server = createServer((request, response) => {
    requests.push(`${request.url} ${request.headers['add-padding']}`);
    if (mode === 'hang') return;
    if (mode === 'redirect') return void response.writeHead(302, { location: '/elsewhere' }).end();
    const padded = suffix('this one is padding only');
    response.writeHead(mode === 'error' ? 503 : 200);
    response.end(`${'0'.repeat(35)}:12\r\n${suffix(known)}:3\r\n${padded}:0\r\n`);
  });
  const url = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}/range/`;
  beforeAll(() => new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve)));
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });
  const check = (password: string, timeoutMs?: number) =>
    createBreached({
      ...servicesOf({ logger }),
      ...(timeoutMs && { timeoutMs }),
      strength,
      rangeFetch: fetch,
      rangeUrl: url(),
    }).check(password);

  test('sends five characters of the hash, and does not count padding as a match', async () => {
    expect(await check(known)).toBe('breached');
    expect(await check('this one is padding only')).toBe('clean');
    expect(await check('this one was never stolen')).toBe('clean');
    expect(requests).toHaveLength(3);
    for (const line of requests) expect(line).toMatch(/^\/range\/[0-9A-F]{5} true$/);
  });

  test.each(['error', 'redirect', 'hang'] as const)(
    'accepts the password and logs the failure of the service on %s',
    async (failure) => {
      mode = failure;
      log.length = 0;
      expect(await check(known, failure === 'hang' ? 50 : undefined)).toBe('clean');
      expect(log.join('')).toContain('could not be reached');
      expect(log.join('')).not.toContain(known);
    },
  );

  test('is not used for passwords of the built-in list', async () => {
    requests.length = 0;
    expect(await check('passwordpassword')).toBe('common');
    expect(requests).toEqual([]);
  });
});

describe('the strength meter', () => {
  test.each([
    ['password', 0, /used|common/],
    ['P@ssw0rd1234567', 1, /common/],
    ['zaphodbeeblebrox', 1, /name/],
  ])('explains the weakness of %s', async (password, most, advice) => {
    const { score, advice: sentences } = await strength.estimate(password, ['zaphodbeeblebrox', '']);
    expect(score).toBeLessThanOrEqual(most);
    expect(sentences.join(' ')).toMatch(advice);
  });

  test('has no advice for a good password', async () => {
    expect(await strength.estimate('plum wagon thirsty orbit')).toEqual({ score: 4, label: 'strong', advice: [] });
  });

  test('does not block the event loop, whatever the input', async () => {
    await strength.estimate('warm up');
    // The estimate takes a quarter of a second at full length.
    const turns = await turnsDuring(strength.estimate('qwertyuiopasdfghjklzxcvbnm1234567890'.repeat(7), ['alice']));
    expect(turns, 'turns of the event loop').toBeGreaterThan(50);
  });
});
