// What a page says after an action is what happened: the state of an email, a rotation that is not possible, in the language of the page.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { limits } from '../../../src/base/limits.ts';
import { type FaultySmtpServer, faultySmtpServer } from '../../mail/smtp.ts';
import { type Application, anApplication, signIn } from '../../oidc/support.ts';
import { aUser } from '../../support/factories.ts';
import { type HttpClient, httpClient, type Page } from '../../support/http.ts';
import { startIdp, type TestIdp } from '../../support/idp.ts';
import { textOf } from '../../support/pages/html.ts';
import { consoleOf, staff } from './support.ts';

/** The message after an action: its tone and its words. */
function noticeOf({ text }: Page): [string, string] | undefined {
  const [, tone = '', inner = ''] = /<p class="note (\w+)" role="status">(.*?)<\/p>/s.exec(text) ?? [];
  return tone === '' ? undefined : [tone, textOf(inner)];
}

/** Pages of people that have an email sent, and what is typed there. */
const ASKING: readonly (readonly [string, Record<string, string>])[] = [
  ['/sign-up', { email: 'newcomer@example.com' }],
  ['/forgot-password', { username: 'nobody' }],
  ['/unlock/ask', { username: 'nobody' }],
];
const FROM = { requestId: 'r', address: '127.0.0.1', userAgent: '' };

async function until(condition: () => Promise<boolean>): Promise<void> {
  for (let tries = 0; !(await condition()); tries += 1) {
    if (tries > 2400) throw new Error('the condition was not met within a minute');
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
}

describe('an email', () => {
  let idp: TestIdp;
  let smtp: FaultySmtpServer;
  let admin: HttpClient;
  beforeAll(async () => {
    smtp = await faultySmtpServer();
    idp = await startIdp({ environment: { SMTP_URL: smtp.url, MAIL_FROM: 'sso@example.com' } });
    admin = await consoleOf(idp, await staff(idp, 'admin'));
  });
  afterAll(async () => {
    await idp?.stop();
    await smtp?.close();
  });

  const settled = (recipient: string) =>
    until(async () => {
      const rows = await idp.services.db.mailMessage.findMany({ where: { recipient } });
      return rows.length > 0 && rows.every(({ sentAt, failedAt }) => sentAt !== null || failedAt !== null);
    });

  it('is queued first; the page of the user says later that it was accepted, or what the mail server answered', async () => {
    smtp.rejections.set('gone@example.com', 550);
    for (const [username, state] of [
      ['there', /Invitation Invited .* Email: Accepted by the mail server there@example\.com/],
      ['gone', /Invitation Invitation bounced .* Not delivered .*550/],
    ] as const) {
      const email = `${username}@example.com`;
      const fields = { username, email, begin: 'invite' };
      const made = await admin.follow(await admin.submit(await admin.get('/admin/users/new'), fields));
      expect(noticeOf(made)).toEqual(['info', 'Invitation queued. This page displays what becomes of it.']);
      await settled(email);
      const later = await admin.get(made.url);
      expect(noticeOf(later)).toBeUndefined();
      expect(textOf(later.text)).toMatch(state);
    }
    const list = textOf((await admin.get('/admin/mail?state=failed')).text);
    expect(list).toMatch(/gone@example\.com .*550.* Not delivered/);
    expect(textOf((await admin.get('/admin')).text)).toContain('1 not delivered');
  });

  it('that a person asks for is announced, not reported as sent', async () => {
    await idp.services.settings.set('self_registration', true);
    await idp.services.settings.reload();
    const person = httpClient(idp.issuer);
    for (const [path, fields] of ASKING) {
      const answer = await person.follow(await person.submit(await person.get(path), fields));
      expect(textOf(answer.text), path).toMatch(/Check your email .*you’ll get an email with a link/i);
      expect(textOf(answer.text), path).not.toMatch(/we (sent|emailed)/i);
    }
  });

  it('is in the activity log as requested, then as accepted or not', async () => {
    const { account } = await aUser(idp.services, { name: 'Lena Logged' });
    smtp.rejections.set(account.email ?? '', 550);
    await admin.submit(await admin.get(`/admin/users/${account.id}/security`), {}, { form: '/send-reset' });
    await settled(account.email ?? '');
    const log = textOf((await admin.get('/admin/audit')).text);
    expect(log).toContain('requested a password reset link for');
    expect(log).not.toMatch(/ sent [\w ]{1,40} a password reset link/);
    expect(log).toContain('An email to Lena Logged wasn’t delivered');
    expect(log).toContain(String(account.email));
  });

  it('with a link for a new password has its state on the tab Security', async () => {
    const { account } = await aUser(idp.services);
    const page = await admin.get(`/admin/users/${account.id}/security`);
    const sent = await admin.follow(await admin.submit(page, {}, { form: '/send-reset' }));
    expect(noticeOf(sent)).toEqual(['info', 'Password reset queued. This page displays what becomes of it.']);
    await settled(account.email ?? '');
    expect(textOf((await admin.get(sent.url)).text)).toContain(
      `Password reset Email: Accepted by the mail server ${account.email}`,
    );
  });

  it.each([
    ['a recipient', 550, 'rejected the test message', 'doesn’t accept this sender or'],
    ['a recipient', 451, 'doesn’t take the test message now', 'Email waits, and is tried again'],
    ['the sender', 553, 'rejected the sender', 'Check the sender'],
    ['the sender', 421, 'doesn’t take the test message now', 'Email waits, and is tried again'],
  ])('the test of a mail server that answers to %s with %d says what happened', async (about, code, title, advice) => {
    const page = await admin.get('/admin/mail');
    const recipient = (await idp.services.db.mailMessage.findFirstOrThrow()).recipient;
    smtp.rejections.set(about === 'the sender' ? 'sso@example.com' : recipient, code);
    const tested = textOf((await admin.submit(page, {}, { form: '/mail/test' })).text);
    smtp.rejections.clear();
    expect(tested).toContain(title);
    expect(tested).toContain(advice);
  });
});

describe('without a mail server', () => {
  let idp: TestIdp;
  let admin: HttpClient;
  beforeAll(async () => {
    idp = await startIdp();
    admin = await consoleOf(idp, await staff(idp, 'admin'));
  });
  afterAll(() => idp?.stop());

  it('an invitation is a file, as the choice said: the message says where, and leads to a temporary password', async () => {
    const fields = { username: 'filed', email: 'filed@example.com', begin: 'invite' };
    const made = await admin.follow(await admin.submit(await admin.get('/admin/users/new'), fields));
    const [tone, words] = noticeOf(made) ?? [];
    const { outboxDir } = idp.services.config;
    expect([tone, words]).toEqual(['info', expect.stringContaining(`the invitation is a file in ${outboxDir}.`)]);
    expect(made.text).toMatch(/role="status">.*<a href="\/admin\/users\/[^"]+\/password">/s);
    await until(async () => (await idp.services.db.mailMessage.count({ where: { sentAt: null } })) === 0);
    expect(textOf((await admin.get(made.url)).text)).toMatch(
      /Invitation Invited .* Saved as a file filed@example\.com/,
    );
    const tested = await admin.submit(await admin.get('/admin/mail'), {}, { form: '/mail/test' });
    expect(tested.text).toContain('<section class="result warn">');
  });

  it('the page after a form says that no email was sent, the same for every name', async () => {
    await idp.services.settings.set('self_registration', true);
    await idp.services.settings.reload();
    const { username } = await aUser(idp.services);
    const person = httpClient(idp.issuer);
    for (const [path, fields] of [...ASKING, ['/forgot-password', { username }] as const]) {
      const answer = await person.follow(await person.submit(await person.get(path), fields));
      expect(textOf(answer.text), path).toContain('No email was sent This server can’t send email right now');
    }
    const code = await aUser(idp.services);
    expect((await idp.services.codeDelivery.send(code.account, 'email', code.account.email ?? '', FROM)).outcome).toBe(
      'sent',
    );
    const log = textOf((await admin.get(`/admin/audit?user=${code.username}`)).text);
    expect(log).toContain('A code by email was requested for');
    expect(log).not.toContain('was sent');
  });

  it('the end of a session names the applications that are being notified and those that cannot be', async () => {
    const back = await anApplication(idp, {
      client_name: 'With back channel',
      backchannel_logout_uri: 'http://127.0.0.1:9/logout',
    });
    const none = await anApplication(idp, { client_name: 'Without logout' });
    const user = await aUser(idp.services, { name: 'Sam Session' });
    const browser = httpClient(idp.issuer);
    const end = async (applications: Application[], path: (uid: string) => string) => {
      for (const application of applications) await signIn(browser, application, user);
      const [session] = await idp.services.sessions.list(user.account.id);
      const question = await admin.get(path(session?.uid ?? ''));
      return noticeOf(await admin.follow(await admin.submit(question, {}, { form: '/end' })));
    };
    const one = (uid: string) => `/admin/sessions/${uid}/end`;
    expect(await end([back], one)).toEqual([
      'ok',
      'Session ended. Gatehouse is notifying With back channel. Activity log',
    ]);
    expect(await end([none], one)).toEqual([
      'warn',
      'Session ended. These applications can’t be notified, so the person may still be signed in there: Without logout. Activity log',
    ]);
    expect(await end([back, none], () => `/admin/users/${user.account.id}/end-sessions`)).toEqual([
      'warn',
      '1 session ended. Gatehouse is notifying With back channel. These applications can’t be notified, so the person may still be signed in there: Without logout. Activity log',
    ]);

    await end([back, none], one);
    for (const application of [back, none]) await signIn(httpClient(idp.issuer), application, user);
    const disable = await admin.get(`/admin/users/${user.account.id}/disable`);
    expect(noticeOf(await admin.follow(await admin.submit(disable, {}, { form: '/disable' })))).toEqual([
      'warn',
      'User disabled. 2 sessions ended. Gatehouse is notifying With back channel. These applications can’t be notified, so the person may still be signed in there: Without logout. Activity log',
    ]);
  });

  it('a rotation that is too early is a disabled button that says when it is possible, and a request says so too', async () => {
    const page = await admin.get('/admin/keys');
    const button = /<button[^>]*disabled>Rotate.*?<\/button><small>(.*?)<\/small>/s.exec(page.text);
    expect(textOf(button?.[1] ?? '')).toMatch(/^From .* UTC ?, when applications have read the next key$/);
    expect(page.text).not.toContain('/admin/keys/rotate?use=oidc');
    const question = await admin.get('/admin/keys/rotate?use=oidc&step=rotate');
    expect(question.forms.filter(({ action }) => action.endsWith('/rotate'))).toEqual([]);
    const { _csrf } = (await admin.get('/admin/keys/rotate?use=saml&step=publish')).forms.at(-1)?.fields ?? {};
    const headers = { origin: new URL(idp.issuer).origin };
    const form = { _csrf: _csrf ?? '', use: 'oidc', step: 'rotate' };
    const early = await admin.follow(await admin.post('/admin/keys/rotate', { form, headers }));
    expect(noticeOf(early)).toEqual([
      'warn',
      expect.stringMatching(/^Not rotated\. The next key can sign from .* UTC ?\.$/),
    ]);
  });

  it.each(['saml', 'saml-sp', 'saml-sp-encryption'])('the next %s certificate is activated later', async (use) => {
    const published = await admin.follow(
      await admin.submit(await admin.get(`/admin/keys/rotate?use=${use}&step=publish`)),
    );
    expect(noticeOf(published)?.[0]).toBe('ok');
    expect(published.text).not.toContain(`use=${use}&amp;step=activate`);
    expect(published.text).toMatch(/<button[^>]*disabled>Activate (certificate|key)/);
    const next = (await idp.services.keyring.list()).find((key) => key.use === use && key.state === 'next');
    expect(next?.canSignFrom?.getTime()).toBe(
      (next?.createdAt.getTime() ?? 0) + limits.keys.publishAheadSeconds * 1000,
    );
    const early = new Date(Date.now() - (limits.keys.publishAheadSeconds + 60) * 1000);
    await idp.services.db.signingKey.updateMany({ where: { use, state: 'next' }, data: { createdAt: early } });
    expect((await admin.get('/admin/keys')).text).toContain(`use=${use}&amp;step=activate`);
  });

  it('a message is in the language of the page that shows it, and a stored form too', async () => {
    const made = await admin.submit(await admin.get('/admin/roles/new'), { name: 'Buchhaltung' });
    const german = await admin.get(made.headers.location as string, { headers: { 'accept-language': 'de' } });
    expect(noticeOf(german)).toEqual(['ok', expect.stringMatching(/Rolle/)]);
  });

  it('what changed nothing is not said in green', async () => {
    const list = await admin.follow(await admin.get('/admin/users/bulk?action=disable'));
    expect(noticeOf(list)?.[0]).toBe('warn');
    const { account } = await aUser(idp.services);
    await idp.services.roles.create({ name: 'Twice' });
    const role = (await idp.services.db.role.findFirstOrThrow({ where: { name: 'Twice' } })).id;
    const add = async () =>
      noticeOf(
        await admin.follow(
          await admin.submit(await admin.get(`/admin/roles/${role}/members`), { user: account.username }),
        ),
      )?.[0];
    expect([await add(), await add()]).toEqual(['ok', 'warn']);
    const ended = await admin.follow(
      await admin.submit(await admin.get(`/admin/users/${account.id}/end-sessions`), {}, { form: '/end-sessions' }),
    );
    expect(noticeOf(ended)).toEqual(['warn', 'No session was open.']);
  });
});
