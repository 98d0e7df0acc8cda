// Known and trusted browsers.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Account } from '../../src/accounts/account.ts';
import { together } from '../accounts/fixture.ts';
import { type FactorsFixture, openFactors } from './fixture.ts';

let fixture: FactorsFixture;
let account: Account;
let cookie: string;
beforeAll(async () => {
  fixture = await openFactors();
});
afterAll(() => fixture.close());
beforeEach(async () => {
  account = await fixture.person();
  cookie = fixture.knownBrowsers.newCookie();
});

describe('a browser', () => {
  test('is new once, for each account by itself', async () => {
    const { knownBrowsers } = fixture;
    const other = await fixture.person();
    expect(await knownBrowsers.recognise(cookie, account.id)).toBeUndefined();
    const { id, isNew } = await knownBrowsers.remember(cookie, account.id);
    expect(isNew).toBe(true);
    expect(await knownBrowsers.recognise(cookie, account.id)).toEqual({ id, isTrusted: false });
    expect(await knownBrowsers.remember(cookie, account.id)).toEqual({ id, isTrusted: false, isNew: false });
    expect(await knownBrowsers.recognise(cookie, other.id)).toBeUndefined();
    expect((await knownBrowsers.remember(cookie, other.id)).isNew).toBe(true);
  });

  test('is new once when two tabs finish at the same moment', async () => {
    const results = await together(8, () => fixture.knownBrowsers.remember(cookie, account.id));
    expect(results.filter(({ isNew }) => isNew)).toHaveLength(1);
    expect(new Set(results.map(({ id }) => id)).size).toBe(1);
  });

  test('is forgotten after half a year without use, or on request', async () => {
    const { knownBrowsers, clock } = fixture;
    const { id } = await knownBrowsers.remember(cookie, account.id);
    clock.advance({ days: 179 });
    await knownBrowsers.remember(cookie, account.id);
    clock.advance({ days: 179 });
    expect(await knownBrowsers.recognise(cookie, account.id)).toBeDefined();
    clock.advance({ days: 2 });
    expect(await knownBrowsers.recognise(cookie, account.id)).toBeUndefined();
    expect((await knownBrowsers.remember(cookie, account.id)).id).not.toBe(id);
    expect(await knownBrowsers.forget(account.id)).toBe(1);
    expect(await knownBrowsers.recognise(cookie, account.id)).toBeUndefined();
  });

  test.each(['', 'x', 'a\0b', "' OR 1=1", 'a'.repeat(1e5), undefined])('is not recognised by %.20j', async (value) => {
    expect(await fixture.knownBrowsers.recognise(value, account.id)).toBeUndefined();
  });

  test('is stored as a hash, and listed with address and time', async () => {
    const request = { requestId: 'r', address: '192.0.2.4', userAgent: 'Mozilla/5.0 (X11)' };
    const { id } = await fixture.knownBrowsers.remember(cookie, account.id, request);
    expect(JSON.stringify(await fixture.db.knownBrowser.findMany())).not.toContain(cookie);
    expect(await fixture.knownBrowsers.list(account.id)).toEqual([
      {
        id,
        address: '192.0.2.4',
        userAgent: 'Mozilla/5.0 (X11)',
        isTrusted: false,
        createdAt: fixture.now(),
        lastSeenAt: fixture.now(),
      },
    ]);
  });
});

describe('trust', () => {
  test('lasts thirty days, ends with a password change, and is given by the owner only', async () => {
    const { knownBrowsers, clock } = fixture;
    const isTrusted = async () => (await knownBrowsers.recognise(cookie, account.id))?.isTrusted;
    const { id } = await knownBrowsers.remember(cookie, account.id);
    await knownBrowsers.trust('somebody-else', id);
    expect(await isTrusted()).toBe(false);
    await knownBrowsers.trust(account.id, id);
    clock.advance({ days: 29, hours: 23 });
    expect(await isTrusted()).toBe(true);
    clock.advance({ hours: 1 });
    expect(await isTrusted()).toBe(false);
    await knownBrowsers.trust(account.id, id);
    await knownBrowsers.endTrust(account.id);
    expect(await isTrusted()).toBe(false);
    expect(await knownBrowsers.recognise(cookie, account.id)).toBeDefined();
  });
});
