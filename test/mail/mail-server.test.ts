// The mail server of the settings: set and tested in the console, used at once by every instance, with its password nowhere.
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { consoleOf, staff } from '../admin/console/support.ts';
import { type ApiCaller, aService } from '../admin/support.ts';
import { forgot } from '../recovery/support.ts';
import { aUser, type TestUser } from '../support/factories.ts';
import type { HttpClient, Page } from '../support/http.ts';
import { freePort, startIdp, type TestIdp } from '../support/idp.ts';
import { type Mailbox, type MailboxOptions, mailbox } from '../support/mailbox.ts';
import { textOf } from '../support/pages/html.ts';

const PASSWORD = 'pa55-of-the-relay';
const LOGIN = { username: 'relay', password: PASSWORD };
const anyVersion = { 'if-match': '*' };

let idp: TestIdp;
let admin: HttpClient;
let api: ApiCaller;
let user: TestUser;
let records: Record<string, string[]> = {};
const boxes: Mailbox[] = [];

beforeAll(async () => {
  const resolveTxt = async (name: string) => {
    if (name.startsWith('silent.')) throw new Error('no name server answered in 6000 ms');
    return records[name] ?? [];
  };
  idp = await startIdp({ resolveTxt, environment: { LOG_LEVEL: 'trace' } });
  user = await staff(idp, 'admin');
  admin = await consoleOf(idp, user);
  api = await aService(idp);
});
afterEach(async () => {
  for (const name of ['mail_server', 'mail_sender'] as const) await idp.services.settings.unset(name);
  await idp.services.settings.reload();
  await idp.services.db.rateLimit.deleteMany();
  records = {};
});
afterAll(async () => {
  await idp?.stop();
  await Promise.all(boxes.map((box) => box.close()));
});

async function aBox(options?: MailboxOptions): Promise<Mailbox> {
  const box = await mailbox(options);
  boxes.push(box);
  return box;
}
const serverAt = (port: number, more: object = {}) => ({ host: '127.0.0.1', tls: 'none', port, ...more });
const patch = (body: object) => api.send('PATCH', '/settings', body, anyVersion);
const save = async (fields: Record<string, string>) => {
  const sent = await admin.submit(await admin.get('/admin/settings/mail'), fields);
  expect(sent.status, textOf(sent.text)).toBe(303);
};
const test = async (selector = '') =>
  admin.submit(await admin.get('/admin/settings/mail'), { selector }, { form: '/admin/mail/test' });
async function withServer(server: object, sender?: object): Promise<void> {
  expect((await patch({ mail_server: server, ...(sender && { mail_sender: sender }) })).status).toBe(200);
}

describe('a mail server of the settings', () => {
  it('set in the console sends an invitation without a restart, by every instance', async () => {
    const other = await startIdp({ environment: { DATABASE_URL: String(idp.environment.DATABASE_URL) } });
    const atOther = await consoleOf(other, user);
    const box = await aBox({ credentials: LOGIN });
    expect(textOf((await admin.get('/admin')).text)).toContain('Set up mail');
    expect(textOf((await admin.get('/admin/users/new')).text)).toContain('No mail server is set');
    await save({
      'mail_server.host': 'localhost',
      'mail_server.tls': 'none',
      'mail_server.port': String(box.port),
      'mail_server.username': LOGIN.username,
      'mail_server.password': PASSWORD,
      'mail_sender.address': 'sso@example.com',
      'mail_sender.name': 'Sign-in of Example',
    });
    const invite = async (client: HttpClient, username: string) => {
      const fields = { username, email: `${username}@example.com`, begin: 'invite' };
      await client.submit(await client.get('/admin/users/new'), fields);
      return box.waitForMail(fields.email);
    };
    const mail = await invite(admin, 'invited');
    expect([mail.from, mail.source]).toEqual([
      'sso@example.com',
      expect.stringContaining('From: "Sign-in of Example" <sso@example.com>'),
    ]);
    expect(textOf((await admin.get('/admin')).text)).not.toContain('No mail server is set');
    await expect
      .poll(async () => textOf((await atOther.get('/admin/users/new')).text))
      .not.toContain('No mail server is set');
    expect((await invite(atOther, 'invited-there')).from).toBe('sso@example.com');
    await other.stop();
  });

  it('keeps its password as long as host, port and user name stay, and shows it nowhere', async () => {
    const stored = async () => (await idp.services.settings.reload()).mail_server;
    await withServer(serverAt(2525, LOGIN));
    await save({ 'mail_sender.address': 'a@example.com' });
    expect(await stored()).toEqual(serverAt(2525, LOGIN));
    await withServer(serverAt(2525, { username: LOGIN.username }));
    expect(await stored()).toEqual(serverAt(2525, LOGIN));
    for (const change of [{ port: 2526 }, { host: '127.0.0.2' }, { username: 'other' }]) {
      const refused = await patch({ mail_server: { ...serverAt(2525, { username: LOGIN.username }), ...change } });
      expect([refused.status, refused.json().errors]).toEqual([
        400,
        [expect.objectContaining({ path: 'mail_server.password', code: 'mail-password' })],
      ]);
    }
    const moved = await admin.submit(await admin.get('/admin/settings/mail'), { 'mail_server.port': '2526' });
    expect([moved.status, moved.text]).toEqual([400, expect.stringContaining('href="#f-mail_server.password"')]);
    await withServer(serverAt(2525));
    expect(await stored()).toEqual(serverAt(2525));
    await withServer(serverAt(2525, LOGIN));
    const row = await idp.services.db.setting.findUniqueOrThrow({ where: { key: 'mail_server' } });
    const audit = await idp.services.db.auditEvent.findMany();
    for (const [what, text] of Object.entries({
      row: row.value,
      audit: JSON.stringify(audit),
      log: idp.log.join('\n'),
      page: (await admin.get('/admin/settings/mail')).text,
      settings: (await api.get('/settings')).text,
      export: (await api.get('/configuration')).text,
    }))
      expect(text.includes(PASSWORD), what).toBe(false);
    expect((await api.get('/configuration')).text).toContain('username: relay');
    await save({ 'mail_server.host': '' });
    expect(await stored()).toBeUndefined();
  });

  it.each<[string, object, string]>([
    ['without TLS to another machine', { host: 'smtp.example.com', tls: 'none' }, 'mail_server.tls'],
    ['without TLS in a private network', { host: '10.0.0.1', tls: 'none' }, 'mail_server.tls'],
    ['a host with a path', { host: 'smtp.example.com/x' }, 'mail_server.host'],
    ['a host with a new line', { host: 'a\r\nb' }, 'mail_server.host'],
    ['a password without a user name', { host: 'a.example', password: 'x' }, 'mail_server.username'],
    ['a user name with a new line', { host: 'a.example', username: 'a\nb', password: 'x' }, 'mail_server.username'],
    ['a port out of range', { host: 'a.example', port: 65_536 }, 'mail_server.port'],
  ])('is rejected: %s', async (_what, mail_server, path) => {
    const refused = await patch({ mail_server });
    expect([refused.status, refused.json<{ errors: { path: string }[] }>().errors.map((one) => one.path)]).toEqual([
      400,
      [path],
    ]);
  });

  it.each<[string, object, string]>([
    ['a header in the address', { address: 'a@example.com\r\nBcc: b@example.com' }, 'mail_sender.address'],
    ['two addresses', { address: 'a@example.com, b@example.com' }, 'mail_sender.address'],
    ['a header in the name', { address: 'a@example.com', name: 'A\r\nBcc: b@example.com' }, 'mail_sender.name'],
  ])('has no sender with %s', async (_what, mail_sender, path) => {
    const refused = await patch({ mail_sender });
    expect([refused.status, refused.json<{ errors: { path: string }[] }>().errors.map((one) => one.path)]).toEqual([
      400,
      [path],
    ]);
  });

  it('does not turn an email that was saved as a file before into a sent one', async () => {
    const invite = async (username: string) => {
      const fields = { username, email: `${username}@example.com`, begin: 'invite' };
      const made = await admin.submit(await admin.get('/admin/users/new'), fields);
      const { db } = idp.services;
      const sent = () => db.mailMessage.count({ where: { recipient: fields.email, sentAt: { not: null } } });
      await expect.poll(sent).toBe(1);
      return made.location ?? '';
    };
    const [before, box] = [await invite('before'), await aBox()];
    await withServer(serverAt(box.port));
    const after = await invite('after');
    const { items } = (await api.get('/mail')).json<{ items: { recipient: string; written_to_file: boolean }[] }>();
    const isFile = (recipient: string) => items.find((one) => one.recipient === recipient)?.written_to_file;
    expect([isFile('before@example.com'), isFile('after@example.com')]).toEqual([true, false]);
    const list = textOf((await admin.get('/admin/mail')).text);
    expect(list).toMatch(/before@example\.com You’ve been invited to \S+ Saved as a file/);
    expect(list).toMatch(/after@example\.com You’ve been invited to \S+ Accepted by the mail server/);
    expect(textOf((await admin.get(before)).text)).toContain('Saved as a file');
    expect(textOf((await admin.get(after)).text)).not.toContain('Saved as a file');
  });

  it('that is away answers a person as one of the environment does, and email waits', async () => {
    const port = await freePort();
    await withServer(serverAt(port));
    const person = await aUser(idp.services);
    const answer = await forgot(idp, person.username);
    expect(answer.status).toBe(303);
    const { db } = idp.services;
    const waits = async () =>
      db.mailMessage.count({ where: { lastError: { contains: 'ECONNREFUSED' }, sentAt: null } });
    await expect.poll(waits).toBeGreaterThan(0);
    expect(textOf((await admin.get('/admin/mail')).text)).toContain('Not delivering');
    const box = await aBox();
    await withServer(serverAt(box.port));
    await db.mailMessage.updateMany({ data: { nextTryAt: new Date(0) } }); // rather than wait for ten seconds
    expect((await box.waitForMail(person.account.email ?? '', { seconds: 60 })).text).toContain(
      '/reset-password?token=',
    );
  });
});

describe('the test message', () => {
  it('says what the server said at each step, and what is missing in the DNS', async () => {
    const box = await aBox({ credentials: LOGIN });
    await withServer(serverAt(box.port, LOGIN), { address: 'sso@mail.example.com', name: 'SSO' });
    const said = textOf((await test()).text);
    expect(said).toContain('The mail server accepted the test message');
    expect(said).toMatch(/Connect 220 .*Sign in 235 .*Sender 250 .*Recipient 250 .*Message 250 /);
    expect(said).toMatch(/SPF mail\.example\.com Absent .* v=spf1 mx ~all/);
    expect(said).toMatch(/DKIM .*Not checked .* without its selector/);
    expect(said).toMatch(
      /DMARC _dmarc\.mail\.example\.com Absent .* v=DMARC1; p=none; rua=mailto:postmaster@mail\.example\.com/,
    );
    expect((await box.waitForMail(user.account.email ?? '')).subject).toContain('Test');
    const [event] = await idp.services.db.auditEvent.findMany({
      where: { type: 'mail.sent' },
      orderBy: { id: 'desc' },
      take: 1,
    });
    expect(event).toMatchObject({ outcome: 'success', actorId: user.account.id });

    records = {
      'mail.example.com': ['other', 'v=spf1 include:_spf.example.net ~all'],
      's1._domainkey.mail.example.com': ['v=DKIM1; k=rsa; p=MIIB'],
      '_dmarc.example.com': ['v=DMARC1; p=reject'],
    };
    const found = textOf((await test('s1')).text);
    expect(found).toMatch(/SPF mail\.example\.com Found .*include:_spf\.example\.net/);
    expect(found).toMatch(/DKIM s1\._domainkey\.mail\.example\.com Found /);
    expect(found).toMatch(/DMARC _dmarc\.example\.com Found .*p=reject/);
  });

  it.each<[string, Record<string, string[]>, RegExp]>([
    ['two SPF records', { 'example.com': ['v=spf1 mx -all', 'v=spf1 a -all'] }, /several SPF records/],
    ['an SPF record for everybody', { 'example.com': ['v=spf1 +all'] }, /lets every server send/],
    ['a revoked key', { 's1._domainkey.example.com': ['v=DKIM1; p='] }, /is empty, which means revoked/],
    ['no key', {}, /There is no key at s1\._domainkey\.example\.com/],
    ['a DMARC policy of none', { '_dmarc.example.com': ['v=DMARC1; p=none'] }, /only asks for reports/],
  ])('has advice about %s', async (_what, given, advice) => {
    records = given;
    const box = await aBox();
    await withServer(serverAt(box.port), { address: 'sso@example.com' });
    expect(textOf((await test('s1')).text)).toMatch(advice);
  });

  it('says that no name server answered, and that a domain is not public', async () => {
    const box = await aBox();
    await withServer(serverAt(box.port), { address: 'sso@silent.example.com' });
    expect(textOf((await test()).text)).toContain('No name server answered about silent.example.com');
    await withServer(serverAt(box.port), { address: 'sso@localhost' });
    expect(textOf((await test()).text)).toContain('sso@localhost isn’t in a public domain');
  });

  it.each<[string, () => Promise<[object, MailboxOptions | undefined]>, RegExp]>([
    [
      'a wrong password',
      async () => [{ ...LOGIN, password: 'wr0ng-pa55word' }, { credentials: LOGIN }],
      /rejected the username or the password .*Connect .*Passed Sign in .*535 .*Failed Sender/,
    ],
    [
      'a certificate that nobody trusts',
      async () => [{ tls: 'starttls' }, { tls: 'starttls' }],
      /The certificate of the mail server isn’t valid .*Encrypt .*certificate/,
    ],
    [
      'one over TLS from the start',
      async () => [{ tls: 'implicit' }, { tls: 'implicit' }],
      /The certificate of the mail server isn’t valid/,
    ],
    ['no STARTTLS', async () => [{ tls: 'starttls' }, undefined], /No encrypted connection to the mail server/],
    [
      'TLS from the start at a port without it',
      async () => [{ tls: 'implicit' }, undefined],
      /No encrypted connection to the mail server/,
    ],
    [
      'a server that is away',
      async () => [{ port: await freePort() }, undefined],
      /can’t be reached .*Connect .*ECONNREFUSED .*Failed/,
    ],
    [
      'a link-local address',
      async () => [{ host: '169.254.169.254', tls: 'starttls' }, undefined],
      /an address that no mail server has/,
    ],
  ])('says what is wrong: %s', async (_what, prepare, words) => {
    const [change, options] = await prepare();
    const box = await aBox(options);
    await withServer({ ...serverAt(box.port), ...change }, { address: 'sso@example.com' });
    const page: Page = await test();
    expect(textOf(page.text)).toMatch(words);
    const kept = [page.text, idp.log.join('\n'), JSON.stringify(await idp.services.db.auditEvent.findMany())].join(
      '\n',
    );
    for (const secret of [PASSWORD, 'wr0ng-pa55word', Buffer.from('wr0ng-pa55word').toString('base64')])
      expect(kept.includes(secret)).toBe(false);
    const [event] = await idp.services.db.auditEvent.findMany({
      where: { type: 'mail.failed' },
      orderBy: { id: 'desc' },
      take: 1,
    });
    expect(event).toMatchObject({ outcome: 'failure', actorId: user.account.id });
  });

  it('does not display what another service than a mail server says', async () => {
    const { createServer } = await import('node:net');
    const server = createServer(
      (socket) => void socket.on('error', () => {}).write('SSH-2.0-OpenSSH_9.6 inner-host\r\n'),
    );
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    await withServer(serverAt(typeof address === 'object' && address ? address.port : 0), { address: 'a@example.com' });
    const page = await test();
    expect(textOf(page.text)).toContain('does not answer as a mail server');
    expect(page.text).not.toContain('OpenSSH');
    server.close();
  });

  it('goes to the address that is typed, by API too, which counts and audits it', async () => {
    const box = await aBox();
    await withServer(serverAt(box.port), { address: 'sso@example.com' });
    const page = await admin.get('/admin/settings/mail');
    expect(page.forms.find(({ action }) => action.endsWith('/admin/mail/test'))?.fields.to).toBe(user.account.email);
    await admin.submit(page, { to: 'other@example.com' }, { form: '/admin/mail/test' });
    expect((await box.waitForMail('other@example.com')).from).toBe('sso@example.com');
    const send = (body: object) => api.send('POST', '/mail/test', body);
    const sent = await send({ to: 'inbox@example.com', selector: 's1' });
    expect(sent.json()).toMatchObject({
      outcome: 'accepted',
      title: 'The mail server accepted the test message',
      failed_step: null,
      records: [
        { kind: 'SPF', state: 'absent' },
        { kind: 'DKIM', name: 's1._domainkey.example.com' },
        { kind: 'DMARC' },
      ],
    });
    await box.waitForMail('inbox@example.com');
    expect((await send({ to: 'nobody' })).json()).toMatchObject({ errors: [{ path: 'to' }] });
    expect((await send({ to: 'a@example.com', selector: 'a b' })).status).toBe(400);
    const [event] = await idp.services.audit.list({ types: ['mail.sent'], limit: 1 });
    expect(event).toMatchObject({ outcome: 'success', data: { message: 'test', recipient: 'inbox@example.com' } });
    expect(event?.actorApp ?? event?.actorId).toBeTruthy();
    const more = await Promise.all(Array.from({ length: 10 }, (_, at) => send({ to: `to-${at}@example.com` })));
    expect(more.map(({ status }) => status)).toContain(429);
  });

  it('without an own address asks for one', async () => {
    const someone = await staff(idp, 'admin');
    await idp.services.accounts.update(someone.account.id, { email: null });
    const client = await consoleOf(idp, someone);
    const asked = await client.submit(await client.get('/admin/mail'), {}, { form: '/admin/mail/test' });
    expect(asked.status).toBe(400);
    expect(asked.text).toMatch(/name="to"[^>]* aria-invalid="true"/);
    const sent = await client.submit(asked, { to: 'mine@example.com' }, { form: '/admin/mail/test' });
    expect(textOf(sent.text)).toContain('was saved as a file');
  });

  it('rejects a malformed selector', async () => {
    const page = await test('a b');
    expect([page.status, textOf(page.text)]).toEqual([400, expect.stringContaining('must be a DKIM selector')]);
  });

  it('takes both rights: that of the settings, and that of mail', async () => {
    await idp.services.roles.create({
      name: 'mail-reader',
      permissions: ['gatehouse.settings:read', 'gatehouse.mail:read'],
    });
    const reader = await consoleOf(idp, await staff(idp, 'mail-reader'));
    const page = await reader.get('/admin/settings/mail');
    expect(page.text).not.toContain('/admin/mail/test');
    expect(page.text).toMatch(/name="mail_server.host"[^>]* readonly/);
    expect((await reader.post('/admin/mail/test', { form: {} })).status).toBe(403);
  });
});

describe('the environment', () => {
  it('replaces both settings, and the page says so', async () => {
    const [wins, stored] = [await aBox(), await aBox()];
    const environment = { SMTP_URL: wins.url.replace('//', '//me:hunter2pass@'), MAIL_FROM: 'Env <env@example.com>' };
    const other = await startIdp({ environment });
    const { settings } = other.services;
    await settings.set('mail_server', { host: '127.0.0.1', port: stored.port, tls: 'none' });
    await settings.set('mail_sender', { address: 'stored@example.com' });
    await settings.reload();
    const boss = await staff(other, 'admin');
    const client = await consoleOf(other, boss);
    const page = await client.get('/admin/settings/mail');
    expect(textOf(page.text)).toMatch(/Set by SMTP_URL .*Set by MAIL_FROM /);
    expect(page.text).toMatch(new RegExp(`name="mail_server.port"[^>]* value="${wins.port}"[^>]* readonly`));
    expect(page.text).toMatch(/name="mail_sender.address"[^>]* value="env@example.com"[^>]* readonly/);
    expect(page.text).not.toContain('hunter2pass');
    expect(page.text).not.toContain('name="mail_server.password"');
    await client.submit(page, {}, { form: '/admin/mail/test' });
    const mail = await wins.waitForMail(boss.account.email ?? '');
    expect([mail.from, stored.messages]).toEqual(['env@example.com', []]);
    await other.stop();
  });

  it('without a sender takes that of the settings, and warns at the start where there is none', async () => {
    const box = await aBox();
    const other = await startIdp({ environment: { SMTP_URL: box.url } });
    expect(other.log.join()).toContain('the sender of email is not set: it is sent as Gatehouse <no-reply@localhost>');
    await other.services.settings.set('mail_sender', { address: 'stored@example.com' });
    await other.services.settings.reload();
    await forgot(other, (await aUser(other.services)).username);
    await expect.poll(() => box.messages[0]?.from).toBe('stored@example.com');
    await other.stop();
  });
});
