// Sign-in with username or email address and password, and the same response for every kind of failure.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Application, anApplication, authorizeUrl, redirectUri } from '../oidc/support.ts';
import { aUser, PASSWORD } from '../support/factories.ts';
import { type HttpClient, httpClient, type Page } from '../support/http.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';
import { expectNotSignedIn, expectSignedIn } from '../support/pages/enter.ts';

let idp: TestIdp;
let app: Application;

beforeAll(async () => {
  idp = await startIdp();
  app = await anApplication(idp);
});
afterAll(() => idp?.stop());
// All of this file comes from one address, which would soon need a CAPTCHA.
beforeEach(() => idp.services.db.rateLimit.deleteMany());

const isThere = (url: string) => url.startsWith(redirectUri);
const atForm = async (browser: HttpClient) => browser.follow(await browser.get(authorizeUrl(idp, app.clientId)));

async function enter(username: string, password: string, browser = httpClient(idp.issuer)): Promise<Page> {
  return browser.follow(await browser.submit(await atForm(browser), { username, password }), isThere);
}

/** What an attacker can compare: all of a response except for what differs in each. */
function visible(page: Page, typed: string): object {
  const {
    'x-request-id': _id,
    date: _date,
    'set-cookie': _cookies,
    'content-length': _length,
    ...headers
  } = page.headers;
  const text = page.text
    .replaceAll(typed, 'NAME')
    .replace(/(signin[/=])[\w-]+/g, '$1UID')
    .replace(/value="[^"]{20,}"|data-[a-z]+="[^"]*"/g, 'value');
  return { status: page.status, headers, text, cookies: page.setCookie.map((cookie) => cookie.split('=')[0]) };
}

describe('a sign-in with a password', () => {
  it('works by username and by email address, in any case and with surrounding spaces', async () => {
    const user = await aUser(idp.services, { username: 'Zoë.Example', email: 'Zoe@Example.com' });
    for (const name of [
      'Zoë.Example',
      'ZOË.EXAMPLE',
      'zoe\u0308.example',
      'zoe@example.com',
      'ZOE@EXAMPLE.COM',
      '  zoe@example.com ',
    ]) {
      expectSignedIn(await enter(name, user.password), name);
    }
  });

  it('compares the password exactly, after Unicode normalization', async () => {
    const password = 'Größe und Maß: e\u0301clair 42';
    const user = await aUser(idp.services, { password });
    expectSignedIn(await enter(user.username, password.normalize('NFC')));
    expectSignedIn(await enter(user.username, password.normalize('NFD')));
    for (const wrong of [password.toLowerCase(), `${password} `, password.slice(0, -1), '']) {
      expectNotSignedIn(await enter(user.username, wrong), wrong);
    }
  });

  it('gives byte for byte the same response to a wrong password, an unknown name and a disabled account, whose right password alone names its state', async () => {
    const known = await aUser(idp.services);
    const disabled = await aUser(idp.services);
    const none = await idp.services.accounts.create({ username: 'no.password', name: 'None' });
    await idp.services.accounts.setActive(disabled.account.id, false);
    const answers = [
      [known.username, 'a wrong password it is'],
      ['nobody.at.all', PASSWORD],
      [disabled.username, 'a wrong password it is'],
      [none.username, PASSWORD],
    ].map(async ([name = '', password = '']) => visible(await enter(name, password), name));
    const [first, ...others] = await Promise.all(answers);
    expect(first).toMatchObject({ status: 401 });
    expect(JSON.stringify(first)).toContain('The username or password is incorrect.');
    for (const other of others) expect(other).toEqual(first);
    const right = await enter(disabled.username, disabled.password);
    expect([right.status, right.text]).toEqual([403, expect.stringContaining('Your account is disabled.')]);
    // It counts as a failure, and gets the wait of the lockout like any other.
    for (let count = 0; count < 3; count += 1) await enter(disabled.username, disabled.password);
    expect((await enter(disabled.username, disabled.password)).status).toBe(429);
  });

  it('records the reason of a failure in the audit log only', async () => {
    const user = await aUser(idp.services);
    await enter(user.username, 'a wrong password it is');
    await enter('nobody.else', PASSWORD);
    const events = await idp.services.audit.list({ types: ['sign-in.password'], outcome: 'failure', limit: 2 });
    expect(JSON.stringify(events)).toContain('unknown_account');
    expect(JSON.stringify(events)).toContain('wrong_password');
    expect(JSON.stringify(events)).not.toContain('a wrong password');
  });

  it.each(['', '\0', 'x'.repeat(300), '<script>', "' OR 1=1 --", '\ud800'])(
    'rejects the name %j without a server error',
    async (name) => {
      const page = await enter(name, PASSWORD);
      expect([400, 401]).toContain(page.status);
      expect(page.text).not.toContain('<script>alert');
    },
  );
});
