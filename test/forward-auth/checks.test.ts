// What a question of a proxy costs the database, and that it is answered by every node: two nodes on one database, one of which is killed.
import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { type LoadBalancer, loadBalancer } from '../logout/support/load-balancer.ts';
import { completeSignIn } from '../oidc/support.ts';
import { type ServerProcess, serverProcess } from '../robustness/support.ts';
import { countCommits } from '../support/database/commits.ts';
import { databaseKind } from '../support/database/database.ts';
import { itOnBothInLongRun } from '../support/database/it-on-sqlite.ts';
import { aUser, type TestUser } from '../support/factories.ts';
import { type HttpClient, httpClient } from '../support/http.ts';
import { freePort, type TestIdp } from '../support/idp.ts';
import { promptJobs } from '../support/waits.ts';
import { type Website, website } from '../support/website.ts';

let board: LoadBalancer;
let one: TestIdp;
let other: TestIdp;
let site: Website;
let user: TestUser;
let browser: HttpClient;

beforeAll(async () => {
  promptJobs();
  board = await loadBalancer();
  one = board.instances[0] ?? expect.fail();
  other = await board.another();
  site = await website('caddy', () => one.issuer, ['Remote-User', 'X-Gatehouse-Jwt']);
  await one.services.applications.createProxied({ name: 'Wiki', url: site.origin, proxy: 'caddy' });
});
afterAll(async () => {
  await site?.close();
  await board?.close();
});

beforeEach(async () => {
  board.use(one);
  user = await aUser(one.services);
  browser = httpClient();
  await signIn();
});

const toCallback = () =>
  completeSignIn(browser, `${site.origin}/`, { user, redirectUri: `${site.origin}/.gatehouse/` });
async function signIn(): Promise<void> {
  expect((await browser.follow(await toCallback())).status).toBe(200);
}

/** What the proxy is told now. */
const asProgram = { headers: { 'sec-fetch-mode': 'cors' } };
const status = async () => (await browser.get(`${site.origin}/`, asProgram)).status;

describe('a question of a proxy', () => {
  // The jobs of the server read and write too: another instance seems to run them.
  beforeEach(async () => {
    await Promise.all([one.firstJobs, other.firstJobs]);
    const lockedUntil = new Date(Date.now() + 3_600_000);
    await one.services.db.jobLock.updateMany({ data: { holder: 'another instance', lockedUntil } });
  });

  let commits: () => Promise<number>;
  beforeAll(async () => {
    commits = await countCommits(one);
  });

  /** The statements of the best of some turns: a job that is woken may read meanwhile. */
  async function costOf(ask: () => Promise<void>): Promise<{ reads: string[]; statements: number; commits: number }> {
    let least: Awaited<ReturnType<typeof costOf>> | undefined;
    for (let turn = 0; turn < 8; turn += 1) {
      const query = vi.spyOn(one.services.sql, 'query');
      const sent = vi.spyOn(pg.Query.prototype, 'submit');
      await commits();
      query.mockClear();
      sent.mockClear();
      await ask();
      const found = { reads: query.mock.calls.map(([{ name }]) => name), statements: sent.mock.calls.length };
      for (const spy of [query, sent]) spy.mockRestore();
      const cost = { ...found, commits: await commits() };
      if (
        !least ||
        cost.statements + cost.reads.length + cost.commits < least.statements + least.reads.length + least.commits
      )
        least = cost;
    }
    return least ?? expect.fail();
  }
  const isRemote = databaseKind() === 'postgresql';

  it.each(['cors', 'navigate'])('with a live session is one keyed read and no write (%s)', async (mode) => {
    const jwts = new Set<unknown>();
    const cost = await costOf(async () => {
      const page = await browser.get(`${site.origin}/`, { headers: { 'sec-fetch-mode': mode } });
      expect(page.status).toBe(200);
      jwts.add(page.json<{ headers: Record<string, string> }>().headers['x-gatehouse-jwt']);
    });
    const find = isRemote ? 'rp-sessions.findWithRevision' : 'rp-sessions.find';
    expect(cost).toEqual({ reads: [find], statements: isRemote ? 1 : 0, commits: 0 });
    // A signature of ES256 is another one each time: the statement was signed once.
    expect(jwts.size).toBe(1);
  });

  it('with a cookie that was made up reads no session, and stores nothing', async () => {
    const { port } = new URL(site.origin);
    const value = () => randomBytes(32).toString('base64url');
    const cost = await costOf(async () => {
      const headers = { cookie: `gatehouse_app_${port}=${value()}.${value()}`, 'sec-fetch-mode': 'navigate' };
      expect((await httpClient().get(`${site.origin}/`, { headers })).location).toContain('/authorize?');
    });
    // On PostgreSQL whether the website is as it was, which all questions of a moment share.
    expect(cost).toEqual({ reads: [], statements: isRemote ? 1 : 0, commits: 0 });
  });
});

describe('two nodes', () => {
  it('end the session of a website at once, on whichever the user signs out', async () => {
    for (const [here, there] of [
      [one, other],
      [other, one],
    ] as const) {
      board.use(here);
      await signIn();
      board.use(there);
      expect(await status()).toBe(200);
      board.use(here);
      const [session] = await here.services.sessions.list(user.account.id);
      await here.services.endSession.one(session?.uid ?? '', 'ended-by-admin');
      board.use(there);
      expect(await status()).toBe(401);
    }
  });

  it('take a role away at once', async () => {
    await one.services.roles.create({ name: 'reader' });
    const { id = '' } = (await one.services.applications.find(site.origin)) ?? {};
    const open = { name: 'Wiki', url: site.origin, proxy: 'caddy' as const };
    await one.services.applications.update('proxy', id, { ...open, access: { roles: ['reader'] } });
    await one.services.roles.assign(user.account.id, 'reader');
    board.use(other);
    expect(await status()).toBe(200);
    await one.services.roles.unassign(user.account.id, 'reader');
    expect(await status()).toBe(403);
    await one.services.applications.update('proxy', id, open);
    expect(await status()).toBe(200);
  });

  itOnBothInLongRun('finish a sign-in that the other one began and that was killed', async () => {
    const killed = await aProcess();
    board.use({ port: killed.port } as TestIdp);
    browser = httpClient();
    const callback = await toCallback();
    await killed.process.kill('SIGKILL');
    board.use(other);
    const page = await browser.follow(callback);
    expect([page.status, page.url]).toEqual([200, `${site.origin}/`]);
  });

  itOnBothInLongRun('lose no session and let nobody through when one is killed while it answers', async () => {
    const killed = await aProcess();
    board.use({ port: killed.port } as TestIdp);
    const stranger = httpClient();
    const ask = async (who: HttpClient) =>
      (await who.get(`${site.origin}/`, asProgram).catch(() => ({ status: 0 }))).status;
    const answers: [HttpClient, number][] = [];
    let isKilled = false;
    const load = [browser, stranger].map(async (who) => {
      while (!isKilled) answers.push([who, await ask(who)]);
    });
    await expect.poll(() => answers.length).toBeGreaterThan(20);
    await killed.process.kill('SIGKILL');
    isKilled = true;
    await Promise.all(load);
    const of = (who: HttpClient) => [...new Set(answers.filter(([one]) => one === who).map(([, found]) => found))];
    expect(of(stranger)).not.toContain(200);
    // A question that the killed node did not answer is one that the proxy could not ask.
    expect(of(browser).filter((found) => found !== 0 && found !== 502)).toEqual([200]);
    board.use(other);
    expect(await ask(browser)).toBe(200);
    expect(await ask(stranger)).toBe(401);
  });

  itOnBothInLongRun('keep the sessions when all are started again', async () => {
    const again = await aProcess();
    board.use({ port: again.port } as TestIdp);
    expect(await status()).toBe(200);
    await again.process.kill('SIGTERM');
    const last = await aProcess();
    board.use({ port: last.port } as TestIdp);
    expect(await status()).toBe(200);
    await last.process.kill('SIGTERM');
  });

  async function aProcess(): Promise<{ port: number; process: ServerProcess }> {
    const port = await freePort();
    return { port, process: await serverProcess({ ...one.environment, PORT: String(port) }) };
  }
});
