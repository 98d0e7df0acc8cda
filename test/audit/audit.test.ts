import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { transaction } from '../../src/base/storage/database.ts';
import { createAudit, limitedJson, withoutSecrets } from '../../src/core/audit/audit.ts';
import { openPeople, type People } from '../accounts/fixture.ts';
import { servicesOf } from '../support/services-of.ts';

let people: People;
beforeAll(async () => {
  people = await openPeople();
});
afterAll(() => people.close());

describe('recording an event', () => {
  test('stores actor, subject, address, user agent, outcome, reason and request id', async () => {
    await people.audit.record({
      type: 'sign-in.password',
      outcome: 'failure',
      reason: 'wrong_password',
      actorId: 'actor',
      subjectId: 'subject-1',
      clientId: 'client',
      request: { requestId: 'req-1', address: '192.0.2.7', userAgent: 'Mozilla/5.0' },
      data: { connection: 'corp' },
    });
    expect(await people.audit.list({ subjectId: 'subject-1' })).toEqual([
      {
        id: expect.any(Number),
        at: people.now(),
        type: 'sign-in.password',
        outcome: 'failure',
        reason: 'wrong_password',
        actorId: 'actor',
        actorApp: null,
        subjectId: 'subject-1',
        clientId: 'client',
        address: '192.0.2.7',
        userAgent: 'Mozilla/5.0',
        requestId: 'req-1',
        data: { connection: 'corp' },
        erasedBy: null,
      },
    ]);
    expect(people.log.find((line) => line.includes('req-1'))).toContain('sign-in.password');
  });

  test('accepts any text in the headers of a client', async () => {
    const request = { requestId: 'req-2', address: '::1', userAgent: `a\0b\ud800\r\nc${'x'.repeat(5000)}` };
    await people.audit.record({ type: 'token.rejected', outcome: 'failure', reason: 'a\0', request });
    const [entry] = await people.audit.list({ requestId: 'req-2' });
    expect(entry?.userAgent).toHaveLength(512);
    expect(entry?.userAgent).toMatch(/^a\ufffdb\ufffd\ufffd\ufffdcx+$/);
  });

  test('wakes the job that seals it, in whichever way it is recorded', async () => {
    const woken: unknown[] = [];
    const audit = createAudit(servicesOf(people), (tx) => void woken.push(tx));
    const event = { type: 'key.removed', outcome: 'success' } as const;
    await transaction(people.db, async (tx) => {
      await audit.record(event, tx);
      await audit.recordWithId(event, tx);
      await audit.recordAll([event], tx);
      expect(woken).toEqual([tx, tx, tx]);
    });
  });

  test('is rolled back with the transaction that it reports', async () => {
    const failing = transaction(people.db, async (tx) => {
      await people.audit.record({ type: 'key.removed', outcome: 'success', subjectId: 'rolled-back' }, tx);
      throw new Error('undone');
    });
    await expect(failing).rejects.toThrow('undone');
    expect(await people.audit.list({ subjectId: 'rolled-back' })).toEqual([]);
  });
});

describe('listing events', () => {
  test('filters the entries and pages from the newest', async () => {
    for (let index = 0; index < 7; index += 1) {
      people.clock.advance({ minutes: 1 });
      const outcome = index % 2 ? 'failure' : 'success';
      await people.audit.record({ type: 'consent.granted', outcome, clientId: 'paged', data: { scopes: index } });
    }
    const indexes = async (filter: object) =>
      (await people.audit.list({ clientId: 'paged', ...filter })).map(({ data }) => data.scopes);
    expect(await indexes({ limit: 3 })).toEqual([6, 5, 4]);
    const last = (await people.audit.list({ clientId: 'paged', limit: 3 })).at(-1);
    expect(await indexes({ before: last?.id, limit: 3 })).toEqual([3, 2, 1]);
    expect(await indexes({ outcome: 'failure' })).toEqual([5, 3, 1]);
    expect(await indexes({ types: ['consent.denied'] })).toEqual([]);
    const from = new Date(people.now().getTime() - 2 * 60_000);
    expect(await indexes({ from })).toEqual([6, 5, 4]);
    expect(await indexes({ until: from })).toEqual([3, 2, 1, 0]);
  });
});

describe('the data of an entry', () => {
  test('has a limit: longer texts and lists are cut, and the entry says how long it was', () => {
    const long = {
      text: 'é'.repeat(1500),
      list: Array.from({ length: 150 }, (_, at) => ({ at, name: 'x'.repeat(1000) })),
    };
    const json = limitedJson(long, 16_384);
    expect(Buffer.byteLength(json)).toBeLessThanOrEqual(16_384);
    expect(JSON.parse(json)).toMatchObject({ truncated: expect.any(Number), list: expect.any(Array) });
    expect(limitedJson({ a: 1 }, 16_384)).toBe('{"a":1}');
    const wide = Object.fromEntries(Array.from({ length: 200 }, (_, at) => [`${at}`.padEnd(2000, 'k'), 1]));
    expect(Buffer.byteLength(limitedJson({ wide, also: wide }, 16_384))).toBeLessThanOrEqual(16_384);
  });

  test('is limited for every event that is recorded', async () => {
    const data = { denied: Array.from({ length: 200 }, () => 'x'.repeat(2000)) };
    await people.audit.record({ type: 'access.evaluated', outcome: 'failure', data });
    const [entry] = await people.audit.list({ types: ['access.evaluated'], limit: 1 });
    expect(JSON.stringify(entry?.data).length).toBeLessThanOrEqual(16_384);
    expect(entry?.data.truncated).toBeGreaterThan(400_000);
  });
});

describe('withoutSecrets', () => {
  const secret = 'hunter2-hunter2';

  test.each([
    'password',
    'newPassword',
    'new_password',
    'Current-Password',
    'clientSecret',
    'client_secret',
    'secret',
    'totpSecret',
    'code',
    'otp',
    'token',
    'access_token',
    'refreshToken',
    'reset_token',
    'recoveryCodes',
    'code_verifier',
    'passwordHash',
    'tokenHash',
    'secretSealed',
    'privateKey',
    'private_jwk',
    'SAMLResponse',
    'assertion',
    'cookie',
    'Authorization',
  ])('removes %s at any depth', (key) => {
    expect(JSON.stringify(withoutSecrets({ a: [{ [key]: secret, kept: 1 }] }))).not.toContain(secret);
    expect(JSON.stringify(withoutSecrets({ a: [{ [key]: [secret], kept: 1 }] }))).not.toContain(secret);
  });

  test('leaves values that are not secret', () => {
    const data = { password: true, errorCode: 'x', token_type: 'Bearer', roles: ['a'], at: null, passkey: 'iPhone' };
    expect(withoutSecrets(data)).toEqual(data);
  });

  test('cuts deep and long values', () => {
    const deep: Record<string, unknown> = {};
    deep.self = deep;
    expect(JSON.stringify(withoutSecrets(deep))).toContain('[deep]');
    expect((withoutSecrets({ text: 'x'.repeat(1e6) }) as { text: string }).text).toHaveLength(2000);
    expect(withoutSecrets({ id: 5n, bytes: new Uint8Array(3) })).toEqual({ id: '5', bytes: '[3 bytes]' });
  });
});
