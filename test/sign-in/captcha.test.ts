// The CAPTCHA over HTTP: after failed sign-ins a try needs a proof of work, or a wait in a browser without scripts.
// Each solution counts once over all instances.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createCaptcha } from '../../src/people/rate-limits/captcha.ts';
import { type Application, anApplication, authorizeUrl } from '../oidc/support.ts';
import { testClock } from '../support/clock.ts';
import { databaseKind } from '../support/database/database.ts';
import { itOnSqlite } from '../support/database/it-on-sqlite.ts';
import { aUser, type TestUser } from '../support/factories.ts';
import { failSignIn } from '../support/failed-sign-in.ts';
import { type HttpClient, httpClient, type Page } from '../support/http.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';
import { type Challenge, captchaOn, payloadOf, solve, solvedCaptcha } from '../support/pages/captcha.ts';
import { expectSignedIn, isThere } from '../support/pages/enter.ts';

const clock = testClock();
let idp: TestIdp;
let app: Application;
let user: TestUser;
let browser: HttpClient;
let form: Page;

beforeAll(async () => {
  idp = await startIdp({ now: clock.now, environment: { TRUST_PROXY: '1' } });
  app = await anApplication(idp);
});
afterAll(() => idp?.stop());

let machine = 0;
const WRONG = 'a wrong password it is';

/** An unknown browser at the sign-in form. */
async function arrive(server = idp): Promise<void> {
  machine += 1;
  browser = httpClient(server.issuer, { headers: { 'x-forwarded-for': `198.51.100.${machine}` } });
  form = await browser.follow(await browser.get(authorizeUrl(server, app.clientId)));
}
const send = (fields: Record<string, string>) => browser.submit(form, { username: user.username, ...fields });
const right = (fields: Record<string, string> = {}) => send({ password: user.password, ...fields });

beforeEach(async () => {
  user = await aUser(idp.services);
  await arrive();
  for (let count = 0; count < 3; count += 1) expect((await send({ password: WRONG })).status).toBe(401);
});

describe('the CAPTCHA after three failed sign-ins', () => {
  itOnSqlite('is part of the form, and the right password is accepted only with its solution', async () => {
    const limited = await right();
    expect(limited.status).toBe(429);
    expect(limited.headers['retry-after']).toBe('30');
    expect(limited.forms[0]?.fields).toMatchObject({ username: user.username, password: '' });
    const challenge = captchaOn(limited);
    if (!challenge) throw new Error('there is no question');
    expect((await right({ altcha: solve(challenge) })).status).toBe(303);
  });

  itOnSqlite('is demanded for unknown names too, on the same page', async () => {
    const known = await right();
    await arrive();
    for (let count = 0; count < 3; count += 1) await send({ username: 'nobody.here', password: WRONG });
    const unknown = await send({ username: 'nobody.here', password: WRONG });
    const seen = ({ status, text }: Page, name: string) => ({
      status,
      text: text.replaceAll(name, 'NAME').replace(/(challenge|value|data-options|href|action)="[^"]*"/g, '$1'),
    });
    expect(seen(unknown, 'nobody.here')).toEqual(seen(known, user.username));
  });

  itOnSqlite('is not demanded of the owner in a known browser, even while others have locked the account', async () => {
    user = await aUser(idp.services);
    await arrive();
    await browser.follow(await right(), isThere);
    const home = browser;
    await arrive();
    const tries = [];
    for (let count = 0; count < 7; count += 1) {
      tries.push((await send({ password: WRONG, altcha: await solvedCaptcha(idp) })).status);
    }
    expect(tries).toEqual([401, 401, 401, 401, 401, 429, 429]);
    browser = home;
    form = await browser.follow(await browser.get(authorizeUrl(idp, app.clientId, { prompt: 'login' })));
    expect(captchaOn(form)).toBeUndefined();
    expectSignedIn(await browser.follow(await right(), isThere));
  });
});

describe('a CAPTCHA solution', () => {
  it('is rejected the second time, even if the first sign-in failed', async () => {
    const altcha = await solvedCaptcha(idp);
    expect((await send({ password: WRONG, altcha })).status).toBe(401);
    expect((await right({ altcha })).status).toBe(429);
    expect((await right({ altcha: await solvedCaptcha(idp) })).status).toBe(303);
  });

  it('counts once when it is sent many times in parallel', async () => {
    const altcha = await solvedCaptcha(idp);
    const pages = await Promise.all(Array.from({ length: 8 }, () => send({ password: WRONG, altcha })));
    expect(pages.filter(({ status }) => status === 401)).toHaveLength(1);
    expect(pages.filter(({ status }) => status === 429)).toHaveLength(7);
  });

  itOnSqlite('is rejected an hour later', async () => {
    const altcha = await solvedCaptcha(idp);
    const at = (minutes: number) =>
      createCaptcha({ ...idp.services, now: () => new Date(Date.now() + minutes * 60_000) });
    expect(await at(61).check({ altcha }, '192.0.2.1')).toEqual({ isSolved: false });
    expect(await at(59).check({ altcha }, '192.0.2.1')).toEqual({ isSolved: true });
  });

  itOnSqlite('is rejected when it belongs to another challenge, was modified, or has a foreign signature', async () => {
    const decode = (text: string) => JSON.parse(Buffer.from(text, 'base64').toString());
    const [one, two] = [decode(await solvedCaptcha(idp)), decode(await solvedCaptcha(idp))];
    const { parameters, signature } = one.challenge as Challenge;
    const late = { ...parameters, expiresAt: Number(parameters.expiresAt) + 1000 };
    const easy = { ...parameters, keyPrefix: one.solution.derivedKey.slice(0, 2) };
    const cheap = { ...parameters, cost: 1 };
    const forgeries = [
      payloadOf(two.challenge, one.solution),
      payloadOf({ parameters: late, signature: String(signature) }, one.solution),
      payloadOf({ parameters: easy, signature: String(signature) }, one.solution),
      payloadOf({ parameters: cheap, signature: String(signature) }, one.solution),
      payloadOf({ parameters, signature: '0'.repeat(64) }, one.solution),
      payloadOf({ parameters }, one.solution),
      payloadOf(one.challenge, { counter: 1, derivedKey: '00'.repeat(32) }),
      Buffer.from('{"test":true,"challenge":null,"solution":null}').toString('base64'),
      'not base64 at all',
      'A'.repeat(8000),
    ];
    for (const altcha of forgeries) expect((await right({ altcha })).status, JSON.stringify(altcha)).toBe(429);
    expect((await right({ altcha: payloadOf(one.challenge, one.solution) })).status).toBe(303);
  });
});

describe('the wait in place of the CAPTCHA', () => {
  const ticketOn = (page: Page) => page.forms[0]?.fields.ticket ?? '';

  itOnSqlite('is over half a minute after the first page, and an early form does not restart it', async () => {
    const page = await right();
    expect(page.text).toContain('Wait 30 seconds before you sign in');
    const ticket = ticketOn(page);
    clock.advance({ seconds: 20 });
    const early = await right({ ticket });
    expect(early.status).toBe(429);
    expect(Number(early.headers['retry-after'])).toBeLessThanOrEqual(10);
    expect(ticketOn(early)).toBe(ticket);
    clock.advance({ seconds: 11 });
    expect((await right({ ticket })).status).toBe(303);
  });

  it('counts once, and five times per network address in a quarter of an hour', async () => {
    const tickets = [];
    for (let count = 0; count < 6; count += 1) tickets.push(ticketOn(await right()));
    clock.advance({ seconds: 31 });
    const others = await Promise.all(tickets.map(() => aUser(idp.services)));
    for (const { username } of others) {
      for (let count = 0; count < 3; count += 1)
        await failSignIn(idp.services.lockout, { login: username, address: 'x' });
    }
    const statuses = [];
    for (const [index, ticket] of tickets.entries()) {
      statuses.push((await send({ username: others[index]?.username ?? '', password: WRONG, ticket })).status);
    }
    expect(statuses).toEqual([401, 401, 401, 401, 401, 429]);
    expect((await right({ ticket: tickets[0] ?? '' })).status).toBe(429);
  });

  itOnSqlite.each(['v1.x.y', 'x', ''])('is not accepted with a made-up ticket (%j)', async (ticket) => {
    clock.advance({ seconds: 31 });
    expect((await right({ ticket })).status).toBe(429);
  });
});

describe.runIf(databaseKind() === 'postgresql')('two instances', () => {
  it('share failed sign-ins, challenges and used solutions', async () => {
    const other = await startIdp({
      now: clock.now,
      environment: { DATABASE_URL: String(idp.environment.DATABASE_URL), TRUST_PROXY: '1' },
    });
    try {
      const altcha = await solvedCaptcha(idp);
      await send({ password: WRONG, altcha });
      await arrive(other);
      expect((await right()).status).toBe(429);
      expect((await right({ altcha })).status).toBe(429);
      expect((await right({ altcha: await solvedCaptcha(idp) })).status).toBe(303);
    } finally {
      await other.stop();
    }
  });
});
