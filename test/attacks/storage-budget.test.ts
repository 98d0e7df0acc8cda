// What one sender can store, at every door: thousands of requests of one address, and of one user.
import { Agent } from 'node:http';
import { beforeAll, describe, expect, it } from 'vitest';
import { limits } from '../../src/base/limits.ts';
import { randomToken } from '../../src/base/platform/random.ts';
import { type Application, anApplication, authorizeUrl, completeSignIn, redirectUri } from '../oidc/support.ts';
import { aLiveSp, type LiveSp, post } from '../saml/live.ts';
import { aUser, type TestUser } from '../support/factories.ts';
import { type HttpClient, httpClient, type Page } from '../support/http.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';
import { itInLongRun } from '../support/it-in-long-run.ts';
import { solvedCaptcha } from '../support/pages/captcha.ts';
import { aSamlUpstream } from '../support/upstream/saml-upstream.ts';
import { promptJobs } from '../support/waits.ts';

const { sender } = limits.storageBudget;
/** More than the parameters of any application, and less than what a request may hold. */
const LONG = 'x'.repeat(2000);
const agent = new Agent({ keepAlive: true, maxSockets: 20 });

let idp: TestIdp;
let app: Application;
let publicApp: Application;
let user: TestUser;
let sp: LiveSp;
let connection: string;
beforeAll(async () => {
  promptJobs();
  idp = await startIdp({ environment: { TRUST_PROXY: '1' } });
  app = await anApplication(idp);
  publicApp = await anApplication(idp, { token_endpoint_auth_method: 'none', grant_types: GRANTS });
  user = await aUser(idp.services);
  sp = await aLiveSp(idp);
  ({ connection } = await aSamlUpstream(idp));
  await idp.services.settings.set('self_registration', true);
  await idp.services.settings.reload();
  await idp.firstJobs; // each stores a row for its lock
  return async () => {
    agent.destroy();
    await idp.stop();
  };
});
const GRANTS: ('authorization_code' | 'refresh_token' | 'urn:ietf:params:oauth:grant-type:device_code')[] = [
  'authorization_code',
  'refresh_token',
  'urn:ietf:params:oauth:grant-type:device_code',
];

const browserAt = (address: string): HttpClient =>
  httpClient(idp.issuer, { agent, headers: { 'x-forwarded-for': address } });

/** The rows of every table with their bytes, as JSON. */
async function stored(): Promise<{ rows: number; bytes: number }> {
  const { db, sql } = idp.services;
  const names = sql.isRemote
    ? `SELECT tablename AS name FROM pg_tables WHERE schemaname = current_schema()`
    : `SELECT name FROM sqlite_master WHERE type = 'table'`;
  let [rows, bytes] = [0, 0];
  for (const { name } of await db.$queryRawUnsafe<{ name: string }[]>(names)) {
    const all = await db.$queryRawUnsafe<object[]>(`SELECT * FROM "${name}"`);
    rows += all.length;
    for (const row of all) bytes += Object.values(row).reduce((sum: number, value) => sum + String(value).length, 0);
  }
  return { rows, bytes };
}

/** The same, once the tests before have left nothing to write: each of their emails leaves an event when it is sent. */
async function quiet(): ReturnType<typeof stored> {
  const waits = () => idp.services.db.asStored.mailMessage.count({ where: { sentAt: null, failedAt: null } });
  await expect.poll(waits).toBe(0);
  let last = await stored();
  const isSame = async () => {
    const { rows } = last;
    last = await stored();
    return last.rows === rows;
  };
  await expect.poll(isSame, { interval: 300 }).toBe(true);
  return last;
}

interface Flood {
  accepted: number;
  rows: number;
  bytes: number;
  /** The first response that rejected. */
  rejected: Page | undefined;
}

/** Sends so many requests, twenty at a time. */
async function flood(send: (index: number) => Promise<Page>, times = FEW): Promise<Flood> {
  const before = await quiet();
  const [pages, queue]: [Page[], number[]] = [[], Array.from({ length: times }, (_, index) => index)];
  const work = async () => {
    for (let index = queue.shift(); index !== undefined; index = queue.shift()) pages.push(await send(index));
  };
  await Promise.all(Array.from({ length: 20 }, work));
  await idp.services.rejections.list({}); // they are written behind the responses
  const after = await stored();
  const rejected = pages.find(({ status }) => status === 429);
  // 503: this machine is busy.
  expect(pages.filter(({ status }) => status >= 500 && status !== 503)).toEqual([]);
  const accepted = pages.filter(({ status }) => status < 400).length;
  const result = { accepted, rows: after.rows - before.rows, bytes: after.bytes - before.bytes, rejected };
  if (process.env.MEASURE) {
    const name = String(expect.getState().currentTestName).split(' > ').at(-1);
    process.stderr.write(`${name}: ${accepted} of ${times} accepted, ${result.rows} rows, ${result.bytes} bytes\n`);
  }
  return result;
}

/** A 429 that says how long to wait. */
function expectWait(page: Page | undefined): void {
  expect(page?.status).toBe(429);
  const seconds = Number(page?.headers['retry-after']);
  expect(seconds).toBeGreaterThan(0);
  expect(seconds).toBeLessThanOrEqual(limits.storageBudget.seconds);
}

/** Leaves a twentieth of the budget, as if the sender had stored the rest, so that a flood ends soon. */
function spendMost(address: string, user?: TestUser): void {
  const charge = () => idp.services.storageBudget.forRequest(address, () => user && { userId: user.account.id });
  const requests = sender.requests * 0.95;
  for (let count = 0; count < requests; count += 1) charge()('any', (sender.bytes * 0.95) / requests);
}
const FEW = 200;
/** None of the requests: those of jobs that run meanwhile. */
const FEW_ROWS = expect.toSatisfy((rows: number) => rows < 10, 'fewer than ten rows');

/** Half as much again: requests that run at the same time, indexes, and rows that protect the server. */
const SLACK = 1.5;
/** @param part what was left of the budget */
function expectBounded({ accepted, bytes, rejected }: Flood, part = 0.05): void {
  expect(accepted).toBeLessThanOrEqual(sender.requests * part + 20);
  expect(bytes).toBeLessThanOrEqual(sender.bytes * part * SLACK + 20 * 16_000);
  expectWait(rejected);
}

describe('one address without a session', { timeout: 240_000 }, () => {
  it('pushes authorization requests of a public client until its budget is spent', async () => {
    const browser = browserAt('192.0.2.1');
    const form = Object.fromEntries(new URL(authorizeUrl(idp, publicApp.clientId)).searchParams);
    const long = { state: LONG, nonce: LONG, login_hint: LONG, ui_locales: 'x'.repeat(1800) };
    spendMost('192.0.2.1');
    const result = await flood(() => browser.post('/par', { form: { ...form, ...long }, headers: { accept: '*/*' } }));
    expectBounded(result);
    expect(result.accepted).toBeGreaterThan(50);
    expect(result.rejected?.json().error).toBe('temporarily_unavailable');
  });

  it('cannot push a request of 60 KB', async () => {
    const browser = browserAt('192.0.2.2');
    const form = Object.fromEntries(new URL(authorizeUrl(idp, publicApp.clientId)).searchParams);
    const result = await flood(() => browser.post('/par', { form: { ...form, nonce: 'x'.repeat(60_000) } }), 50);
    expect(result.accepted).toBe(0);
    expect(result.bytes).toBeLessThan(100_000);
  });

  it('opens the page of a logout and of the device flow, which store nothing', async () => {
    const logout = await flood(() => browserAt('192.0.2.3').get('/end-session'));
    expect(logout).toMatchObject({ accepted: FEW, rows: FEW_ROWS });
    const device = await flood(() => browserAt('192.0.2.3').get('/device'));
    expect(device).toMatchObject({ accepted: FEW, rows: FEW_ROWS });
  });

  it('completes the logout of nobody, which stores nothing', async () => {
    const result = await flood(async () => {
      const browser = browserAt('192.0.2.4');
      const done = await browser.follow(await browser.submit(await browser.get('/end-session')));
      expect(done.status).toBe(200);
      return done;
    }, 100);
    expect(result).toMatchObject({ accepted: 100, rows: FEW_ROWS });
  });

  it('starts sign-ins with long parameters until its budget is spent', async () => {
    const long = { state: LONG, nonce: LONG, login_hint: LONG };
    spendMost('192.0.2.5');
    const result = await flood(() => browserAt('192.0.2.5').get(authorizeUrl(idp, app.clientId, long)));
    expectBounded(result);
    expect(result.accepted).toBeGreaterThan(50);
    expect(result.rejected?.text).toContain('Too many requests from your network or account.');
    // Others are served meanwhile, and the address still gets what stores nothing.
    expect((await browserAt('192.0.2.99').get(authorizeUrl(idp, app.clientId))).status).toBe(303);
    expect((await browserAt('192.0.2.5').get('/.well-known/openid-configuration')).status).toBe(200);
    const silent = await browserAt('192.0.2.5').get(authorizeUrl(idp, app.clientId, { prompt: 'none' }));
    expect(silent.location).toContain('login_required');
  });

  it('starts device flows, sends SAML requests and presses the button of a connection', async () => {
    const form = { client_id: publicApp.clientId, scope: 'openid', login_hint: LONG, nonce: LONG };
    const device = await flood(() => browserAt('192.0.2.6').post('/device/code', { form }));
    expect(device.accepted).toBeLessThanOrEqual(limits.rateLimits.deviceStartPerAddress.points);
    spendMost('192.0.2.7');
    expectBounded(await flood(() => post(browserAt('192.0.2.7'), sp.sign(sp.request()), LONG)));
    const browser = browserAt('192.0.2.8');
    const page = await browser.follow(await browser.get(authorizeUrl(idp, app.clientId)));
    spendMost('192.0.2.8');
    expectBounded(await flood(() => browser.submit(page, {}, { form: `/connections/${connection}` })));
  });

  it('sends the forms of the sign-in, of a reset and of a sign-up', async () => {
    const browser = browserAt('192.0.2.9');
    const page = await browser.follow(await browser.get(authorizeUrl(idp, app.clientId)));
    const wrong = () => ({ username: randomToken(), password: 'a wrong pass phrase' });
    const passwords = await flood(() => browser.submit(page, wrong()), 200);
    expect(passwords.rows).toBeLessThan(200);
    // After twenty failures of an address, each attempt needs a solution.
    const other = browserAt('192.0.2.13');
    const form = await other.follow(await other.get(authorizeUrl(idp, app.clientId)));
    const solved = async () => other.submit(form, { ...wrong(), altcha: await solvedCaptcha(idp) });
    const solutions = await flood(solved, 100);
    expect(solutions.rows).toBeLessThan(200);
    const reset = await browser.get('/forgot-password');
    const resets = await flood(
      () => browser.submit(reset, { username: randomToken() }, { form: 'forgot-password' }),
      200,
    );
    expect(resets.accepted).toBeLessThanOrEqual(limits.rateLimits.resetPerAddress.points);
    expect(resets.rows).toBeLessThan(100);
    const signUp = await browser.get('/sign-up');
    const signUps = await flood(() => browser.submit(signUp, { email: `${randomToken()}@x.example` }), 100);
    expect(signUps.accepted).toBe(limits.rateLimits.registrationPerAddress.points);
    expect(signUps.rows).toBeLessThan(100);
  });

  it('sends requests that are rejected, which leave a hundred rejections', async () => {
    const wrong = (index: number) => authorizeUrl(idp, app.clientId, { redirect_uri: `https://${index}.example/cb` });
    const { rows } = await flood((index) => browserAt('192.0.2.11').get(wrong(index)));
    expect(rows).toBeLessThan(120);
    const tokens = await flood((index) =>
      browserAt('192.0.2.12').post('/token', { form: { grant_type: 'authorization_code', client_id: `c${index}` } }),
    );
    expect(tokens.rows).toBeLessThan(120);
  });
});

describe('an IPv6 sender', { timeout: 240_000 }, () => {
  it('has one budget for a network of 64 bits', async () => {
    spendMost('2001:db8:0:1::ffff');
    const result = await flood((index) =>
      browserAt(`2001:db8:0:1::${index.toString(16)}`).get(authorizeUrl(idp, app.clientId)),
    );
    expectBounded(result);
    expect((await browserAt('2001:db8:0:2::1').get(authorizeUrl(idp, app.clientId))).status).toBe(303);
  });
});

describe('an IPv6 sender with a network of 48 bits', { timeout: 240_000 }, () => {
  it('causes as many emails as twenty addresses, from any number of networks', async () => {
    const perAddress = limits.rateLimits.registrationPerAddress.points;
    const most = perAddress * limits.rateLimits.siteFactor;
    const browser = browserAt('2001:db8:7::1');
    const form = await browser.get('/sign-up');
    const result = await flood((index) => {
      const network = Math.floor(index / perAddress).toString(16);
      return browser.submit(
        form,
        { email: `${randomToken()}@x.example` },
        { headers: { 'x-forwarded-for': `2001:db8:7:${network}::1` } },
      );
    }, most + 60);
    expect(result.accepted).toBe(most);
    expect(result.rejected?.status).toBe(429);
  });
});

describe('one user', { timeout: 240_000 }, () => {
  it('starts interactions until the budget of the account is spent, from any address', async () => {
    const browser = browserAt('192.0.2.20');
    const page = await completeSignIn(browser, authorizeUrl(idp, app.clientId), { user });
    expect(page.location).toContain(redirectUri);
    const long = { prompt: 'login', state: LONG, nonce: LONG, login_hint: LONG };
    const elsewhere = (index: number) => ({ headers: { 'x-forwarded-for': `198.51.100.${index % 200}` } });
    spendMost('192.0.2.20', user);
    const start = (index: number) => browser.get(authorizeUrl(idp, app.clientId, long), elsewhere(index));
    expectBounded(await flood(start));
    // Another user signs in at the same address.
    const other = await completeSignIn(browserAt('192.0.2.20'), authorizeUrl(idp, app.clientId), {
      user: await aUser(idp.services),
    });
    expect(other.location).toContain(redirectUri);
  });
});

describe('five hundred people behind one address', { timeout: 240_000 }, () => {
  itInLongRun('open the sign-in page, reload it and sign in within ten minutes', async () => {
    const address = '192.0.2.30';
    const opened = await flood(async () => {
      const browser = browserAt(address);
      const page = await browser.follow(await browser.get(authorizeUrl(idp, app.clientId)));
      return page.status === 200 ? browser.get(page.url) : page;
    }, 500);
    expect(opened.accepted).toBe(500);
    // From the password on, the budget is that of each person.
    for (let count = 0; count < 5; count += 1) {
      const person = { user: await aUser(idp.services) };
      const page = await completeSignIn(browserAt(address), authorizeUrl(idp, app.clientId), person);
      expect(page.location).toContain('code=');
    }
    expect(idp.services.storageBudget.peek(address).allowed).toBe(true);
  });
});
