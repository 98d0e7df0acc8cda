// Neither the sign-in nor the registration reveals whether an account exists: not by status, headers or body, nor by the time.
// Measured times flake on a busy machine, so what takes the time is checked: one password hash, and the fixed time of a form.
// (Password reset: test/recovery/enumeration.test.ts; statements of a password check: test/credentials/equal-time.test.ts.)
import argon2 from 'argon2';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { limits } from '../../src/base/limits.ts';
import { CURRENT_PREFIX } from '../../src/people/credentials/password.ts';
import { type Application, anApplication, authorizeUrl } from '../oidc/support.ts';
import { aUser, PASSWORD } from '../support/factories.ts';
import { type HttpClient, httpClient, type Page } from '../support/http.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';
import { signedIn } from '../support/pages/account.ts';
import { realWaits } from '../support/waits.ts';

realWaits();
const kinds = ['known', 'unknown', 'disabled', 'passwordless'] as const;
type Kind = (typeof kinds)[number];
const WRONG = 'not the password, I fear';
/** The right one of a disabled account takes as long as any wrong one. */
const passwordFor = (kind: Kind) => (kind === 'disabled' ? PASSWORD : WRONG);
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

describe('a failed sign-in', () => {
  it('gets the same response for every kind of account', async () => {
    const page = await form();
    const answers = [];
    for (const kind of kinds) {
      const answer = await browser.submit(page, { username: kind, password: WRONG });
      expect(answer.status).toBe(401);
      answers.push(seen(answer, kind));
    }
    for (const answer of answers) expect(answer).toEqual(answers[0]);
  });

  it('computes one password hash for every kind of account', async () => {
    const page = await form();
    const verify = vi.spyOn(argon2, 'verify');
    for (const kind of kinds) {
      await browser.submit(page, { username: kind, password: passwordFor(kind) });
      const parameters = verify.mock.calls.splice(0).map(([stored]) => stored.slice(0, CURRENT_PREFIX.length));
      expect(parameters, kind).toEqual([CURRENT_PREFIX]);
    }
  });

  it('is distinguished by the audit log only', async () => {
    await browser.submit(await form(), { username: 'unknown', password: 'not the password, I fear' });
    const events = await idp.services.audit.list({ types: ['sign-in.password'], outcome: 'failure', limit: 200 });
    expect(new Set(events.map(({ reason }) => reason)).size).toBeGreaterThan(1);
    expect(events.map(({ reason }) => reason)).toContain('unknown_account');
  });
});

describe('a registration', () => {
  it('gets the same response after the fixed time, whether the address has an account or not', async () => {
    const visitor = httpClient(idp.issuer);
    const page = await visitor.get('/sign-up');
    // The account is looked up later, by the mail job.
    const defer = vi.spyOn(idp.services.outbox, 'defer');
    const results = [];
    for (const email of ['known@example.com', 'nobody@example.com']) {
      const started = performance.now();
      const { status, location, text } = await visitor.submit(page, { email });
      // A timer may fire a millisecond early.
      expect(performance.now() - started, email).toBeGreaterThan(limits.uniformAnswer.milliseconds - 2);
      results.push({ status, location, text, queued: defer.mock.calls.splice(0).map(([mail]) => mail) });
    }
    const [known, unknown] = results;
    expect(unknown).toEqual(known);
    expect(known).toMatchObject({ status: 303, queued: ['registration'] });
  });
});
