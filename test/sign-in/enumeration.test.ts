// Neither the sign-in nor the registration reveals whether an account exists: status, headers, body, and the time over
// many tries in random order. (Password reset: test/recovery/enumeration.test.ts; work of a check:
// test/credentials/equal-time.)
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Application, anApplication, authorizeUrl } from '../oidc/support.ts';
import { medianOf, rankTest, shuffled } from '../recovery/statistics.ts';
import { aUser, PASSWORD } from '../support/factories.ts';
import { type HttpClient, httpClient, type Page } from '../support/http.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';
import { signedIn } from '../support/pages/account.ts';

const kinds = ['known', 'unknown', 'disabled', 'passwordless'] as const;
type Kind = (typeof kinds)[number];
/** The right password where there is one: a disabled account must not reveal that it is right. */
const passwordFor = (kind: Kind) => (kind === 'disabled' ? PASSWORD : 'not the password, I fear');
let idp: TestIdp;
let app: Application;
/** With the cookie of a known browser, which is looked up at each try. */
let browser: HttpClient;

beforeAll(async () => {
  idp = await startIdp();
  app = await anApplication(idp);
  const { accounts, settings } = idp.services;
  await aUser(idp.services, { username: 'known' });
  const { account } = await aUser(idp.services, { username: 'disabled' });
  await accounts.setActive(account.id, false);
  await accounts.create({ username: 'passwordless', email: 'passwordless@example.com' });
  await settings.set('rate_limits', false);
  await settings.set('self_registration', true);
  await settings.reload();
  browser = await signedIn(idp, await aUser(idp.services));
});
afterAll(() => idp?.stop());

const form = async () => browser.follow(await browser.get(authorizeUrl(idp, app.clientId, { prompt: 'login' })));

/** Without what differs between any two responses. */
function seen({ status, headers, text }: Page, name: string) {
  const { date: _date, 'x-request-id': _id, 'set-cookie': _cookies, ...rest } = headers;
  const same = text
    .replaceAll(`value="${name}"`, 'value="NAME"')
    .replace(/(name="_csrf" value|data-options|action|href)="[^"]*"/g, '$1');
  return { status, headers: { ...rest, 'content-length': undefined }, text: same };
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await work();
  return performance.now() - started;
}

/** The times have the same source, or differ by less than any step of the work takes. */
function expectAlike(times: Map<string, number[]>): void {
  const [[reference, base = []] = ['', []], ...others] = [...times];
  for (const [kind, list] of others) {
    const { p } = rankTest(list, base);
    const difference = Math.abs(medianOf(list) - medianOf(base));
    const isAlike = p > 0.001 || difference < medianOf(base) / 2;
    expect(isAlike, `${kind} beside ${reference}: p = ${p}, ${difference} of ${medianOf(base)} ms`).toBe(true);
  }
}

describe('a failed sign-in', () => {
  it('gets the same response for every kind of account', async () => {
    const page = await form();
    const answers = [];
    for (const kind of kinds) {
      const answer = await browser.submit(page, { username: kind, password: passwordFor(kind) });
      expect(answer.status).toBe(401);
      answers.push(seen(answer, kind));
    }
    for (const answer of answers) expect(answer).toEqual(answers[0]);
  });

  it('takes the same time for every kind of account', async () => {
    const page = await form();
    const times = new Map<Kind, number[]>(kinds.map((kind) => [kind, []]));
    for (const kind of kinds) await browser.submit(page, { username: kind, password: passwordFor(kind) });
    for (const kind of shuffled(Array.from({ length: 8 }, () => kinds).flat())) {
      const fields = { username: kind, password: passwordFor(kind) };
      times.get(kind)?.push(await timed(() => browser.submit(page, fields)));
    }
    expectAlike(times);
  });

  it('is distinguished by the audit log only', async () => {
    await browser.submit(await form(), { username: 'unknown', password: 'not the password, I fear' });
    const events = await idp.services.audit.list({ types: ['sign-in.password'], outcome: 'failure', limit: 200 });
    expect(new Set(events.map(({ reason }) => reason)).size).toBeGreaterThan(1);
    expect(events.map(({ reason }) => reason)).toContain('unknown_account');
  });
});

describe('a registration', () => {
  it('gets the same response in the same time, whether the address has an account or not', async () => {
    const stranger = httpClient(idp.issuer);
    const page = await stranger.get('/sign-up');
    const emails = { taken: 'known@example.com', free: 'nobody@example.com' } as const;
    const times = new Map<string, number[]>([
      ['free', []],
      ['taken', []],
    ]);
    const answers = [];
    for (const kind of shuffled(Array.from({ length: 8 }, () => ['taken', 'free'] as const).flat())) {
      const started = performance.now();
      const answer = await stranger.submit(page, { email: emails[kind] });
      times.get(kind)?.push(performance.now() - started);
      const { status, location, text } = answer;
      answers.push({ status, location, text });
    }
    for (const answer of answers) expect(answer).toEqual(answers[0]);
    expectAlike(times);
  });
});
