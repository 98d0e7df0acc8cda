// The Test of a website in the console: from this server and through the browser, with a proxy that hands on all, and with one that does not.
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import type { ProxyKind } from '../../src/applications/fields/proxied-application.ts';
import { consoleOf, staff } from '../admin/console/support.ts';
import { type HttpClient, httpClient, type Page } from '../support/http.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';
import { listen } from '../support/listen.ts';
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
    depends_on: ['https://api.example.com', 'https://off.example.com'],
  });
  const disabled = { name: 'Off', url: 'https://off.example.com', proxy: 'caddy', enabled: false } as const;
  await idp.services.applications.createProxied(disabled);
  path = `/admin/applications/${id}/test`;
  admin = await consoleOf(idp, await staff(idp, 'admin'));
});
afterAll(async () => {
  await site?.close();
  await idp?.stop();
});

async function run(client: HttpClient, at = path): Promise<string> {
  const page = await client.get(at);
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
  expect(text).toContain('No enabled website has the address https://api.example.com, https://off.example.com');
  expect(text).toContain('Its host name is its own Passed');
  expect(text).toContain('Redirects and cookies reach the browser Passed');
  expect(text).toContain('Gatehouse sees them only with the lines below in the configuration.');
});

it('sees what the website receives, and whether another protocol than WebSocket is handed on', async () => {
  const found = async (proxy: ProxyKind, tunnels?: 'handed on' | 'its own') => {
    const behind = await website(proxy, () => idp.issuer, HEADERS, { hasTestRoute: true, tunnels });
    onTestFinished(() => behind.close());
    const { id } = await idp.services.applications.createProxied({ name: proxy, url: behind.origin, proxy });
    return run(admin, `/admin/applications/${id}/test`);
  };
  const label = 'No other protocol than WebSocket reaches it';
  const right = await found('envoy');
  for (const words of ['No fault found', 'Remote-User reaches the website Passed', `${label} Passed`])
    expect(right).toContain(words);
  // All websites of this test are at 127.0.0.1.
  for (const text of [right, textOf((await admin.get(path.replace(/\/test$/, ''))).text)])
    expect(text).toContain('Another website has the host name 127.0.0.1, on another port.');
  const lines = { nginx: 'proxy_set_header Upgrade $gatehouse_upgrade;', caddy: 'request_header @other -Upgrade' };
  for (const [proxy, line] of Object.entries(lines)) {
    const spoiled = await found(proxy as ProxyKind, 'handed on');
    for (const words of ['Remote-User reaches the website Passed', '“Upgrade: h2c” reaches the website', line])
      expect(spoiled).toContain(words);
  }
  expect(await found('nginx', 'its own')).toMatch(
    new RegExp(`No fault found.*${label} .* in another protocol \\(101\\) Skipped`),
  );
});

it.each([
  ['forged headers', 'Remote-User of the browser reaches the website'],
  ['cookies', 'In Cookie, the website receives what Gatehouse accepts as a sign-in'],
  ['addresses', 'X-Forwarded-For reaches Gatehouse as it was sent'],
] as const)('finds a proxy that keeps %s', async (keeps, words) => {
  const behind = await website('envoy', () => idp.issuer, HEADERS, { hasTestRoute: true, keeps });
  onTestFinished(() => behind.close());
  const declared = { name: keeps, url: behind.origin, proxy: 'envoy', access_tokens: 'all' } as const;
  const { id } = await idp.services.applications.createProxied(declared);
  const text = await run(admin, `/admin/applications/${id}/test`);
  expect(text).toContain(words);
  // The proxy of this test knows nothing of programs.
  expect(text).toContain('In Authorization, the website receives');
});

it.each([
  ['traefik', 'https://off.example.com', ', asked as https://off.example.com'],
  ['nginx', 'https://off.example.com', 'https://off.example.com'],
  ['nginx', 'https://first.example.com', 'https://first.example.com'],
] as const)(
  'names the website that a configuration for %s is about, which was copied from %s',
  async (proxy, names, received) => {
    const first = 'https://first.example.com';
    if (!(await idp.services.applications.find(first)))
      await idp.services.applications.createProxied({ name: 'First', url: first, proxy });
    const behind = await website(proxy, () => idp.issuer, HEADERS, { names });
    onTestFinished(() => behind.close());
    const { id } = await idp.services.applications.createProxied({ name: 'Copied', url: behind.origin, proxy });
    const text = await run(admin, `/admin/applications/${id}/test`);
    expect(text).toContain('The proxy asks Gatehouse Passed');
    expect(text).toMatch(
      new RegExp(`but Gatehouse rejects its question .*Received .*${received} Expected ${behind.origin}`),
    );
  },
);

it('tells an address without a website from one that is open', async () => {
  const empty = await listen((_, res) => void res.writeHead(404).end());
  onTestFinished(() => empty.close());
  const { id } = await idp.services.applications.createProxied({ name: 'Empty', url: empty.origin, proxy: 'traefik' });
  const text = await run(admin, `/admin/applications/${id}/test`);
  expect(text).toContain('The proxy answers with 404 without asking');
  expect(text).not.toContain('a way past Gatehouse');
});

it('says that it did not see what the website receives', async () => {
  const behind = await website('envoy', () => idp.issuer, HEADERS);
  onTestFinished(() => behind.close());
  const { id } = await idp.services.applications.createProxied({ name: 'Plain', url: behind.origin, proxy: 'envoy' });
  const text = await run(admin, `/admin/applications/${id}/test`);
  expect(text).toContain('No fault found; what the website receives wasn’t tested');
});

it('says that a website is disabled', async () => {
  const off = await idp.services.applications.find('https://off.example.com');
  const closed = await run(admin, `/admin/applications/${off?.id}/test`);
  expect(closed).toContain('It is disabled, so Gatehouse rejects every request.');
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

it('a ticket is good for one request, and its report for the administrator of the test', async () => {
  const link = linkTo(await admin.get(path), 'Test from this browser');
  const first = (await admin.get(link)).location ?? '';
  const report = (await admin.get(first)).location ?? '';
  expect(report).toContain(`${idp.issuer}${path}?report=`);
  for (const used of [link, first]) {
    const again = await httpClient().get(used);
    expect([again.status, again.location, again.setCookie]).toEqual([404, undefined, []]);
  }
  const other = await consoleOf(idp, await staff(idp, 'admin'));
  expect(textOf((await other.get(report)).text)).not.toContain('Cookies reach Gatehouse');
  expect(textOf((await admin.get(report)).text)).toContain('Cookies reach Gatehouse');
});

it('a ticket that the website saw lets nothing through again', async () => {
  site.received.length = 0;
  const link = linkTo(await admin.get(path), 'Test the headers');
  expect((await admin.get(link)).status).toBe(200);
  const [seen] = site.received;
  expect(seen?.headers['x-gatehouse-jwt']).toBe('gatehouse-test');
  expect((await httpClient().get(`${site.origin}${seen?.url}`)).status).toBe(404);
  expect(site.received).toHaveLength(1);
  // As the request that the proxy sends here.
  const here = httpClient(idp.issuer);
  expect((await here.get(seen?.url ?? '')).status).toBe(302);
  expect((await here.get(seen?.url ?? '')).status).toBe(404);
});

it('names a proxy whose word about the addresses of people does not count, on the overview and in the log too', async () => {
  const strict = await startIdp({ environment: { FORWARD_AUTH_FROM: '192.0.2.1' } });
  const wiki = await website('caddy', () => strict.issuer, HEADERS);
  onTestFinished(async () => {
    await wiki.close();
    await strict.stop();
  });
  const declared = { name: 'Wiki', url: wiki.origin, proxy: 'caddy' } as const;
  const { id } = await strict.services.applications.createProxied(declared);
  const boss = await consoleOf(strict, await staff(strict, 'admin'));
  expect(textOf((await boss.get('/admin')).text)).not.toContain('FORWARD_AUTH_FROM');
  const page = await boss.get(`/admin/applications/${id}/test`);
  const result = await boss.follow(await boss.submit(page, {}, { button: 'Test' }));
  expect(textOf(result.text)).toContain('set FORWARD_AUTH_FROM=127.0.0.1 at Gatehouse and restart it');
  for (let visits = 0; visits < 3; visits += 1) await httpClient().get(`${wiki.origin}/`);
  expect(textOf((await boss.get('/admin')).text)).toContain('set FORWARD_AUTH_FROM=127.0.0.1 and restart Gatehouse');
  const lines = strict.log.filter((line) => JSON.stringify(line).includes('set FORWARD_AUTH_FROM'));
  expect(lines).toHaveLength(1);
});

it('takes the last address of a proxy that FORWARD_AUTH_FROM does not name, however many proxies are in front', async () => {
  const behind = await startIdp({ environment: { FORWARD_AUTH_FROM: '192.0.2.1', TRUST_PROXY: '2' } });
  onTestFinished(() => behind.stop());
  const url = 'https://wiki.example.com';
  await behind.services.applications.createProxied({ name: 'Wiki', url, proxy: 'nginx' });
  const { settings } = behind.services;
  await settings.set('denied_networks', ['203.0.113.0/24']);
  await settings.reload();
  const statusOf = async (addresses: string) => {
    const about = { 'X-Original-URL': `${url}/`, 'X-Original-Method': 'GET', 'X-Forwarded-For': addresses };
    return (await httpClient(behind.issuer).get('/forward-auth/nginx', { headers: about })).status;
  };
  expect(await statusOf('203.0.113.9, 198.51.100.1')).toBe(401);
  expect(await statusOf('198.51.100.1, 203.0.113.9')).toBe(403);
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
