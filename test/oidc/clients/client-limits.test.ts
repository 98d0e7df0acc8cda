// Rate limits of client authentication and of device flows: 429 with Retry-After, by application and address, on every
// instance.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { testClock } from '../../support/clock.ts';
import { databaseKind } from '../../support/database/database.ts';
import { itOnBothInLongRun, itOnSqlite } from '../../support/database/it-on-sqlite.ts';
import { httpClient, type Page } from '../../support/http.ts';
import { startIdp, type TestIdp } from '../../support/idp.ts';
import { type Application, anApplication, basic } from '../support.ts';

const clock = testClock();
let idp: TestIdp;
let other: TestIdp | undefined;
let app: Application;

beforeAll(async () => {
  idp = await startIdp({ now: clock.now, environment: { TRUST_PROXY: '1' } });
  if (databaseKind() === 'postgresql') {
    other = await startIdp({
      now: clock.now,
      environment: { DATABASE_URL: String(idp.environment.DATABASE_URL), TRUST_PROXY: '1' },
    });
  }
  app = await machine();
});
afterAll(async () => {
  await other?.stop();
  await idp?.stop();
});

const machine = () => anApplication(idp, { redirect_uris: [], grant_types: ['client_credentials'] });
const ask = (
  { clientId, clientSecret }: { clientId: string; clientSecret: string },
  { address, at = idp, path = '/token' }: { address: string; at?: TestIdp; path?: string },
): Promise<Page> =>
  httpClient(at.issuer).post(path, {
    form: { grant_type: 'client_credentials', token: 'x' },
    headers: { authorization: basic(clientId, clientSecret), 'x-forwarded-for': address },
  });
const wrong = ({ clientId }: { clientId: string }) => ({ clientId, clientSecret: 'not the secret that it has' });

async function failUntilLimited(who: { clientId: string }, address: string, path?: string): Promise<Page> {
  for (let times = 0; times < 30; times += 1) {
    const page = await ask(wrong(who), { address, ...(path && { path }) });
    expect([page.status, page.json().error]).toEqual([401, 'invalid_client']);
  }
  return ask(wrong(who), { address, ...(path && { path }) });
}

describe('wrong credentials of an application', () => {
  it('are rejected after thirty failures, and the right ones with them, until the window ends', async () => {
    const limited = await failUntilLimited(app, '192.0.2.1');
    expect(limited.status).toBe(429);
    expect(limited.json()).toMatchObject({ error: 'temporarily_unavailable' });
    expect(Number(limited.headers['retry-after'])).toBeGreaterThan(0);
    expect(Number(limited.headers['retry-after'])).toBeLessThanOrEqual(300);
    expect((await ask(app, { address: '192.0.2.1' })).status).toBe(429);
    for (const path of ['/introspect', '/revoke', '/par'])
      expect((await ask(app, { address: '192.0.2.1', path })).status, path).toBe(429);
    if (other) expect((await ask(app, { address: '192.0.2.1', at: other })).status).toBe(429);
    clock.advance({ minutes: 5 });
    expect((await ask(app, { address: '192.0.2.1' })).status).toBe(200);
  });

  itOnSqlite('do not limit the application at another address, nor another application at the same one', async () => {
    expect((await failUntilLimited(app, '192.0.2.2')).status).toBe(429);
    expect((await ask(app, { address: '192.0.2.3' })).status).toBe(200);
    expect((await ask(await machine(), { address: '192.0.2.2' })).status).toBe(200);
  });

  itOnBothInLongRun.each(['/introspect', '/revoke'])('are counted at %s as well', async (path) => {
    expect((await failUntilLimited(await machine(), '192.0.2.4', path)).status).toBe(429);
  });

  itOnSqlite('are answered in the same way when the application does not exist', async () => {
    const limited = await failUntilLimited({ clientId: 'no-such-client' }, '192.0.2.5');
    expect([limited.status, limited.json().error]).toEqual([429, 'temporarily_unavailable']);
  });

  it('share one count of their address for invented applications, and store one row for all', async () => {
    const address = '192.0.2.15';
    const rows = () => idp.services.db.rateLimit.count();
    const before = await rows();
    const statuses = [];
    for (const path of ['/token', '/introspect', '/revoke', '/par', '/device/code']) {
      for (let count = 0; count < 8; count += 1) {
        const one = { clientId: `invented-${path}-${count}`, clientSecret: 'x' };
        statuses.push((await ask(one, { address, path })).status);
      }
    }
    expect(statuses.filter((status) => status !== 401 && status !== 429)).toEqual([]);
    expect(statuses.at(-1)).toBe(429);
    // The failures, the starts of device flows, and rejections that are stored.
    expect(await rows()).toBeLessThanOrEqual(before + 3);
    expect((await ask(await machine(), { address })).status).toBe(200);
  });

  it('store one row for the address of callers of other interfaces, whatever application or issuer they invent', async () => {
    const { db } = idp.services;
    const before = await db.rateLimit.count();
    for (let count = 0; count < 5; count += 1) {
      const headers = { authorization: basic(`invented-${count}`, 'x'), 'x-forwarded-for': '192.0.2.16' };
      expect((await httpClient(idp.issuer).post('/access/v1/evaluation', { json: {}, headers })).status).toBe(401);
      const xml = `<samlp:AuthnRequest xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol" xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion" ID="_${count}" Version="2.0" IssueInstant="2026-01-01T00:00:00Z"><saml:Issuer>https://invented-${count}.example/</saml:Issuer></samlp:AuthnRequest>`;
      const form = { SAMLRequest: Buffer.from(xml).toString('base64') };
      const from = { 'x-forwarded-for': '192.0.2.16' };
      expect((await httpClient(idp.issuer).post('/saml/sso', { form, headers: from })).status).toBe(400);
    }
    // Failed calls, SAML messages, and rejections that are stored.
    expect(await db.rateLimit.count()).toBeLessThanOrEqual(before + 3);
  });

  itOnSqlite('are counted in the audit log until they are limited', async () => {
    const one = await machine();
    await failUntilLimited(one, '192.0.2.6');
    await ask(wrong(one), { address: '192.0.2.6' });
    await idp.services.repeatedEntries.flush();
    const events = await idp.services.audit.list({ types: ['token.rejected'], address: '192.0.2.6', limit: 100 });
    expect(events.map(({ data }) => data.repeated)).toEqual([29, undefined]);
  });

  itOnSqlite('are not counted when they were right', async () => {
    for (let times = 0; times < 35; times += 1) {
      expect((await ask(app, { address: '192.0.2.7' })).status).toBe(200);
    }
  });
});

describe('registering applications', () => {
  itOnSqlite('is rejected for an address after thirty wrong tokens', async () => {
    const register = (address: string) =>
      httpClient(idp.issuer).post('/register', {
        json: { redirect_uris: ['https://app.example.com/cb'] },
        headers: { authorization: 'Bearer an-unknown-token', 'x-forwarded-for': address },
      });
    for (let times = 0; times < 30; times += 1) expect((await register('192.0.2.8')).status).toBe(401);
    const limited = await register('192.0.2.8');
    expect(limited.status).toBe(429);
    expect(Number(limited.headers['retry-after'])).toBeGreaterThan(0);
    expect((await register('192.0.2.9')).status).toBe(401);
  });
});

describe('starting device flows', () => {
  itOnSqlite('is rejected after sixty starts in ten minutes', async () => {
    const tv = await anApplication(idp, {
      redirect_uris: [],
      grant_types: ['urn:ietf:params:oauth:grant-type:device_code'],
      token_endpoint_auth_method: 'none',
    });
    const start = (address: string, at = idp) =>
      httpClient(at.issuer).post('/device/code', {
        form: { client_id: tv.clientId, scope: 'openid' },
        headers: { 'x-forwarded-for': address },
      });
    for (let times = 0; times < 60; times += 1) {
      expect((await start('192.0.2.10', times % 2 === 1 ? other : idp)).status).toBe(200);
    }
    const limited = await start('192.0.2.10');
    expect([limited.status, limited.json().error]).toEqual([429, 'temporarily_unavailable']);
    expect(Number(limited.headers['retry-after'])).toBeGreaterThan(0);
    expect((await start('192.0.2.11')).status).toBe(200);
  });
});
