// Every kind of endpoint with the database away: PostgreSQL that refuses connections, a SQLite file that another process has locked
// and one that is read-only. None answers 500, and what was valid before is valid afterwards.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { limits } from '../../src/base/limits.ts';
import { sha256 } from '../../src/base/platform/random.ts';
import { connectSqlite } from '../../src/base/storage/sqlite/connections.ts';
import { type ApiCaller, aService } from '../admin/support.ts';
import { anUpstream } from '../federation/support.ts';
import { anApplication, authorizeUrl, basic, signIn, verifier } from '../oidc/support.ts';
import { aLiveSp, post as postSaml } from '../saml/live.ts';
import { databaseKind, testDatabase } from '../support/database/database.ts';
import { aUser } from '../support/factories.ts';
import { type HttpClient, httpClient, type Page } from '../support/http.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';
import { signedIn } from '../support/pages/account.ts';
import { aSamlUpstream } from '../support/upstream/saml-upstream.ts';
import { stepsAt } from './steps.ts';
import { type TcpProxy, tcpProxy } from './tcp-proxy.ts';

interface Fault {
  name: string;
  /** What /readyz says. */
  reason: string;
  /** Also what only reads fails. */
  isTotal: boolean;
  begin(): Promise<void>;
  end(): Promise<void>;
}
interface Probe {
  kind: 'page' | 'oauth' | 'api' | 'authorization';
  /** It needs no write, or not before something else is rejected. */
  reads?: boolean;
  send(): Promise<Page>;
}

const html = { accept: 'text/html' };
// Long enough for a busy machine: a refused connection needs no limit.
const quick = { ...limits.database, lockMs: 50, connectMs: 20_000, statementMs: 20_000, answerMs: 20_000, pauseMs: 20 };
const faults: Fault[] = [];
let idp: TestIdp;
let admin: ApiCaller;
let probes: Record<string, Probe>;
let proxy: TcpProxy;
let refreshToken = '';
let code = '';
let service: Awaited<ReturnType<typeof anApplication>>;
let app: typeof service;
let user: Awaited<ReturnType<typeof aUser>>;
let browser: HttpClient;

beforeAll(async () => {
  const database = await testDatabase({ keysFrom: new Date() });
  await database.close();
  const url = databaseKind() === 'postgresql' ? await behindProxy(database.url) : database.url;
  idp = await startIdp({ environment: { DATABASE_URL: url }, databaseLimits: quick });
  if (databaseKind() === 'sqlite') await addSqliteFaults(database.url.slice('file:'.length));
  await idp.services.settings.set('rate_limits', false);
  await idp.services.settings.reload();
  user = await aUser(idp.services);
  await idp.services.roles.setRoles(user.account.id, ['admin']);
  app = await anApplication(idp);
  service = await anApplication(idp, { redirect_uris: [], grant_types: ['client_credentials'] });
  admin = await aService(idp);
  await prepare();
});
afterAll(() => idp.stop());

async function behindProxy(direct: string): Promise<string> {
  const url = new URL(direct);
  proxy = await tcpProxy(Number(url.port));
  url.port = String(proxy.port);
  faults.push({
    name: 'refuses connections',
    reason: 'unreachable',
    isTotal: true,
    begin: () => proxy.refuse(),
    end: () => proxy.serve(),
  });
  return url.href;
}

async function addSqliteFaults(file: string): Promise<void> {
  const other = await connectSqlite(file);
  const { db } = idp.services;
  const run = async (statement: string) => void (await db.$executeRawUnsafe(statement));
  faults.push(
    {
      name: 'is locked',
      reason: 'busy',
      isTotal: false,
      begin: () => other.executeScript('BEGIN IMMEDIATE'),
      end: () => other.executeScript('ROLLBACK'),
    },
    {
      name: 'is read-only',
      reason: 'read-only',
      isTotal: false,
      begin: () => run('PRAGMA query_only = ON'),
      end: () => run('PRAGMA query_only = OFF'),
    },
  );
}

async function newCode(): Promise<string> {
  const page = await browser.get(authorizeUrl(idp, app.clientId, { scope: 'openid offline_access', prompt: 'none' }));
  return new URL(page.location ?? '').searchParams.get('code') ?? '';
}

async function prepare(): Promise<void> {
  browser = httpClient(idp.issuer);
  const { tokens } = await signIn(browser, app, user, { scope: 'openid offline_access' });
  refreshToken = tokens.refresh_token ?? '';
  code = await newCode();
  const account = await signedIn(idp, user);
  const other = httpClient(idp.issuer);
  const signInPage = await other.follow(await other.get(authorizeUrl(idp, app.clientId), { headers: html }));
  const resetPage = await other.get('/forgot-password', { headers: html });
  const sp = await aLiveSp(idp, { idp_initiated: true });
  const client = httpClient(idp.issuer);
  const asApp = { authorization: basic(app.clientId, app.clientSecret), accept: '*/*' };
  const asService = { authorization: basic(service.clientId, service.clientSecret), accept: '*/*' };
  const form = (path: string, fields: Record<string, string>, headers = asApp) =>
    client.post(path, { form: fields, headers });
  const challenge = { code_challenge: sha256(verifier), code_challenge_method: 'S256' };
  const bearer = { authorization: `Bearer ${tokens.access_token}`, accept: '*/*' };
  probes = {
    'authorization endpoint': {
      kind: 'authorization',
      send: () => httpClient(idp.issuer).get(authorizeUrl(idp, app.clientId), { headers: html }),
    },
    'authorization endpoint with a session': {
      kind: 'authorization',
      send: () => browser.get(authorizeUrl(idp, app.clientId, { prompt: 'none' }), { headers: html }),
    },
    'sign-in page': { kind: 'page', reads: true, send: () => other.get(signInPage.url, { headers: html }) },
    password: {
      kind: 'page',
      send: () => other.submit(signInPage, { username: user.username, password: user.password }, { headers: html }),
    },
    'token of a code': {
      kind: 'oauth',
      send: () =>
        form('/token', {
          grant_type: 'authorization_code',
          code,
          redirect_uri: app.redirectUri,
          code_verifier: verifier,
        }),
    },
    'token of a refresh token': {
      kind: 'oauth',
      send: () => form('/token', { grant_type: 'refresh_token', refresh_token: refreshToken }),
    },
    'token of a client': {
      kind: 'oauth',
      send: () => form('/token', { grant_type: 'client_credentials' }, asService),
    },
    userinfo: { kind: 'oauth', reads: true, send: () => client.get('/userinfo', { headers: bearer }) },
    introspection: { kind: 'oauth', reads: true, send: () => form('/introspect', { token: tokens.access_token }) },
    revocation: { kind: 'oauth', reads: true, send: () => form('/revoke', { token: 'unknown' }) },
    'pushed request': {
      kind: 'oauth',
      send: () =>
        form('/par', {
          response_type: 'code',
          redirect_uri: app.redirectUri,
          client_id: app.clientId,
          scope: 'openid',
          ...challenge,
        }),
    },
    'device code': { kind: 'oauth', reads: true, send: () => form('/device/code', { scope: 'openid' }) },
    registration: {
      kind: 'oauth',
      reads: true,
      send: () => client.post('/register', { json: { redirect_uris: [app.redirectUri] }, headers: bearer }),
    },
    'AuthnRequest by POST': { kind: 'page', send: () => postSaml(httpClient(idp.issuer), sp.sign(sp.request())) },
    'IdP-initiated SAML': {
      kind: 'page',
      send: () =>
        httpClient(idp.issuer).get(`/saml/sso/start?${new URLSearchParams({ sp: sp.entityId })}`, { headers: html }),
    },
    'reset form': { kind: 'page', send: () => other.submit(resetPage, { username: user.username }, { headers: html }) },
    'reset link': {
      kind: 'page',
      reads: true,
      send: async () => client.follow(await client.get(`/reset-password?token=${'t'.repeat(43)}`, { headers: html })),
    },
    account: { kind: 'page', reads: true, send: () => account.get('/account', { headers: html }) },
    'account without a session': {
      kind: 'page',
      async send() {
        const visitor = httpClient(idp.issuer);
        return visitor.follow(await visitor.get('/account', { headers: html }));
      },
    },
    sessions: { kind: 'page', reads: true, send: () => account.get('/account/sessions', { headers: html }) },
    console: { kind: 'page', reads: true, send: () => account.get('/admin/users', { headers: html }) },
    'end of session': { kind: 'page', reads: true, send: () => browser.get('/end-session', { headers: html }) },
    'callback of an upstream': {
      kind: 'page',
      reads: true,
      send: () => client.get('/upstream/none/callback?state=s&code=c', { headers: html }),
    },
    'logout run': { kind: 'page', reads: true, send: () => client.get('/signout/none', { headers: html }) },
    'reading the admin API': {
      kind: 'api',
      reads: true,
      send: () => client.get('/api/admin/users', { headers: { authorization: `Bearer ${admin.token}` } }),
    },
    'writing the admin API': {
      kind: 'api',
      send: () =>
        client.post('/api/admin/users', {
          json: { username: `new-${crypto.randomUUID()}` },
          headers: { authorization: `Bearer ${admin.token}`, 'idempotency-key': crypto.randomUUID() },
        }),
    },
    'access evaluation': {
      kind: 'api',
      reads: true,
      send: () =>
        client.post('/access/v1/evaluation', {
          json: {
            subject: { type: 'user', id: user.account.id },
            action: { name: 'read' },
            resource: { type: 'application', id: app.clientId },
          },
          headers: asApp,
        }),
    },
  };
}

/** What is wrong with the response; undefined when it is as it should be. */
function faultOf({ kind, reads }: Probe, page: Page, isTotal: boolean): string | undefined {
  const { status, headers, location = '' } = page;
  const said = `${status} ${location} ${page.text.slice(0, 200)}`;
  if (kind === 'authorization' && location.includes('error=temporarily_unavailable')) return undefined;
  if (status !== 503) return status >= 500 || isTotal || !reads ? said : undefined;
  if (location) return `a redirect: ${said}`;
  if (headers['set-cookie']) return `a cookie: ${said}`;
  if (!Number(headers['retry-after'])) return `no Retry-After: ${said}`;
  if (kind === 'page' || kind === 'authorization')
    return page.text.includes('Try again in a minute') ? undefined : said;
  if (!String(headers['content-type']).includes('json')) return said;
  const body = page.json();
  return kind === 'oauth' && body.error !== 'temporarily_unavailable' ? said : undefined;
}

describe('the server', () => {
  it('answers 503 with Retry-After everywhere, never 500, and works again afterwards', async () => {
    for (const fault of faults) {
      const logged = idp.log.length;
      await fault.begin();
      const wrong: Record<string, string | undefined> = {};
      for (const [name, probe] of Object.entries(probes)) {
        wrong[name] = faultOf(probe, await probe.send(), fault.isTotal);
      }
      await expect.poll(async () => (await httpClient(idp.issuer).get('/readyz')).status).toBe(503);
      const ready = await httpClient(idp.issuer).get('/readyz');
      const healthy = await httpClient(idp.issuer).get('/healthz');
      await fault.end();
      expect(
        Object.entries(wrong).filter(([, reason]) => reason),
        fault.name,
      ).toEqual([]);
      expect(healthy.status).toBe(200);
      expect(ready.json()).toMatchObject({
        checks: { database: 'failed', keys: 'ok' },
        reasons: { database: fault.reason, ...(fault.isTotal && { schema: fault.reason }) },
      });
      await expect.poll(async () => (await httpClient(idp.issuer).get('/readyz')).status).toBe(200);
      await expectUnchanged();
      expectBriefLog(idp.log.slice(logged), fault);
    }
  });

  it('answers 503 at each step of a SAML sign-in or one over an upstream, and the same request succeeds afterwards', async () => {
    const corp = await anUpstream(idp);
    const school = await aSamlUpstream(idp);
    for (const fault of faults) {
      const steps = await stepsAt(idp, { corp, school });
      await fault.begin();
      const during = await Promise.all(
        steps.map(async ({ name, send }) => [name, faultOf({ kind: 'page', send }, await send(), true)]),
      );
      await fault.end();
      expect(during, fault.name).toEqual(steps.map(({ name }) => [name, undefined]));
      await expect.poll(async () => (await httpClient(idp.issuer).get('/readyz')).status).toBe(200);
      const after = await Promise.all(steps.map(async ({ name, send }) => [name, (await send()).status]));
      expect(after, fault.name).toEqual(steps.map(({ name }) => [name, 303]));
    }
    await corp.remove();
  });

  it.runIf(databaseKind() === 'postgresql')('ends a request whose statements together take too long', async () => {
    const send = async () => probes['account without a session']?.send();
    const { requestMs, lateMs } = quick;
    Object.assign(quick, { requestMs: 250, lateMs: 20 });
    proxy.delay(100);
    const page = await send();
    proxy.delay(0);
    Object.assign(quick, { requestMs, lateMs });
    expect([page?.status, Number(page?.headers['retry-after'])]).toEqual([503, 5]);
    await expect.poll(async () => (await send())?.status).toBe(200);
  });

  /** One line for each failed request, with the reason and the path; the driver's text once, when the database goes away. */
  function expectBriefLog(lines: string[], { reason, isTotal }: Fault): void {
    const textOf = (line: string) => JSON.parse(line).msg;
    const failed = lines.filter((line) => textOf(line) === 'request failed');
    expect(failed.length).toBeGreaterThan(5);
    for (const line of failed) {
      const { path, detail } = JSON.parse(line);
      // The pages' own relying party knows only what the token endpoint has answered.
      const isOwn = path === '/auth/callback';
      expect(detail, line).toMatchObject(isOwn ? { error: 'temporarily_unavailable' } : { database: reason });
    }
    expect(lines.filter((line) => line.includes('"stack"'))).toEqual([]);
    const away = isTotal ? 'the database does not answer' : 'the database cannot be used';
    const changes = lines.filter((line) => [away, 'the database answers again'].includes(textOf(line)));
    expect(changes.map(textOf)).toEqual([away, 'the database answers again']);
    expect(JSON.parse(changes[0] ?? '')).toMatchObject({ reason, detail: { cause: expect.stringMatching(/\S/) } });
  }

  /** The code, the refresh token and the session were not used up by the failed requests. */
  async function expectUnchanged(): Promise<void> {
    for (const name of ['token of a code', 'token of a refresh token', 'userinfo', 'account']) {
      const page = await probes[name]?.send();
      expect({ status: page?.status, text: page?.text.slice(0, 200) }, name).toEqual({
        status: 200,
        text: expect.anything(),
      });
      if (name === 'token of a refresh token') refreshToken = String(page?.json().refresh_token ?? refreshToken);
    }
    code = await newCode();
  }
});
