import { beforeEach, describe, expect, it } from 'vitest';
import { limits } from '../../src/base/limits.ts';
import type { Sender } from '../../src/base/platform/request-info.ts';
import { TooMuchStored, writeOf } from '../../src/base/storage/stored-size.ts';
import { createRateLimits } from '../../src/people/rate-limits/rate-limits.ts';
import { createStorageBudget } from '../../src/people/rate-limits/storage-budget.ts';
import { testClock } from '../support/clock.ts';
import { testDatabase } from '../support/database/database.ts';
import { servicesOf } from '../support/services-of.ts';

const { seconds, sender, site, parts } = limits.storageBudget;
const test = await testDatabase();
const clock = testClock('2026-06-01T12:00:00Z');
const { db, sql } = test.database;
const rateLimits = createRateLimits(servicesOf({ db, sql, now: clock.now }));
const oneProcess = () => createStorageBudget({ ...servicesOf({ now: clock.now }), rateLimits, isEnabled: () => true });
let budget = oneProcess();
beforeEach(async () => {
  budget = oneProcess();
  await db.rateLimit.deleteMany();
  return () => clock.advance({ seconds: 2 * seconds });
});

/** One request that stores a row. */
const store = (address: string, bytes = 100, from?: Sender, of = budget) =>
  of.forRequest(address, () => from)('oidc_artifacts', bytes);
const spend = (address: string, from?: Sender) => {
  for (let count = 0; count < sender.requests; count += 1) store(address, 100, from);
};

describe('the storage budget', () => {
  it('ends after its requests, and is back after its time', () => {
    spend('192.0.2.1');
    expect(() => store('192.0.2.1')).toThrow(TooMuchStored);
    expect(budget.peek('192.0.2.1')).toEqual({ allowed: false, retryAfterSeconds: seconds });
    store('192.0.2.2');
    clock.advance({ seconds });
    store('192.0.2.1');
  });

  it('ends after its bytes; a request that was admitted is not rejected half-way', () => {
    const charge = budget.forRequest('192.0.2.3', () => undefined);
    charge('oidc_artifacts', sender.bytes);
    charge('sign_in_attempts', sender.bytes);
    expect(() => store('192.0.2.3')).toThrow(TooMuchStored);
  });

  it('charges audit entries, rejections and counters, and never rejects them', () => {
    const protection = (table: string, bytes: number) => budget.forRequest('192.0.2.4', () => undefined)(table, bytes);
    protection('audit_events', sender.bytes);
    for (const table of ['audit_events', 'rejections', 'rate_limits']) protection(table, 1);
    expect(() => store('192.0.2.4')).toThrow(TooMuchStored);
  });

  it('is that of the user as soon as there is one, from any address, and limits nobody who is trusted', () => {
    spend('192.0.2.5', { userId: 'alice' });
    store('192.0.2.5');
    store('192.0.2.5', 100, { userId: 'bob' });
    expect(() => store('192.0.2.6', 100, { userId: 'alice' })).toThrow(TooMuchStored);
    for (let count = 0; count < 2 * sender.requests; count += 1) store('192.0.2.7', 100, 'trusted');
  });

  it('is one for an IPv6 network of 64 bits, and a larger one for 48 bits', () => {
    spend('2001:db8:1:1::1');
    expect(() => store('2001:db8:1:1::2')).toThrow(TooMuchStored);
    const networks = site.requests / sender.requests;
    for (let count = 2; count <= networks; count += 1) spend(`2001:db8:1:${count}::1`);
    expect(() => store(`2001:db8:1:${networks + 1}::1`)).toThrow(TooMuchStored);
    store('2001:db8:2:1::1');
  });

  it('is not back early after more networks than a process remembers', () => {
    const site6 = (count: number) => `2001:db8:9:${count.toString(16)}::1`;
    for (let count = 1; count <= site.requests / sender.requests; count += 1) spend(site6(count));
    for (let count = 0; count <= limits.storageBudget.maxSenders; count += 1) budget.peek(site6(count + 16));
    expect(() => store(site6(1), 100)).toThrow(TooMuchStored);
    expect(budget.peek(site6(65_535)).allowed).toBe(false);
  });

  it('is shared by all processes, which report parts of it', async () => {
    const other = oneProcess();
    store('192.0.2.9');
    expect(await rateLimits.count('storage:sender', 'address 192.0.2.9')).toBe(0); // a usual sign-in writes nothing
    spend('192.0.2.8');
    await expect.poll(() => rateLimits.count('storage:sender', 'address 192.0.2.8')).toBe(parts);
    for (let count = 0; count < sender.requests / parts; count += 1) store('192.0.2.8', 100, undefined, other);
    await expect.poll(() => other.peek('192.0.2.8').allowed).toBe(false);
  });
});

describe('the size of a statement', () => {
  it.each([
    ['INSERT INTO `main`.`users` (`id`) VALUES (?)', 'users'],
    ['INSERT INTO "public"."users" ("id") VALUES ($1)', 'users'],
    ['/* one artifact */ INSERT INTO oidc_artifacts\n (id) VALUES (?)', 'oidc_artifacts'],
    ['UPDATE "gatehouse"."sessions" SET a = $1', 'sessions'],
  ])('is that of its values: %s', (text, table) => {
    expect(writeOf(text, ['x'.repeat(1000), 7, new Uint8Array(50)])).toEqual({ table, bytes: 256 + 1000 + 8 + 50 });
  });

  it('is nothing where it stores nothing', () => {
    expect(writeOf('SELECT 1 FROM users', ['x'])).toBeUndefined();
    expect(writeOf('DELETE FROM users', ['x'])).toBeUndefined();
    expect(writeOf('COMMIT', [])).toBeUndefined();
  });
});
