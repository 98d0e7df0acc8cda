// What keeps the session of a person at a website from its idle limit. On SQLite alone, because it locks the file.
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { limits } from '../../src/base/limits.ts';
import { connectSqlite } from '../../src/base/storage/sqlite/connections.ts';
import { type TestClock, testClock } from '../support/clock.ts';
import { aUser } from '../support/factories.ts';
import { type HttpClient, httpClient } from '../support/http.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';
import { openWebsite, type Website, website } from '../support/website.ts';

let clock: TestClock;
let idp: TestIdp;
let site: Website;

beforeAll(async () => {
  clock = testClock(new Date());
  idp = await startIdp({ now: clock.now, databaseLimits: { ...limits.database, lockMs: 100 } });
  site = await website('caddy', () => idp.issuer, ['Remote-User']);
  await idp.services.applications.createProxied({ name: 'Wiki', url: site.origin, proxy: 'caddy' });
});
afterAll(async () => {
  await site?.close();
  await idp?.stop();
});

async function aVisit() {
  const user = await aUser(idp.services);
  const browser = httpClient();
  await openWebsite(browser, site.origin, '/', user);
  const [{ uid } = expect.fail()] = await idp.services.sessions.list(user.account.id);
  const idleEnd = async () => (await idp.services.sessions.find(uid))?.idleExpiresAt.getTime() ?? 0;
  return { browser, idleEnd };
}

const open = async (browser: HttpClient) => (await browser.get(`${site.origin}/`)).status;

describe('a session at a website', () => {
  it('is used while the database takes no writes, and recorded afterwards', async () => {
    const { browser, idleEnd } = await aVisit();
    clock.advance({ minutes: 5 });
    const before = await idleEnd();
    const other = await connectSqlite((idp.environment.DATABASE_URL ?? '').slice('file:'.length));
    await other.executeScript('BEGIN IMMEDIATE');
    try {
      expect(await open(browser)).toBe(200);
      await vi.waitFor(() => expect(idp.log.join()).toContain('the use of a session was not recorded'));
    } finally {
      await other.executeScript('ROLLBACK');
      await other.dispose();
    }
    await vi.waitFor(async () => {
      expect(await open(browser)).toBe(200);
      expect(await idleEnd()).toBeGreaterThan(before);
    }, 20_000);
  });

  it('goes on while its user changes something on a page of it, and not by what pages read or others send', async () => {
    const { browser, idleEnd } = await aVisit();
    const send = (method: string, from: string) =>
      browser.request(method, `${site.origin}/api/save`, {
        headers: { accept: '*/*', 'sec-fetch-mode': 'cors', 'sec-fetch-site': from },
      });
    for (const [method, from] of [
      ['GET', 'same-origin'],
      ['POST', 'cross-site'],
      ['POST', 'same-site'],
    ] as const) {
      clock.advance({ minutes: 5 });
      const before = await idleEnd();
      expect((await send(method, from)).status).toBe(200);
      expect(await idleEnd()).toBe(before);
    }
    for (let minutes = 0; minutes < 120; minutes += 40) {
      clock.advance({ minutes: 40 });
      const before = await idleEnd();
      expect((await send('POST', 'same-origin')).status).toBe(200);
      await vi.waitFor(async () => expect(await idleEnd()).toBeGreaterThan(before), 20_000);
    }
  });
});
