// A SAML message is accepted once across two instances on one database, also of simultaneous copies; and the number of
// messages from one address is limited.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { limits } from '../../../src/base/limits.ts';
import { aLiveSp, answerIn, type LiveSp, post, redirect } from '../../saml/live.ts';
import { testClock } from '../../support/clock.ts';
import { itOnSqlite } from '../../support/database/it-on-sqlite.ts';
import { aUser, type TestUser } from '../../support/factories.ts';
import { type HttpClient, httpClient } from '../../support/http.ts';
import { startIdp, type TestIdp } from '../../support/idp.ts';

let idp: TestIdp;
let twin: TestIdp;
let sp: LiveSp;
let user: TestUser;

beforeAll(async () => {
  idp = await startIdp();
  twin = await startIdp({ environment: { DATABASE_URL: String(idp.environment.DATABASE_URL), ISSUER: idp.issuer } });
  sp = await aLiveSp(idp);
  user = await aUser(idp.services);
});
afterAll(async () => {
  await twin?.stop();
  await idp?.stop();
});

/** A browser whose requests reach the other instance under the same host name. */
const atTwin = () => httpClient(`http://localhost:${twin.port}`, { headers: { host: new URL(idp.issuer).host } });
const atIdp = () => httpClient(idp.issuer);

async function signIn(browser: HttpClient): Promise<string> {
  const page = await browser.follow(await redirect(browser, sp.request()));
  const answer = await browser.follow(await browser.submit(page, { username: user.username, password: user.password }));
  return answerIn(answer) ?? '';
}

describe('an AuthnRequest', () => {
  it('is accepted once by both instances together', async () => {
    for (const [first, second] of [
      [atIdp, atTwin],
      [atTwin, atIdp],
      [atIdp, atIdp],
    ] as const) {
      const xml = sp.request();
      expect((await post(first(), xml)).status).toBe(303);
      expect((await post(second(), xml)).status).toBe(400);
      expect((await redirect(second(), xml)).status).toBe(400);
    }
  });

  it('is accepted once when it is sent twenty times at the same moment', async () => {
    const xml = sp.sign(sp.request());
    const pages = await Promise.all(
      Array.from({ length: 20 }, (_, index) => post(index % 2 ? atIdp() : atTwin(), xml)),
    );
    expect(pages.map(({ status }) => status).sort()).toEqual([303, ...Array.from({ length: 19 }, () => 400)]);
  });

  it('may have the ID that another service provider used', async () => {
    const other = await aLiveSp(idp);
    expect((await post(atIdp(), sp.request({ id: '_same' }))).status).toBe(303);
    expect((await post(atIdp(), other.request({ id: '_same' }))).status).toBe(303);
  });

  it('is answered by another instance than the one that received it', async () => {
    const browser = atIdp();
    await signIn(browser);
    const { location = '' } = await redirect(browser, sp.request());
    const there = location.replace(new URL(location).origin, `http://localhost:${twin.port}`);
    const answer = await browser.get(there, { headers: { host: new URL(idp.issuer).host } });
    expect(answerIn(answer)).toContain('<saml:Assertion');
  });
});

describe('a LogoutRequest', () => {
  it('is accepted once by both instances together', async () => {
    const assertion = await signIn(atIdp());
    const nameId = /<saml:NameID[^>]*>([^<]+)/.exec(assertion)?.[1] ?? '';
    const xml = sp.sign(sp.logout(nameId));
    const send = async (at: HttpClient) => at.follow(await post(at, xml, undefined, '/saml/slo'));
    const pages = await Promise.all([atIdp(), atTwin(), atIdp()].map(send));
    expect(pages.map(({ status }) => status).sort()).toEqual([200, 400, 400]);
  });
});

describe('a flood of messages', () => {
  itOnSqlite('is rejected after its limit on every route from one address, and not from others', async () => {
    // Its clock stands still: a busy machine needs more than the minute of the limit.
    const { now } = testClock(new Date());
    const flooded = await startIdp({ now, environment: { TRUST_PROXY: '1' } });
    const from = (address: string) => ({ headers: { 'x-forwarded-for': address } });
    const { points } = limits.rateLimits.samlPerAddress;
    const browser = httpClient(flooded.issuer);
    for (let done = 0; done < points; done += 50) {
      const pages = Array.from({ length: 50 }, () => browser.get('/saml/sso?SAMLRequest=x', from('192.0.2.1')));
      expect(new Set((await Promise.all(pages)).map(({ status }) => status))).toEqual(new Set([400]));
    }
    for (const path of ['/saml/sso', '/saml/slo', '/saml/sso/start?sp=x']) {
      const page = await browser.get(path, from('192.0.2.1'));
      expect(page.status).toBe(429);
      expect(Number(page.headers['retry-after'])).toBeGreaterThan(0);
      expect((await browser.get(path, from('192.0.2.2'))).status).toBe(400);
    }
    expect((await browser.post('/saml/slo', { form: { SAMLRequest: 'x' }, ...from('192.0.2.1') })).status).toBe(429);
    expect((await browser.get('/saml/metadata', from('192.0.2.1'))).status).toBe(200);
    await flooded.stop();
  });
});
