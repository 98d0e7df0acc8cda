// The request for a password reset does not reveal whether an account exists: not by status, headers or body, nor by the time.
// Measured times flake on a busy machine, so what takes the time is checked: the same work for every name, then the fixed time.
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { limits } from '../../src/base/limits.ts';
import { aConnection } from '../federation/support.ts';
import { aUser } from '../support/factories.ts';
import { httpClient, type Page } from '../support/http.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';
import { type Mailbox, mailbox } from '../support/mailbox.ts';
import { realWaits } from '../support/waits.ts';
import { forgot, mailIsIdle } from './support.ts';

realWaits();
const kinds = ['known', 'unknown', 'disabled', 'passwordless', 'addressless', 'elsewhere', 'directory'] as const;
let box: Mailbox;
let idp: TestIdp;

beforeAll(async () => {
  box = await mailbox();
  idp = await startIdp({ environment: { SMTP_URL: box.url } });
  const { accounts, db, settings } = idp.services;
  await aUser(idp.services, { username: 'known' });
  const { account } = await aUser(idp.services, { username: 'disabled' });
  await accounts.setActive(account.id, false);
  await accounts.create({ username: 'passwordless', email: 'passwordless@example.com' });
  await aUser(idp.services, { username: 'addressless', email: null });
  const elsewhere = await accounts.create({
    username: 'elsewhere',
    email: 'elsewhere@example.com',
    ssoId: 'upstream:1',
  });
  const inDirectory = await accounts.create({ username: 'directory', email: 'directory@example.com' });
  const directory = {
    id: 'directory',
    kind: 'ldap',
    name: 'Example Directory',
    url: 'ldaps://dir.example',
    base_dn: 'dc=x',
  };
  await aConnection(idp, directory);
  const issuer = 'https://corp.example';
  await aConnection(idp, { id: 'corp', issuer, client_id: 'x', client_secret: 'a secret' });
  for (const [connectionId, subject, { id: userId }] of [
    ['directory', 'entry-1', inDirectory],
    ['directory', 'entry-2', elsewhere],
    ['corp', 'upstream:1', elsewhere],
  ] as const)
    await idp.services.identities.link({ connectionId, subject, userId, label: subject }, {});
  await settings.set('rate_limits', false);
  await settings.reload();
  await db.rateLimit.deleteMany();
});
afterAll(async () => {
  await idp?.stop();
  await box?.close();
});

const seen = ({ status, headers, text }: Page) => {
  const { date: _date, 'x-request-id': _id, 'set-cookie': _cookies, ...rest } = headers;
  return { status, headers: rest, text };
};

describe('a request for a password reset', () => {
  it('gets the same pages for every kind of account', async () => {
    const answers = [];
    for (const kind of kinds) {
      const browser = httpClient(idp.issuer);
      const answer = await forgot(idp, kind, browser);
      expect(answer).toMatchObject({ status: 303, location: `${idp.issuer}/forgot-password/sent` });
      answers.push([seen(answer), seen(await browser.follow(answer))]);
    }
    for (const answer of answers) expect(answer).toEqual(answers[0]);
  });

  it('does the same work for every kind of account, and responds when the fixed time is over', async () => {
    const browser = httpClient(idp.issuer);
    const page = await browser.get('/forgot-password');
    // The account is looked up later, by the mail job.
    const defer = vi.spyOn(idp.services.outbox, 'defer');
    const queued = [];
    for (const kind of kinds) {
      const started = performance.now();
      await browser.submit(page, { username: kind });
      // A timer may fire a millisecond early.
      expect(performance.now() - started, kind).toBeGreaterThan(limits.uniformAnswer.milliseconds - 2);
      queued.push(defer.mock.calls.splice(0).map(([mail, { typed }, seconds]) => ({ mail, typed, seconds })));
    }
    expect(queued).toEqual(kinds.map((kind) => [{ mail: 'password-reset', typed: kind, seconds: expect.any(Number) }]));
    await mailIsIdle(idp.services);
  });

  it('sends mail only to users who can use it, and records the rest in the audit log', async () => {
    const to = (address: string) =>
      box.messages.filter((mail) => mail.to.includes(address)).map(({ subject }) => subject);
    expect(new Set(to('known@example.com'))).toEqual(new Set(['Reset your password']));
    expect(new Set(to('passwordless@example.com'))).toEqual(new Set(['Reset your password']));
    expect(new Set(to('elsewhere@example.com'))).toEqual(new Set(['You don’t have a password to reset']));
    expect(new Set(to('directory@example.com'))).toEqual(new Set(['You don’t have a password to reset']));
    // It says where the password is, or which connection the sso_id is of.
    const other = box.messages.find(({ to: all }) => all.includes('elsewhere@example.com'));
    expect(other?.text).toContain('because you sign in with Example Corp');
    const mail = box.messages.find(({ to: all }) => all.includes('directory@example.com'));
    expect(mail?.text.replace(/\s+/g, ' ')).toContain('Example Directory manages your password');
    expect(to('disabled@example.com')).toEqual([]);
    const events = await idp.services.audit.list({ types: ['password.reset-requested'], limit: 500 });
    expect(new Set(events.map(({ outcome, reason }) => `${outcome} ${reason}`))).toEqual(
      new Set([
        'success null',
        'failure unknown_account',
        'failure disabled_account',
        'failure no_address',
        'failure no_password_here',
      ]),
    );
    expect(events.filter(({ address, requestId }) => address === null || requestId === null)).toEqual([]);
  });
});
