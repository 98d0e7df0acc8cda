// The access check of the console: the result for each cause, and the button that fixes it.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { OidcClientInput } from '../../src/applications/fields/oidc-client.ts';
import { confirmation, consoleOf, signedInLongAgo, signInAgain, staff } from '../admin/console/support.ts';
import { aService } from '../admin/support.ts';
import { itOnSqlite } from '../support/database/it-on-sqlite.ts';
import { aClient, aUser, type TestUser } from '../support/factories.ts';
import { failSignIn } from '../support/failed-sign-in.ts';
import { type HttpClient, httpClient, type Page } from '../support/http.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';
import { linksOf, textOf } from '../support/pages/html.ts';

let idp: TestIdp;
let boss: TestUser;
let admin: HttpClient;
beforeAll(async () => {
  idp = await startIdp();
  await idp.services.roles.create({ name: 'editor' });
  await idp.services.groups.create({ name: 'Payroll Team' });
  const desk = await idp.services.groups.create({ name: 'Help Desk' });
  await idp.services.groups.addRole(desk.id, 'support');
  boss = await staff(idp, 'admin');
  admin = await consoleOf(idp, boss);
});
afterAll(() => idp?.stop());

const checkOf = (username: string, clientId: string, by = admin): Promise<Page> =>
  by.get(`/admin/access-check?${new URLSearchParams({ user: username, app: clientId })}`);
/** Presses the button of a cause. */
async function press(page: Page, label: string, by = admin): Promise<Page> {
  const form = page.forms.find(({ buttons }) => buttons.some((one) => one.label === label));
  if (!form) throw new Error(`No button ${label}: ${textOf(page.text)}`);
  return by.post(form.action, { form: form.fields });
}
const app = (input: Partial<OidcClientInput> = {}) =>
  aClient(idp.services, { client_name: 'Payroll', redirect_uris: ['https://app.example.com/cb'], ...input });

interface Cause {
  app?: Partial<OidcClientInput>;
  /** Makes the person unable to sign in. */
  cause(user: TestUser, applicationId: string): Promise<unknown>;
  says: string;
  button: string;
  /** What the page that asks first says, and its button where it is another one. */
  question?: string;
  answer?: string;
}

const wrongPasswords = async ({ account }: TestUser, login: 'username' | 'email') => {
  for (let attempt = 0; attempt < 6; attempt += 1)
    await failSignIn(idp.services.lockout, { login: account[login] ?? '', address: `192.0.2.${attempt}` });
};
const approval = async () => {
  await idp.services.settings.set('first_factor', 'approval');
  await idp.services.settings.reload();
};

const causes: Record<string, Cause> = {
  'a disabled account': {
    cause: ({ account }) => idp.services.accounts.setActive(account.id, false, { actorId: boss.account.id }),
    says: 'The account of Ann Example is disabled. ',
    button: 'Enable Ann Example',
    question: 'Enable Ann Example?',
  },
  'a disabled application': {
    cause: (_user, applicationId) => idp.services.applications.setEnabled(applicationId, false),
    says: 'Payroll is disabled',
    button: 'Enable Payroll',
    question: 'Enable Payroll?',
  },
  'a missing role': {
    app: { access: { roles: ['editor'] } },
    cause: async () => {},
    says: 'Payroll requires the role editor. Ann Example has no roles.',
    button: 'Give Ann Example the role editor',
  },
  'a missing role with permissions in Gatehouse': {
    app: { access: { roles: ['support'] } },
    cause: async () => {},
    says: 'Payroll requires the role support. Ann Example has no roles.',
    button: 'Give Ann Example the role support',
    question: 'permissions in Gatehouse?',
    answer: 'Give permissions',
  },
  'a missing group with permissions in Gatehouse': {
    app: { access: { roles: [], groups: ['Help Desk'] } },
    cause: async () => {},
    says: 'Payroll requires the group Help Desk. Ann Example is in no group.',
    button: 'Add Ann Example to the group Help Desk',
    question: 'gets the role support by the group Help Desk',
    answer: 'Give permissions',
  },
  'a missing group': {
    app: { access: { roles: [], groups: ['Payroll Team'] } },
    cause: async () => {},
    says: 'Payroll requires the group Payroll Team. Ann Example is in no group.',
    button: 'Add Ann Example to the group Payroll Team',
  },
  'a lockout by username': {
    cause: (user) => wrongPasswords(user, 'username'),
    says: 'Too many wrong passwords for the username person',
    button: 'Unlock Ann Example',
  },
  'a lockout by email': {
    cause: (user) => wrongPasswords(user, 'email'),
    says: 'Too many wrong passwords for the email person',
    button: 'Unlock Ann Example',
  },
  'a second step that needs an approval': {
    app: { mfa: 'required' },
    cause: approval,
    says: 'an administrator must allow it',
    button: 'Allow two-step verification for Ann Example',
  },
  'a second step that only the application requires': {
    app: { mfa: 'required' },
    cause: approval,
    says: 'an administrator must allow it',
    button: 'Stop requiring two-step verification for Payroll',
    question: 'Stop requiring two-step verification for Payroll?',
  },
  'an application without local sign-in': {
    app: { local_sign_in: false },
    cause: async () => {},
    says: 'Payroll doesn’t accept Gatehouse passwords and passkeys.',
    button: 'Accept Gatehouse passwords and passkeys',
    question: 'Accept Gatehouse passwords and passkeys?',
  },
};

describe('the access check', () => {
  itOnSqlite.each(Object.entries(causes))(
    'is red for %s, and green after its button, which asks first where it changes more',
    async (_name, { cause, says, ...one }) => {
      const { clientId, applicationId } = await app(one.app);
      const user = await aUser(idp.services);
      await cause(user, applicationId);
      const red = await checkOf(user.username, clientId);
      expect(textOf(red.text)).toContain('Ann Example can’t sign in to Payroll');
      expect(textOf(red.text)).toContain(says);
      if (!(await idp.services.accounts.find(user.account.id))?.isActive)
        expect(textOf(red.text)).toMatch(
          new RegExp(`\\(${boss.username}\\) disabled it on .* UTC.*disabled .*’s account`, 's'),
        );
      const pressed = await press(red, one.button);
      if (one.question) {
        expect(textOf(pressed.text)).toContain(one.question);
        expect((await idp.services.accounts.find(user.account.id))?.roles).toEqual([]);
      }
      const done = await admin.follow(one.question ? await press(pressed, one.answer ?? one.button) : pressed);
      expect(done.url).toContain('/admin/access-check?user=');
      expect(textOf(done.text)).toContain('Ann Example can sign in to Payroll');
      expect(done.text).not.toContain(`>${one.button}<`);
    },
  );

  itOnSqlite('offers no local sign-in to a person who has neither password nor passkey', async () => {
    const { clientId } = await app({ local_sign_in: false });
    const account = await idp.services.accounts.create({ username: 'nothing-local' });
    const red = await checkOf(account.username, clientId);
    expect(textOf(red.text)).toContain('Payroll doesn’t accept Gatehouse passwords and passkeys.');
    expect(textOf(red.text)).toContain('has no password, no passkey and no linked identity provider.');
    expect(red.text).not.toContain('>Accept Gatehouse passwords and passkeys<');
    expect(textOf(red.text)).toContain('Create temporary password');
  });

  itOnSqlite('says how to go on where a person has no way to sign in', async () => {
    const { clientId } = await app();
    const account = await idp.services.accounts.create({ username: 'nopassword', email: 'nopassword@example.com' });
    const red = await checkOf(account.username, clientId);
    expect(textOf(red.text)).toContain('nopassword has no password, no passkey and no linked identity provider.');
    // No mail server is set, so an invitation would reach nobody.
    expect(red.text).not.toContain('Invite nopassword');
    expect(red.text).toMatch(/href="[^"]*\/password"[^>]*>(<svg.*?<\/svg>)?\s*Create temporary password/s);
    await admin.submit(await admin.get(`/admin/users/${account.id}/invite`), {}, { form: '/invite' });
    const invited = await checkOf(account.username, clientId);
    expect(textOf(invited.text)).toContain('nopassword hasn’t accepted the invitation of');
    // What was opened from the check leads back to it.
    const opened = { headers: { referer: red.url } };
    const question = await admin.get(`/admin/users/${account.id}/password`, opened);
    expect(
      linksOf(question.text, red.url)
        .filter(({ href }) => href === red.url)
        .map(({ label }) => label),
    ).toEqual(['Access check', 'Cancel']);
    const created = await admin.follow(await admin.submit(question));
    expect(linksOf(created.text, red.url)).toContainEqual(
      expect.objectContaining({ label: 'Access check', href: red.url }),
    );
    const email = await admin.get(`/admin/users/${account.id}/change/email`, opened);
    expect((await admin.submit(email, { email: 'other@example.com' })).location).toBe(red.url);
  });

  itOnSqlite('says that a network is over its limit, and that a client has no secret', async () => {
    const { clientId, applicationId } = await app();
    const { username } = await aUser(idp.services);
    const browser = httpClient(idp.issuer);
    const form = await browser.follow(await browser.get('/login'));
    await browser.submit(form, { username, password: 'a wrong password' });
    const [event] = await idp.services.audit.list({ types: ['sign-in.password'], limit: 1 });
    const { rateLimits } = idp.services;
    while ((await rateLimits.consume('sign-in:address', event?.address ?? '')).allowed);
    const { db } = idp.services;
    await db.clientSecret.deleteMany({ where: { applicationId } });
    const page = textOf((await checkOf(username, clientId)).text);
    expect(page).toContain(`Too many attempts came from ${event?.address}.`);
    expect(page).toContain('No client secret of Payroll is valid');
    await rateLimits.reset('sign-in:address', event?.address ?? '');
  });

  it('lists wrong passwords and those of a disabled account, which name no application', async () => {
    const { clientId } = await app();
    const { account, username, password } = await aUser(idp.services);
    const browser = httpClient(idp.issuer);
    const form = await browser.follow(await browser.get('/login'));
    const again = await browser.submit(form, { username, password: 'a wrong password' });
    const page = await checkOf(username, clientId);
    expect(textOf(page.text)).toContain('The last password was wrong.');
    expect(page.text).not.toContain('Send password reset');
    expect(page.text).toContain(`/admin/users/${account.id}/password`);
    await idp.services.accounts.setActive(account.id, false);
    await browser.submit(again, { username, password });
    const list = textOf((await checkOf(username, clientId)).text);
    expect(list).toContain(`Ann Example (${username}) entered an incorrect password`);
    expect(list).toContain(`Ann Example (${username}) entered the correct password, but the account is disabled`);
  });

  itOnSqlite('names the application of each attempt, also of a wrong password', async () => {
    const other = await app({ client_name: 'Wiki' });
    const { clientId } = await app();
    const { username } = await aUser(idp.services);
    for (const client_id of [other.clientId, clientId]) {
      const browser = httpClient(idp.issuer);
      const request = { response_type: 'code', client_id, redirect_uri: 'https://app.example.com/cb', scope: 'openid' };
      const challenge = { code_challenge: 'a'.repeat(43), code_challenge_method: 'S256' };
      const form = await browser.follow(
        await browser.get(`/authorize?${new URLSearchParams({ ...request, ...challenge })}`),
      );
      await browser.submit(form, { username, password: 'a wrong password' });
    }
    const attempts = /<ol class="events"[\s\S]*?<\/ol>/.exec((await checkOf(username, clientId)).text)?.[0] ?? '';
    const lines = attempts.split('<li').slice(1).map(textOf);
    expect(lines).toHaveLength(2);
    for (const [at, name] of ['Payroll', 'Wiki'].entries())
      expect(lines[at]).toMatch(new RegExp(`\\(${username}\\) entered an incorrect password.* ${name} · `));
    // The log that the page leads to has them all: a wrong password is an event of the user, not of the application.
    const { text, url } = await checkOf(username, clientId);
    const log = linksOf(text, url).find(({ href }) => href.includes('/admin/audit?'))?.href ?? '';
    const inLog = textOf((await admin.get(log)).text);
    expect(inLog.split(`Ann Example (${username}) entered an incorrect password`)).toHaveLength(3);
  });

  itOnSqlite('offers a fix only to an administrator who has the right, and says which right is missing', async () => {
    const { clientId } = await app({ access: { roles: ['editor'] } });
    const user = await aUser(idp.services);
    await wrongPasswords(user, 'username');
    const support = await consoleOf(idp, await staff(idp, 'support'));
    const red = await checkOf(user.username, clientId, support);
    expect(red.text).toContain('Unlock Ann Example');
    expect(red.text).not.toContain('Give Ann Example the role editor</button>');
    expect(textOf(red.text)).toContain('You don’t have permission to give Ann Example the role editor.');
    const form = { ...red.forms.find(({ fields }) => fields.fix === 'unlock')?.fields, fix: 'role editor' };
    expect((await support.post('/admin/access-check', { form })).status).toBe(409);
    const { _csrf, ...withoutToken } = form as Record<string, string>;
    expect((await admin.post('/admin/access-check', { form: withoutToken })).status).toBe(403);
    expect((await idp.services.accounts.find(user.account.id))?.roles).toEqual([]);
  });

  itOnSqlite('answers a fix whose cause has ended with a new check that says so', async () => {
    const { clientId } = await app();
    const user = await aUser(idp.services);
    await wrongPasswords(user, 'username');
    const red = await checkOf(user.username, clientId);
    await idp.services.lockout.unlock(user.account);
    const page = await admin.follow(await press(red, 'Unlock Ann Example'));
    expect(page.url).toContain('/admin/access-check?user=');
    expect(textOf(page.text)).toContain('Ann Example isn’t locked anymore. Nothing was changed.');
    expect(textOf(page.text)).toContain('Ann Example can sign in to Payroll');
  });

  itOnSqlite(
    'puts what blocks the sign-in above what may be the cause, and does not call a warning passed',
    async () => {
      const { clientId } = await app();
      const user = await aUser(idp.services);
      const browser = httpClient(idp.issuer);
      const form = await browser.follow(await browser.get('/login'));
      await browser.submit(form, { username: user.username, password: 'a wrong password' });
      const warned = textOf((await checkOf(user.username, clientId)).text);
      expect(warned).toContain('The last password was wrong.');
      expect(warned).not.toContain('Every check passed.');
      await wrongPasswords(user, 'username');
      const locked = await browser.submit(form, { username: user.username, password: user.password });
      expect(locked.status).toBe(429);
      expect(locked.text).not.toContain('Unlock by email'); // no mail server is set
      const list = textOf((await admin.get(`/admin/users?q=${user.username}`)).text);
      expect(list).toMatch(/ Locked /);
      const { text: filtered } = await admin.get('/admin/users?state=locked');
      expect(filtered).toContain(`/admin/users/${user.account.id}"`);
      expect(filtered).not.toContain(`/admin/users/${boss.account.id}"`);
      expect(textOf((await admin.get(`/admin/users/${user.account.id}`)).text)).not.toMatch(
        /Locked Active|Active Locked/,
      );
      const log = textOf((await admin.get(`/admin/audit?user=${user.username}`)).text);
      expect(log).toContain(`A sign-in as Ann Example (${user.username}) was blocked after too many wrong passwords`);
      const overview = await admin.get('/admin');
      expect(overview.text).toContain(`/admin/users/${user.account.id}/unlock"`);
      const red = await checkOf(user.username, clientId);
      expect(textOf(red.text)).toMatch(/Too many wrong passwords.*The last password was wrong/s);
      const done = textOf((await admin.follow(await press(red, 'Unlock Ann Example'))).text);
      expect(done).toContain('Every check passed.');
      expect(done).not.toContain('password was wrong');
    },
  );

  itOnSqlite('says that a phishing-resistant sign-in needs a passkey that the person has yet to add', async () => {
    const { clientId } = await app({ mfa: 'phishing-resistant' });
    const user = await aUser(idp.services);
    await idp.services.settings.set('first_factor', 'open');
    await idp.services.settings.reload();
    await idp.services.mfa.totp.importSecret(user.account.id, 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP');
    const page = textOf((await checkOf(user.username, clientId)).text);
    expect(page).toContain(
      'Ann Example confirms the sign-in with an authenticator app, then has to add a passkey: Payroll requires a phishing-resistant sign-in.',
    );
    expect(page).not.toContain('Every check passed.');
  });

  itOnSqlite('says that a passkey alone is the two-step verification that the application requires', async () => {
    const { clientId } = await app({ mfa: 'required' });
    const { account, username } = await aUser(idp.services);
    const [userId, publicKey] = [account.id, Buffer.from('key')];
    const key = { id: `key-${userId}`, userId, name: 'Phone', publicKey, userVerified: true };
    await idp.services.db.passkey.create({ data: key });
    await idp.services.db.passwordCredential.deleteMany({ where: { userId } });
    const page = textOf((await checkOf(username, clientId)).text);
    expect(page).toMatch(
      /Two-step verification\S* Ann Example signs in with a passkey, which counts as two-step verification\. Passed/,
    );
    expect(page).not.toContain('doesn’t require');
  });

  describe('of a page of a website', () => {
    const page = (path: string) => `https://wiki.example.com${path}`;
    let user: TestUser;
    beforeAll(async () => {
      await idp.services.settings.set('first_factor', 'open');
      await idp.services.settings.reload();
      await idp.services.roles.create({ name: 'wiki admin' });
      await idp.services.applications.createProxied({
        name: 'Handbook',
        url: page(''),
        proxy: 'caddy',
        access: { roles: ['editor'] },
        paths: [
          { path: '/admin/', methods: ['GET'], rule: { roles: ['wiki admin'] } },
          { path: '/admin/', rule: { roles: ['wiki admin'], groups: ['Payroll Team'] } },
          { path: '/closed', rule: { roles: [], groups: [] } },
          { path: '/secure/', rule: 'mfa' },
          { path: '/public/', rule: 'public' },
        ],
      });
    });
    beforeEach(async () => {
      user = await aUser(idp.services);
      await idp.services.roles.assign(user.account.id, 'editor');
    });
    const said = async (address: string, method = 'GET') => {
      const query = new URLSearchParams({ user: user.username, app: address, method });
      return textOf((await admin.get(`/admin/access-check?${query}`)).text);
    };

    it.each([
      [
        '/admin/users?all=1#x',
        'can’t open',
        'The path rule /admin/ applies to GET /admin/users. /admin/ requires the role wiki admin. ',
      ],
      ['/closed', 'can’t open', 'The path rule names no role and no group, so nobody has access to /closed.'],
      [
        '/secure/',
        'can open',
        'The path rule /secure/ applies to GET /secure/. /secure/ requires two-step verification.',
      ],
      ['/notes', 'can open', 'No path rule applies to GET /notes, so only the access rule counts.'],
      ['/a//b', 'can’t open', 'Servers read the path /a//b in two ways.'],
    ])('says which rule decides about %s', async (path, result, sentence) => {
      const text = await said(page(path));
      expect(text).toContain(`Ann Example ${result} ${page(path.split('?')[0] ?? '')}`);
      expect(text).toContain(sentence);
    });

    itOnSqlite('takes the method that the rule names', async () => {
      const text = await said(page('/admin/'), 'POST');
      expect(text).toContain(
        'applies to POST /admin/. /admin/ requires the role wiki admin or the group Payroll Team.',
      );
    });

    itOnSqlite('says that everyone can open a public page, also a user who cannot sign in to the website', async () => {
      await idp.services.roles.unassign(user.account.id, 'editor');
      expect(await said(page('/public/a'))).toContain(`Everyone can open ${page('/public/a')}`);
      expect(await said(page('/notes'))).toContain(`Ann Example can’t open ${page('/notes')}`);
    });

    itOnSqlite('is green after its button, and asks for a page where the website alone is chosen', async () => {
      const red = await checkOf(user.username, page('/admin/'));
      const done = await admin.follow(await press(red, 'Give Ann Example the role wiki admin'));
      expect(textOf(done.text)).toContain(`Ann Example can open ${page('/admin/')}`);
      expect(done.forms.some(({ fields }) => fields.app === page('/admin/') && fields.method === 'GET')).toBe(true);
      const plain = textOf((await checkOf(user.username, 'Handbook')).text);
      expect(plain).toContain('Ann Example can sign in to Handbook');
      expect(plain).toContain('Handbook has path rules. Enter the address of a page');
    });

    it('is answered by the API, too', async () => {
      const api = await aService(idp);
      const ask = async (query: Record<string, string>) => {
        const search = new URLSearchParams({ user: user.username, ...query });
        const answer = await api.send('GET', `/access-check?${search}`);
        return answer.json<{ page?: unknown; may_open: boolean; can_sign_in: boolean; rules: { id: string }[] }>();
      };
      const closed = await ask({ application: page('/admin/') });
      expect(closed).toMatchObject({ page: { method: 'GET', path: '/admin/' }, may_open: false, can_sign_in: false });
      expect(closed.rules.find(({ id }) => id === 'path')).toMatchObject({ state: 'failed', met: false });
      expect(await ask({ application: page('/admin/'), method: 'PUT' })).toMatchObject({ page: { method: 'PUT' } });
      const website = await ask({ application: page('') });
      expect(website).toMatchObject({ may_open: true, can_sign_in: true });
      expect(website.page).toBeUndefined();
    });
  });

  itOnSqlite('needs a fresh sign-in for a fix that needs one elsewhere, and comes back to the check', async () => {
    const colleague = await staff(idp, 'admin');
    const browser = await consoleOf(idp, colleague);
    const { clientId } = await app({ access: { roles: ['editor'] } });
    const { username } = await aUser(idp.services);
    await signedInLongAgo(idp, colleague);
    const red = await checkOf(username, clientId, browser);
    const button = 'Give Ann Example the role editor';
    const asked = await confirmation(browser, await press(red, button, browser));
    const back = await signInAgain(browser, asked, colleague);
    const done = await browser.follow(await press(back, button, browser));
    expect(textOf(done.text)).toContain('Ann Example can sign in to Payroll');
    expect((await idp.services.audit.list({ types: ['role.assigned'], limit: 1 }))[0]?.actorId).toBe(
      colleague.account.id,
    );
  });
});

it('lists the applications of a person alone in pages, each with the result of the check and a link to it', async () => {
  const { username, account } = await aUser(idp.services, { name: 'Lou Alone' });
  const { id } = await idp.services.groups.create({ name: 'Alone' });
  const access = { roles: [], groups: ['Alone'] };
  for (const number of [10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20])
    await app({ client_name: `0 Alone ${number}`, access });
  const strict = await app({ client_name: '0 Alone 0', access, mfa: 'required' });
  const closed = await app({ client_name: '0 Alone closed', access: { roles: ['editor'] } });
  const look = () => admin.get(`/admin/access-check?${new URLSearchParams({ user: username })}`);
  expect(textOf((await look()).text)).not.toContain('0 Alone 1');

  await idp.services.groups.addMembers(id, [{ userId: account.id }]);
  const page = await look();
  const links = linksOf(page.text, page.url);
  const named = links.filter(({ label }) => label.includes('0 Alone'));
  expect(named).toHaveLength(10);
  expect(links.map(({ href }) => href).join()).not.toContain(encodeURIComponent(closed.clientId));
  expect(textOf(page.text)).toMatch(/0 Alone 10.{0,20} Can sign in/);
  const to = named.find(({ href }) => new URL(href).searchParams.get('app') === strict.clientId);
  expect(textOf((await admin.get(to?.href ?? '')).text)).toContain('Lou Alone can');
  const next = links.find(({ label }) => label.startsWith('Next'));
  expect(textOf((await admin.get(next?.href ?? '')).text)).toContain('0 Alone 20');

  for (let attempt = 0; attempt < 6; attempt += 1)
    await failSignIn(idp.services.lockout, { login: username, address: `192.0.2.${attempt}` });
  expect(textOf((await look()).text)).toMatch(/0 Alone 10.{0,20} Can’t sign in/);
  await idp.services.accounts.setActive(account.id, false);
  expect(textOf((await look()).text)).toContain('The account is disabled, so Lou Alone can’t open any application.');
});

it('lists no applications for an administrator who may not see them', async () => {
  const { username } = await aUser(idp.services);
  await app({ client_name: '0 Unseen' });
  const permissions = ['gatehouse.audit:read', 'gatehouse.users:read'];
  await idp.services.roles.create({ name: 'sees-no-applications', permissions });
  const support = await consoleOf(idp, await staff(idp, 'sees-no-applications'));
  const page = await support.get(`/admin/access-check?${new URLSearchParams({ user: username })}`);
  expect(page.status).toBe(200);
  expect(textOf(page.text)).toContain('Recent attempts');
  expect(textOf(page.text)).not.toContain('0 Unseen');
});
