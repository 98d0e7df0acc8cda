// The pages of directories in a real browser: list, new connection with a fault, one with its history and tokens, a new token, the user whom
// it manages and a rejected request; narrow and wide, light and dark, in English and German.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { scimDeclaration } from '../../src/protocols/scim/connections.ts';
import { signIn } from '../admin/console/real-browser.ts';
import { staff } from '../admin/console/support.ts';
import { desktop, phone } from '../support/browser/browser.ts';
import { looksRight, openPage } from '../support/browser/pages.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';
import { some } from '../support/long-run.ts';
import { aConnection, ENTERPRISE, USER } from './support.ts';

let idp: TestIdp;
let home: string;
let user: string;
let rejection: string;
beforeAll(async () => {
  idp = await startIdp();
  const attributes = { department: `${ENTERPRISE}:department` };
  const mappings = { attributes, groups: { 'Lab (cloud)': 'Lab' } };
  await idp.services.groups.create({ name: 'Lab' });
  const entra = await aConnection(idp, { name: 'Entra ID', mappings });
  home = `/admin/scim/${entra.connection.id}`;
  await aConnection(idp, { name: 'HR system of the branch in Switzerland', owned_domains: ['a.example', 'b.example'] });
  for (const name of ['ann', 'bob', 'cem']) {
    const userName = `${name}@corp.example`;
    const emails = [{ value: userName, type: 'work', primary: true }];
    const made = await entra.ok('POST', '/Users', { schemas: [USER], userName, emails, displayName: `${name} Smith` });
    user = `/admin/users/${String(made.id)}`;
  }
  await entra.ok('POST', '/Groups', { displayName: 'Lab (cloud)', members: [{ value: user.split('/').at(-1) }] });
  await entra.patch(`/Users/${user.split('/').at(-1)}`, { op: 'replace', path: 'active', value: false });
  await entra.fails('GET', '/Users?filter=salary%20eq%20%221%22');
  const { detail } = await entra.fails('POST', '/Users', { userName: 'ann@corp.example' });
  rejection = `/admin/rejections/${/Reference: (\S+)$/.exec(detail)?.[1]}`;
});
afterAll(() => idp?.stop());

for (const [language, device] of some(1, [
  ['en', desktop],
  ['de', { ...phone, locale: 'de-DE' }],
] as const)) {
  it(`are whole, and without a fault of accessibility (${language})`, async () => {
    const page = await openPage(device);
    const check = (name: string) => looksRight(page, `scim-${name}-${language}`);
    const submit = () =>
      Promise.all([
        page.waitForEvent('domcontentloaded'),
        page.locator('main form .btn-primary').last().press('Enter'),
      ]);
    await page.goto(`${idp.issuer}/admin/scim`);
    await signIn(page, await staff(idp, 'admin'));
    await page.waitForURL(`${idp.issuer}/admin/scim`);
    await check('list');
    await page.goto(`${idp.issuer}/admin/scim/new`);
    await page.fill('[name="name"]', 'Entra ID');
    await page.fill('[name="owned_domains"]', 'corp.example\nno domain');
    await page.fill('[name="mappings.attributes"]', 'department = salary');
    await submit();
    expect(await page.locator('[aria-invalid="true"]').count()).toBeGreaterThan(0);
    await check('new');
    for (const [name, path] of [
      ['connection', home],
      ['user', user],
      ['rejection', rejection],
    ] as const) {
      await page.goto(`${idp.issuer}${path}`);
      await check(name);
    }
    const { id } = await idp.services.scimConnections.create(scimDeclaration.parse({ name: `New ${language}` }), {});
    await page.goto(`${idp.issuer}/admin/scim/${id}/token`);
    await submit();
    await page.waitForSelector('[data-value]');
    await check('token');
  });
}
