// The Test of a website in the console: from this server and through the browser, with a proxy that hands on all, and with one that does not.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { consoleOf, staff } from '../admin/console/support.ts';
import { type HttpClient, httpClient, type Page } from '../support/http.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';
import { linksOf, textOf } from '../support/pages/html.ts';
import { type Website, website } from '../support/website.ts';

const HEADERS = ['Remote-User', 'Remote-Groups', 'Remote-Name', 'Remote-Email', 'X-Gatehouse-Jwt'];
let idp: TestIdp;
let site: Website;
let admin: HttpClient;
let path: string;
beforeAll(async () => {
  idp = await startIdp();
  site = await website('traefik', () => idp.issuer, HEADERS);
  const { id } = await idp.services.applications.createProxied({
    name: 'Wiki',
    url: site.origin,
    proxy: 'traefik',
    paths: [{ path: '/public/', rule: 'public' }],
  });
  path = `/admin/applications/${id}/test`;
  admin = await consoleOf(idp, await staff(idp, 'admin'));
});
afterAll(async () => {
  await site?.close();
  await idp?.stop();
});

async function run(client: HttpClient): Promise<string> {
  const page = await client.get(path);
  expect(page.status).toBe(200);
  return textOf((await client.follow(await client.submit(page, {}, { button: 'Test' }))).text);
}
const linkTo = (page: Page, label: string) =>
  linksOf(page.text, page.url).find((one) => one.label === label)?.href ?? '';

it('sends requests through the proxy and names the line that is missing', async () => {
  const text = await run(admin);
  // The proxy of the tests does not name its website.
  expect(text).toContain('1 fault found');
  expect(text).toContain('The question doesn’t name the website');
  expect(text).toContain(`/forward-auth/traefik?website=${site.origin}`);
  expect(text).toContain('/ is closed without a session Passed');
  expect(text).toContain('Redirects and cookies reach the browser Passed');
  expect(text).toContain('Gatehouse sees them only with the lines below in the configuration.');
});

it('the website gets no name in a test before it is known that Gatehouse is behind the path', async () => {
  site.received.length = 0;
  await run(admin);
  expect(site.received.length).toBeGreaterThan(0);
  for (const { headers } of site.received) expect(headers['remote-user']).toBe('');
});

it('goes through the browser and back, with the cookie and the address', async () => {
  const browser = admin;
  let page = await browser.get(linkTo(await admin.get(path), 'Test from this browser'));
  expect(page.location).toContain(`${site.origin}/.gatehouse/test`);
  page = await browser.get(page.location ?? '');
  expect(page.location).toContain(`${idp.issuer}${path}?report=`);
  const text = textOf((await browser.get(page.location ?? '')).text);
  expect(text).toContain('Cookies reach Gatehouse Passed');
  // The proxy of the tests says another address.
  expect(text).toContain('Gatehouse takes 192.0.2.7 for your address');
});

it('says that it cannot reach the website', async () => {
  const { id } = await idp.services.applications.createProxied({
    name: 'Gone',
    url: 'http://127.0.0.1:9',
    proxy: 'caddy',
  });
  const page = await admin.get(`/admin/applications/${id}/test`);
  const text = textOf((await admin.follow(await admin.submit(page, {}, { button: 'Test' }))).text);
  expect(text).toContain('Not tested yet');
  expect(text).toContain('Test from this browser instead.');
});

it('is for who may change the website', async () => {
  const auditor = await consoleOf(idp, await staff(idp, 'auditor'));
  expect((await auditor.get(path)).status).toBe(403);
  expect((await auditor.post(path, { form: {} })).status).toBe(403);
});

it('a stranger learns nothing at its addresses, and a forged report is nothing', async () => {
  for (const target of ['/.gatehouse/test', '/.gatehouse/test?ticket=x', '/.gatehouse/test/backend?ticket=x'])
    expect((await httpClient().get(`${site.origin}${target}`)).status).toBe(404);
  const here = await httpClient(idp.issuer).get('/.gatehouse/test/backend?ticket=x');
  expect(here.status).toBe(404);
  const page = await admin.get(`${path}?report=forged`);
  expect(textOf(page.text)).not.toContain('No fault found');
  expect(page.status).toBe(200);
});
