// Browsers send the cookies of Gatehouse to every port of its host, so no website has that host, also not after the issuer has changed.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { consoleOf, staff } from '../admin/console/support.ts';
import { type ApiCaller, aPerson } from '../admin/support.ts';
import { commandLine } from '../cli/support.ts';
import { type HttpClient, httpClient } from '../support/http.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';
import { textOf } from '../support/pages/html.ts';
import { type Website, website } from '../support/website.ts';

const WHY = 'Browsers send the cookies of Gatehouse to every port of its host';
let idp: TestIdp;
let site: Website;
let api: ApiCaller;
let admin: HttpClient;
let id: string;
const asProgram = { headers: { 'sec-fetch-mode': 'cors' } };

beforeAll(async () => {
  idp = await startIdp();
  site = await website('caddy', () => idp.issuer, ['Remote-User']);
  ({ id } = await idp.services.applications.createProxied({ name: 'Wiki', url: site.origin, proxy: 'caddy' }));
});
afterAll(async () => {
  await site?.close();
  await idp?.stop();
});

it.each(['http://localhost:4745', 'https://localhost', 'http://LOCALHOST:4745/'])(
  'is rejected by the API and the console: %s',
  async (url) => {
    const manager = await aPerson(idp, ['admin']);
    const answer = await manager.send('POST', '/applications', {
      protocol: 'proxy',
      name: 'Other',
      proxy: 'caddy',
      url,
    });
    expect([answer.status, answer.text]).toEqual([400, expect.stringContaining(WHY)]);
    const client = await consoleOf(idp, await staff(idp, 'admin'));
    const form = await client.get('/admin/applications/new/proxy');
    const page = await client.submit(form, { name: 'Other', url, proxy: 'caddy' });
    expect([page.status, textOf(page.text)]).toEqual([400, expect.stringContaining(WHY)]);
  },
);

describe('once the issuer has the host of a website,', () => {
  beforeAll(async () => {
    await idp.stop();
    const { PORT } = idp.environment;
    const environment = { ...(idp.environment as Record<string, string>), ISSUER: `http://127.0.0.1:${PORT}` };
    idp = await startIdp({ environment });
    api = await aPerson(idp, ['admin']);
    admin = await consoleOf(idp, await staff(idp, 'admin'));
  });

  it('every request is rejected, and the error reference says why', async () => {
    const answer = await httpClient().get(`${site.origin}/`, asProgram);
    expect([answer.status, answer.json()]).toEqual([403, expect.objectContaining({ error: 'host_of_issuer' })]);
    expect(site.received).toEqual([]);
    const [rejection] = (await idp.services.rejections.list({ clientId: site.origin })).rejections;
    expect(rejection?.message).toContain('another host name');
    const query = { response_type: 'code', client_id: site.origin, redirect_uri: `${site.origin}/.gatehouse/callback` };
    const begun = await httpClient(idp.issuer).get(`/authorize?${new URLSearchParams(query)}`);
    expect([begun.status, begun.location]).toEqual([400, undefined]);
  });

  it('Test and its page say why, and no change but its end is stored', async () => {
    expect(textOf((await admin.get(`/admin/applications/${id}`)).text)).toContain(WHY);
    const page = await admin.get(`/admin/applications/${id}/test`);
    const text = textOf((await admin.follow(await admin.submit(page, {}, { button: 'Test' }))).text);
    expect(text).toContain('1 fault found');
    expect(text).toContain(WHY);
    const changed = await api.send('PATCH', `/applications/${id}`, { name: 'New' }, { 'if-match': '*' });
    expect([changed.status, changed.text]).toEqual([400, expect.stringContaining(WHY)]);
  });

  it('gatehouse doctor fails', async () => {
    const { gatehouse, close } = await commandLine();
    const { code, out } = await gatehouse(['doctor', '--json'], { env: idp.environment });
    const found = (JSON.parse(out) as { check: string; status: string; message: string }[]).filter(
      ({ check }) => check === 'websites',
    );
    expect([code, found]).toEqual([
      1,
      [expect.objectContaining({ status: 'failure', message: expect.stringContaining(site.origin) })],
    ]);
    await close();
  });
});
