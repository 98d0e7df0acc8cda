// Known and trusted browsers.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Account } from '../../src/people/accounts/account.ts';
import { together } from '../accounts/fixture.ts';
import { type FactorsFixture, openFactors } from './fixture.ts';

let fixture: FactorsFixture;
let account: Account;
beforeAll(async () => {
  fixture = await openFactors();
});
afterAll(() => fixture.close());
beforeEach(async () => {
  account = await fixture.person();
});

describe('a browser', () => {
  test('is new once for each account', async () => {
    const { knownBrowsers } = fixture;
    const other = await fixture.person();
    const { id, isNew, cookie } = await knownBrowsers.remember(undefined, account.id);
    expect(isNew).toBe(true);
    expect(await knownBrowsers.recognize(cookie, account.id)).toEqual({ id, isTrusted: false });
    expect(await knownBrowsers.remember(cookie, account.id)).toEqual({ id, isTrusted: false, isNew: false, cookie });
    expect(await knownBrowsers.recognize(cookie, other.id)).toBeUndefined();
    expect((await knownBrowsers.remember(cookie, other.id)).isNew).toBe(true);
  });

  test('gets a new cookie for each account, which is not valid for another', async () => {
    const { knownBrowsers } = fixture;
    const other = await fixture.person();
    const first = await knownBrowsers.remember(undefined, account.id, { trustDays: 14 });
    const both = await knownBrowsers.remember(first.cookie, other.id, { trustDays: 14 });
    expect(both.cookie).not.toBe(first.cookie);
    expect(await knownBrowsers.recognize(first.cookie, other.id)).toBeUndefined();
    // Each is still known to the browser that both use.
    expect(await knownBrowsers.recognize(both.cookie, account.id)).toEqual({ id: first.id, isTrusted: true });
    expect(await knownBrowsers.recognize(both.cookie, other.id)).toEqual({ id: both.id, isTrusted: true });
    // What the other person could copy meanwhile ends when the first one is back.
    const back = await knownBrowsers.remember(both.cookie, account.id);
    expect(await knownBrowsers.recognize(both.cookie, account.id)).toBeUndefined();
    expect(await knownBrowsers.recognize(back.cookie, account.id)).toEqual({ id: first.id, isTrusted: true });
  });

  test('rejects a token that an attacker planted', async () => {
    const { knownBrowsers } = fixture;
    const planted = 'p'.repeat(43);
    const { cookie } = await knownBrowsers.remember(planted, account.id, { trustDays: 14 });
    expect(await knownBrowsers.recognize(planted, account.id)).toBeUndefined();
    expect(await knownBrowsers.recognize(cookie, account.id)).toMatchObject({ isTrusted: true });
  });

  test('remembers the last five accounts', async () => {
    const { knownBrowsers } = fixture;
    const people = [];
    let cookie: string | undefined;
    for (let index = 0; index < 6; index += 1) {
      const person = await fixture.person();
      people.push(person);
      cookie = (await knownBrowsers.remember(cookie, person.id)).cookie;
    }
    const [first, ...lastFive] = people;
    expect(await knownBrowsers.recognize(cookie, first?.id ?? '')).toBeUndefined();
    for (const { id } of lastFive) expect(await knownBrowsers.recognize(cookie, id)).toBeDefined();
  });

  test('has a cookie that works after two tabs finish at the same moment', async () => {
    const { knownBrowsers } = fixture;
    const { cookie } = await knownBrowsers.remember(undefined, account.id);
    const results = await together(8, () => knownBrowsers.remember(cookie, account.id, { trustDays: 14 }));
    for (const result of results) expect(await knownBrowsers.recognize(result.cookie, account.id)).toBeDefined();
  });

  test('is forgotten after half a year without use, or on request', async () => {
    const { knownBrowsers, clock } = fixture;
    const { id, cookie } = await knownBrowsers.remember(undefined, account.id);
    clock.advance({ days: 179 });
    await knownBrowsers.remember(cookie, account.id);
    clock.advance({ days: 179 });
    expect(await knownBrowsers.recognize(cookie, account.id)).toBeDefined();
    clock.advance({ days: 2 });
    expect(await knownBrowsers.recognize(cookie, account.id)).toBeUndefined();
    const again = await knownBrowsers.remember(cookie, account.id);
    expect(again.id).not.toBe(id);
    expect(await knownBrowsers.forget(account.id)).toBe(2);
    expect(await knownBrowsers.recognize(again.cookie, account.id)).toBeUndefined();
  });

  test.each(['', 'x', 'a\0b', "' OR 1=1", 'a'.repeat(1e5), undefined])('is not recognized by %.20j', async (value) => {
    expect(await fixture.knownBrowsers.recognize(value, account.id)).toBeUndefined();
  });

  test('is stored as a hash, and listed with address and time', async () => {
    const request = { requestId: 'r', address: '192.0.2.4', userAgent: 'Mozilla/5.0 (X11)' };
    const { id, cookie } = await fixture.knownBrowsers.remember(undefined, account.id, { request });
    expect(JSON.stringify(await fixture.db.asStored.knownBrowser.findMany())).not.toContain(cookie);
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
  test('gives the cookie a new value, so that an earlier copy is not valid', async () => {
    const { knownBrowsers } = fixture;
    const before = await knownBrowsers.remember(undefined, account.id);
    const after = await knownBrowsers.remember(before.cookie, account.id, { trustDays: 14 });
    expect(after).toMatchObject({ id: before.id, isTrusted: true, isNew: false });
    expect(await knownBrowsers.recognize(before.cookie, account.id)).toBeUndefined();
    expect(await knownBrowsers.recognize(after.cookie, account.id)).toEqual({ id: before.id, isTrusted: true });
  });

  test('lasts thirty days at most, and ends with a password change', async () => {
    const { knownBrowsers, clock } = fixture;
    let { cookie } = await knownBrowsers.remember(undefined, account.id, { trustDays: 90 });
    const isTrusted = async () => (await knownBrowsers.recognize(cookie, account.id))?.isTrusted;
    clock.advance({ days: 29, hours: 23 });
    expect(await isTrusted()).toBe(true);
    clock.advance({ hours: 1 });
    expect(await isTrusted()).toBe(false);
    cookie = (await knownBrowsers.remember(cookie, account.id, { trustDays: 1 })).cookie;
    expect(await isTrusted()).toBe(true);
    await knownBrowsers.endTrust(account.id);
    expect(await isTrusted()).toBe(false);
    expect(await knownBrowsers.recognize(cookie, account.id)).toBeDefined();
  });
});
