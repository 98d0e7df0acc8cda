// Claims in other languages (OpenID Connect Core 5.2): stored for a user as name#ja, requested with claims_locales or one by one.
import { beforeAll, describe, expect, it } from 'vitest';
import { consoleOf, imported, staff } from '../../admin/console/support.ts';
import { type ApiCaller, aPerson } from '../../admin/support.ts';
import { aUser, type TestUser } from '../../support/factories.ts';
import { httpClient } from '../../support/http.ts';
import type { TestIdp } from '../../support/idp.ts';
import { sharedIdp } from '../../support/shared-idp.ts';
import { type Application, anApplication, completeSignIn, postAs, signIn } from '../support.ts';

let idp: TestIdp;
let admin: ApiCaller;
let user: TestUser;
let app: Application;

const attributes = {
  'name#ja': '田中花子',
  'name#de-CH': 'Hanako (CH)',
  'family_name#ja-Hani-JP': '田中',
  'website#de': 'https://hanako.example/de',
  department: 'Library',
  'department#ja': '図書館',
};
const change = (to: object, { account }: TestUser = user) =>
  admin.send('PATCH', `/users/${account.id}`, { attributes: to }, { 'if-match': '*' });

beforeAll(async () => {
  idp = await sharedIdp();
  admin = await aPerson(idp, ['admin']);
  user = await aUser(idp.services, { name: 'Hanako Tanaka', familyName: 'Tanaka' });
  app = await anApplication(idp, { claims: { dept: 'attributes.department' } });
  expect((await change(attributes)).json()).toMatchObject({ attributes });
});

/** What this server delivers in both places, after a code and after a refresh. */
async function received(parameters: Record<string, string>, application = app) {
  const { tokens } = await signIn(httpClient(idp.issuer), application, user, {
    scope: 'openid profile',
    ...parameters,
  });
  const idToken = { ...tokens.claims() };
  const userinfo: Record<string, unknown> = await application.rp.userinfo(tokens);
  return { idToken, userinfo, tokens };
}
const tagged = (claims: object) => Object.fromEntries(Object.entries(claims).filter(([name]) => name.includes('#')));

describe('claims_locales', () => {
  it('gets no tagged claims when it is not sent', async () => {
    const { idToken, userinfo } = await received({});
    for (const claims of [idToken, userinfo]) {
      expect(claims).toMatchObject({ name: 'Hanako Tanaka', dept: 'Library' });
      expect(tagged(claims)).toEqual({});
    }
  });

  it('gets the claims of one language without a tag, and the others as they are', async () => {
    const { idToken, userinfo } = await received({ claims_locales: 'ja' });
    for (const claims of [idToken, userinfo]) {
      expect(claims).toMatchObject({ name: '田中花子', family_name: '田中', dept: '図書館' });
      expect(claims).not.toHaveProperty('website');
      expect(tagged(claims)).toEqual({});
    }
  });

  it('gets the claims of several languages with their tags, besides those without', async () => {
    const { idToken, userinfo } = await received({ claims_locales: 'ja de-AT xx' });
    for (const claims of [idToken, userinfo]) {
      expect(claims).toMatchObject({ name: 'Hanako Tanaka', family_name: 'Tanaka', dept: 'Library' });
      expect(tagged(claims)).toEqual({
        'name#ja': '田中花子',
        'family_name#ja-Hani-JP': '田中',
        'dept#ja': '図書館',
        'website#de': 'https://hanako.example/de',
      });
    }
  });

  it('gets nothing in place of a claim that was not granted', async () => {
    const { idToken } = await received({ scope: 'openid', claims_locales: 'ja' });
    expect(idToken).toMatchObject({ dept: '図書館' });
    expect(idToken).not.toHaveProperty('name');
  });

  it('works after a refresh, in a pushed request, and with claims that are requested one by one', async () => {
    const claims = JSON.stringify({ id_token: { name: { essential: true } } });
    const { idToken, userinfo, tokens } = await received({
      scope: 'openid offline_access',
      claims,
      claims_locales: 'JA',
    });
    expect([idToken.name, userinfo.name]).toEqual(['田中花子', undefined]);
    const form = { grant_type: 'refresh_token', refresh_token: tokens.refresh_token ?? '' };
    const refreshed = (await postAs(idp, app, '/token', form)).json();
    const [, payload = ''] = String(refreshed.id_token).split('.');
    expect(JSON.parse(Buffer.from(payload, 'base64url').toString())).toMatchObject({ name: '田中花子' });
    const started = await app.rp.start({ claims_locales: 'ja' });
    const pushed = await postAs(idp, app, '/par', Object.fromEntries(new URL(started.url).searchParams));
    const query = new URLSearchParams({ client_id: app.clientId, request_uri: String(pushed.json().request_uri) });
    const page = await completeSignIn(httpClient(idp.issuer), `${idp.issuer}/authorize?${query}`, { user });
    const pushedTokens = await app.rp.finish(page.location ?? '', started);
    expect(await app.rp.userinfo(pushedTokens)).toMatchObject({ name: '田中花子' });
  });
});

describe('a tagged claim that is requested by its name', () => {
  it('is delivered where it was requested, under the name of the request', async () => {
    const claims = JSON.stringify({
      id_token: { 'name#ja': null },
      userinfo: { 'name#de': { essential: true }, 'family_name#fr': null, 'email#ja': null },
    });
    const { idToken, userinfo } = await received({ scope: 'openid', claims });
    expect([tagged(idToken), tagged(userinfo)]).toEqual([{ 'name#ja': '田中花子' }, { 'name#de': 'Hanako (CH)' }]);
    expect(userinfo).not.toHaveProperty('email');
  });

  it('is asked for on the consent page as the claim that it translates', async () => {
    const askingApp = await anApplication(idp, { consent: 'explicit' });
    const claims = JSON.stringify({ id_token: { 'family_name#ja': null } });
    const { idToken } = await received({ scope: 'openid', claims }, askingApp);
    expect(tagged(idToken)).toEqual({ 'family_name#ja': '田中' });
    const stored = await idp.services.consents.list(user.account.id);
    expect(JSON.stringify(stored)).toContain('family_name');
  });
});

describe('values in other languages', () => {
  it.each<[string, unknown]>([
    ['name#JA', '花子'],
    ['name#ja-hani', '花子'],
    ['name#ja', 7],
    ['name#ja', 'two\nlines'],
    ['nickname#ja', 'a'.repeat(201)],
    ['website#ja', 'javascript:alert(1)'],
  ])('are rejected when they are wrong: %s is %j', async (name, value) => {
    const answer = await change({ [name]: value }, await aUser(idp.services));
    expect([answer.status, answer.json().errors]).toEqual([
      400,
      [expect.objectContaining({ path: `attributes.${name}` })],
    ]);
  });

  it('are imported from a CSV file, in columns of their own or as JSON, and exported to one', async () => {
    const browser = await consoleOf(idp, await staff(idp, 'admin'));
    const json = JSON.stringify({ department: 'Payroll', 'department#ja': '給与' }).replaceAll('"', '""');
    const csv = `username,name,name#ja,attributes\n"tagged.csv","Taro","太郎","${json}"\nwrong.csv,Taro,太郎,nothing`;
    const page = await imported(browser, csv);
    expect(page.text).toContain('attributes');
    const account = await idp.services.accounts.findByLogin('tagged.csv');
    expect(account?.attributes).toEqual({ 'name#ja': '太郎', department: 'Payroll', 'department#ja': '給与' });
    expect(await idp.services.accounts.findByLogin('wrong.csv')).toBeUndefined();
    const exported = (await browser.get('/admin/import/export')).text;
    expect(exported.split('\r\n')[0]).toContain(',attributes');
    expect(exported).toContain('""name#ja"":""太郎""');
  });

  it('are set in the console, also where a schema allows no other attributes', async () => {
    const browser = await consoleOf(idp, await staff(idp, 'admin'));
    const form = await browser.get(`/admin/users/${user.account.id}`);
    expect(form.text).toContain('name#ja');
  });
});
