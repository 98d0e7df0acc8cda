// The pictures of people: uploaded on the account page, in the console and by API, received by applications as the claim `picture`, and
// served from here only while an account has them.
import { beforeAll, describe, expect, it } from 'vitest';
import { consoleOf, staff } from '../admin/console/support.ts';
import { type ApiCaller, aPerson } from '../admin/support.ts';
import { aJpeg, aPng, aSvg } from '../brand/pictures.ts';
import { anApplication, signIn } from '../oidc/support.ts';
import { aUser, type TestUser } from '../support/factories.ts';
import { type HttpClient, httpClient, type Page } from '../support/http.ts';
import type { TestIdp } from '../support/idp.ts';
import { signedIn } from '../support/pages/account.ts';
import { textOf } from '../support/pages/html.ts';
import { sharedIdp } from '../support/shared-idp.ts';

let idp: TestIdp;
let admin: ApiCaller;

beforeAll(async () => {
  idp = await sharedIdp();
  admin = await aPerson(idp, ['admin']);
});

const dataUrl = (content: Buffer) => `data:;base64,${content.toString('base64')}`;
const path = ({ account }: TestUser) => `/users/${account.id}`;
const pictureOf = async (user: TestUser) => (await admin.get(path(user))).json<{ picture: string | null }>().picture;
/** Sends the form of the page as a browser does. */
async function upload(browser: HttpClient, at: string, content: Buffer): Promise<Page> {
  const page = await browser.get(at);
  const form = page.forms.find(({ action }) => action.endsWith(at));
  const data = new FormData();
  for (const [name, value] of Object.entries(form?.fields ?? {})) if (name !== 'picture') data.append(name, value);
  data.append('picture', new File([new Uint8Array(content)], 'me.png'));
  const request = new Request(idp.issuer, { method: 'POST', body: data });
  const headers = { 'content-type': request.headers.get('content-type') ?? '', origin: idp.issuer };
  return browser.post(at, { body: new Uint8Array(await request.arrayBuffer()), headers });
}

describe('the picture of a person', () => {
  it('is uploaded by the person, displayed beside the name, and the claim `picture` from this server', async () => {
    const user = await aUser(idp.services);
    const browser = await signedIn(idp, user);
    const saved = await upload(browser, '/account/profile/picture', aPng({ after: Buffer.from('hidden data') }));
    expect(saved.status, textOf(saved.text)).toBe(303);
    const picture = (await pictureOf(user)) ?? '';
    expect(picture).toMatch(new RegExp(`^${idp.issuer}/assets/person-[0-9a-f]{32}\\.png$`));
    const shown = new URL(picture).pathname;
    for (const at of ['/account', '/account/profile']) expect((await browser.get(at)).text).toContain(`src="${shown}"`);
    const served = await httpClient(idp.issuer).get(shown);
    expect([served.status, served.headers['content-type']]).toEqual([200, 'image/png']);
    expect(served.headers['cache-control']).toContain('immutable');
    expect(served.headers['content-security-policy']).toContain("default-src 'none'");
    expect(served.text).not.toContain('hidden data');
    const app = await anApplication(idp);
    const { tokens } = await signIn(httpClient(idp.issuer), app, user, { scope: 'openid profile' });
    expect(tokens.claims()).toMatchObject({ picture });
  });

  it('is beside the name in the activity log, in a group and in the search', async () => {
    const user = await aUser(idp.services, { name: null, givenName: 'Nadia', familyName: 'Noor' });
    const [owner, { account }] = [await aUser(idp.services), user];
    await admin.send('PUT', `${path(user)}/picture`, { picture: dataUrl(aPng()) });
    const shown = new URL((await pictureOf(user)) ?? '').pathname;
    const group = await idp.services.groups.create({ name: `Pictured ${user.username}` });
    await idp.services.groups.appointOwner(group.id, { userId: owner.account.id });
    await idp.services.groups.addMembers(group.id, [{ userId: account.id }]);
    const [console, browser] = [await consoleOf(idp, await staff(idp, 'admin')), await signedIn(idp, owner)];
    for (const at of [
      `/admin/audit?user=${user.username}`,
      `/admin/groups/${group.id}`,
      `/admin/search?q=${user.username}`,
    ])
      expect((await console.get(at)).text, at).toContain(`src="${shown}"`);
    const page = await browser.get(`/account/groups/${group.id}`);
    expect(page.text).toContain(`src="${shown}"`);
    expect(textOf(page.text)).toContain(`Nadia Noor ${user.username}`);
    await idp.services.groups.appointOwner(group.id, { userId: account.id });
    expect((await console.get(`/admin/groups/${group.id}/owners`)).text).toContain(`src="${shown}"`);
  });

  it('is gone from here when it is replaced, removed, or its account deleted', async () => {
    const user = await aUser(idp.services);
    const browser = await signedIn(idp, user);
    await upload(browser, '/account/profile/picture', aPng());
    const first = (await pictureOf(user)) ?? '';
    await upload(browser, '/account/profile/picture', aJpeg());
    const second = (await pictureOf(user)) ?? '';
    const status = async (address: string) => (await httpClient(idp.issuer).get(new URL(address).pathname)).status;
    expect([await status(first), await status(second)]).toEqual([404, 200]);
    const page = await browser.get('/account/profile/picture');
    const remove = page.forms.find(({ action }) => action?.endsWith('/remove'));
    await browser.post(String(remove?.action), { form: remove?.fields ?? {} });
    expect([await pictureOf(user), await status(second)]).toEqual([null, 404]);
    await admin.send('PUT', `${path(user)}/picture`, { picture: dataUrl(aPng()) });
    const third = (await pictureOf(user)) ?? '';
    expect([third, await status(third)]).toEqual([first, 200]);
    await idp.services.accounts.remove(user.account.id);
    expect(await status(third)).toBe(404);
  });

  it('tells nobody who has the same one: the address depends on the account', async () => {
    const [ann, bob] = [await aUser(idp.services), await aUser(idp.services)];
    for (const user of [ann, bob]) await admin.send('PUT', `${path(user)}/picture`, { picture: dataUrl(aPng()) });
    expect(await pictureOf(ann)).not.toBe(await pictureOf(bob));
    for (const name of ['', '../users', `${'0'.repeat(32)}.png`, ann.account.id])
      expect((await httpClient(idp.issuer).get(`/assets/person-${name}`)).status).toBe(404);
  });

  it('is not served when another program wrote its content or the address of the account', async () => {
    const user = await aUser(idp.services);
    await admin.send('PUT', `${path(user)}/picture`, { picture: dataUrl(aPng()) });
    const { pathname } = new URL((await pictureOf(user)) ?? '');
    const where = { userId: user.account.id };
    await idp.services.db.userPicture.update({ where, data: { content: new Uint8Array(aPng({ width: 3 })) } });
    expect((await httpClient(idp.issuer).get(pathname)).status).toBe(404);
  });

  it.each([
    ['a drawing', aSvg(), 'PNG or JPEG'],
    ['what is no picture', Buffer.from('<html>'), 'PNG or JPEG'],
    ['nothing', Buffer.alloc(0), 'PNG or JPEG'],
    ['too many pixels', aPng({ width: 5000 }), 'smaller picture'],
    ['too many bytes', Buffer.alloc(250_000, 1), 'smaller picture'],
  ])('is not %s, and the page says why', async (_, content, text) => {
    const user = await aUser(idp.services);
    const browser = await signedIn(idp, user);
    const answered = await upload(browser, '/account/profile/picture', content);
    expect([answered.status, textOf(answered.text)]).toEqual([400, expect.stringContaining(text)]);
    const rejected = await admin.send('PUT', `${path(user)}/picture`, { picture: dataUrl(content) });
    expect(rejected.json()).toMatchObject({ errors: [{ path: 'picture' }] });
    expect(await pictureOf(user)).toBeNull();
  });

  it('is changed in the console, and stands beside the name in lists', async () => {
    const user = await aUser(idp.services);
    const browser = await consoleOf(idp, await staff(idp, 'admin'));
    const at = `/admin/users/${user.account.id}`;
    const wrong = await upload(browser, `${at}/picture`, aSvg());
    expect([wrong.status, textOf(wrong.text)]).toEqual([400, expect.stringContaining('PNG or JPEG')]);
    expect((await upload(browser, `${at}/picture`, aPng())).status).toBe(303);
    const { pathname } = new URL((await pictureOf(user)) ?? '');
    await signedIn(idp, user);
    for (const page of [at, `/admin/users?q=${user.username}`, `/admin/sessions?user=${user.username}`])
      expect((await browser.get(page)).text).toContain(`src="${pathname}"`);
    expect((await browser.get(`/admin/suggest/users?q=${user.username}`)).text).toContain(pathname);
    const remove = (await browser.get(`${at}/picture`)).forms.find(({ action }) => action?.endsWith('/remove'));
    await browser.post(String(remove?.action), { form: remove?.fields ?? {} });
    expect(await pictureOf(user)).toBeNull();
  });

  it('of an account of the configuration file is not changed', async () => {
    const user = await aUser(idp.services, { source: 'file' });
    const browser = await signedIn(idp, user);
    expect((await browser.get('/account/profile/picture')).text).not.toContain('type="file"');
    expect((await admin.send('PUT', `${path(user)}/picture`, { picture: dataUrl(aPng()) })).status).toBe(403);
  });

  it('on another server is received by applications and displayed nowhere', async () => {
    const user = await aUser(idp.services, { picture: 'https://people.example/ann.png' });
    const page = await (await signedIn(idp, user)).get('/account');
    expect(page.text).not.toContain('people.example');
  });
});
