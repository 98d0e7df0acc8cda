import { Writable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { createLogger, type Logger } from '../../src/base/platform/logger.ts';

function loggerTo(lines: string[], format: 'json' | 'pretty' = 'json'): Logger {
  const destination = new Writable({
    write: (chunk, _encoding, done) => {
      lines.push(String(chunk));
      done();
    },
  });
  return createLogger({ level: 'info', format, destination });
}

describe('logger', () => {
  it.each([
    'password',
    'newPassword',
    'Authorization',
    'client_secret',
    'refreshToken',
    'SAMLResponse',
    'Set-Cookie',
    'privateSealed',
    '_csrf',
  ])('removes the value of %s at any depth', (key) => {
    const lines: string[] = [];
    loggerTo(lines).info({ request: { body: [{ [key]: 'hunter2' }] } }, 'request');
    expect(lines.join()).not.toContain('hunter2');
    expect(lines.join()).toContain('[removed]');
  });

  it('removes one-time and authorization codes but keeps error codes', () => {
    const lines: string[] = [];
    const logger = loggerTo(lines);
    logger.info({ code: '123456' });
    logger.info({ code: 'kJ9_x-Zt4u8QhLwz3bYcV7mNpRsTdFgH' });
    logger.info({ code: 'user_name_taken' });
    logger.info({ code: 'ECONNREFUSED' });
    expect(lines.map((line) => JSON.parse(line).code)).toEqual([
      '[removed]',
      '[removed]',
      'user_name_taken',
      'ECONNREFUSED',
    ]);
  });

  it('writes an error with its cause and fields, without the secrets in them', () => {
    const lines: string[] = [];
    const error = Object.assign(new Error('outer', { cause: new TypeError('inner') }), {
      detail: { accountId: 'a1', token: 'hunter2' },
    });
    loggerTo(lines).error({ err: error }, 'failed');
    const { err } = JSON.parse(lines[0] ?? '');
    expect(err).toMatchObject({ message: 'outer', detail: { accountId: 'a1', token: '[removed]' } });
    expect(err.cause).toMatchObject({ type: 'TypeError', message: 'inner' });
    expect(err.stack).toContain('logger.test.ts');
  });

  it('writes values that JSON cannot represent', () => {
    const lines: string[] = [];
    const circular: Record<string, unknown> = { id: 5n, key: Buffer.from('hunter2') };
    circular.self = circular;
    loggerTo(lines).info(circular);
    expect(lines.join()).toContain('"id":"5"');
    expect(lines.join()).not.toContain('hunter2');
  });

  it('removes secrets from readable lines too', () => {
    const lines: string[] = [];
    loggerTo(lines, 'pretty').warn({ password: 'hunter2' }, 'careful');
    expect(lines.join()).toContain('careful');
    expect(lines.join()).not.toContain('hunter2');
  });
});
