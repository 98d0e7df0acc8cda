// Lists find the best match first: an equal username, address or name, then the first word, then beginnings, then the rest; page by page, without a gap.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { aClient, aUser } from '../../support/factories.ts';
import type { HttpClient, Page } from '../../support/http.ts';
import { startIdp, type TestIdp } from '../../support/idp.ts';
import { consoleOf, staff } from './support.ts';

let idp: TestIdp;
let admin: HttpClient;
beforeAll(async () => {
  idp = await startIdp();
  admin = await consoleOf(idp, await staff(idp, 'admin'));
});
afterAll(() => idp?.stop());

/** The names in the first cells of the table. */
const rowsOf = ({ text }: Page) =>
  [...text.matchAll(/<td role="cell" class="first.*?<a href="[^"]*">([^<]*)</gs)].map(([, name]) => name);

it('of users', async () => {
  // The newest first without a search, so the best match is the oldest.
  await aUser(idp.services, { username: 'orla', email: 'o1@example.com', name: 'Zed Zimmer' });
  await aUser(idp.services, { username: 'o2', email: 'orla@example.com', name: 'Yan Young' });
  await aUser(idp.services, { username: 'o3', email: 'o3@example.com', name: 'Xena Orlando' });
  await aUser(idp.services, { username: 'orlagh', email: 'o4@example.com', name: 'Will West' });
  await aUser(idp.services, { username: 'o5', email: 'o5@example.com', name: 'Victor Florlan' });
  await aUser(idp.services, { username: 'o6', email: 'o6@example.com', name: 'Uma Taylorla' });
  expect(rowsOf(await admin.get('/admin/users?q=ORLA'))).toEqual([
    'Zed Zimmer',
    'Yan Young',
    'Will West',
    'Xena Orlando',
    'Uma Taylorla',
    'Victor Florlan',
  ]);
  expect(rowsOf(await admin.get('/admin/users?q=orla%40example.com'))).toEqual(['Yan Young']);
  expect(rowsOf(await admin.get('/admin/users?q=orla&sort=name')).slice(0, 2)).toEqual([
    'Uma Taylorla',
    'Victor Florlan',
  ]);
});

it('of users whose first word is the text, before longer words', async () => {
  const many = Array.from({ length: 12 }, (_, index) => index + 1);
  for (const one of many)
    await aUser(idp.services, {
      username: `pat${one}@example.com`,
      email: `pat${one}@example.com`,
      name: `Pat${one} Doe`,
    });
  expect(rowsOf(await admin.get('/admin/users?q=pat1'))).toEqual(['Pat1 Doe', 'Pat12 Doe', 'Pat11 Doe', 'Pat10 Doe']);
  const found: string[] = [];
  for (let after: string | undefined; ; ) {
    const page = await idp.services.accounts.list({ search: 'pat1', limit: 1, after });
    found.push(...page.accounts.map(({ name }) => name ?? ''));
    after = page.next;
    if (!after) break;
  }
  expect(found).toEqual(['Pat1 Doe', 'Pat12 Doe', 'Pat11 Doe', 'Pat10 Doe']);
});

it('of users on several pages, each once', async () => {
  const { accounts } = idp.services;
  for (const limit of [1, 2, 3, 4, 5, 6]) {
    const found: string[] = [];
    let after: string | undefined;
    do {
      const page = await accounts.list({ search: 'orla', limit, after });
      found.push(...page.accounts.map(({ username }) => username));
      after = page.next;
    } while (after);
    expect(found, String(limit)).toEqual(['orla', 'o2', 'orlagh', 'o3', 'o6', 'o5']);
  }
});

it('of applications', async () => {
  const uri = 'https://app.example/cb';
  for (const client_name of ['A Grafanalike of Grafana', 'Grafana', 'Grafana Loki', '100% Grafana'])
    await aClient(idp.services, { client_name, redirect_uris: [uri] });
  const names = ['Grafana', 'Grafana Loki', '100% Grafana', 'A Grafanalike of Grafana'];
  expect(rowsOf(await admin.get('/admin/applications?q=grafana'))).toEqual(names);
  expect(rowsOf(await admin.get('/admin/applications?q=grafana&sort=-name'))).toEqual([
    'Grafana Loki',
    'Grafana',
    'A Grafanalike of Grafana',
    '100% Grafana',
  ]);
  const { applications } = idp.services;
  const found: string[] = [];
  let after: string | undefined;
  do {
    const page = await applications.list({ search: 'grafana', limit: 1, after });
    found.push(...page.applications.map(({ name }) => name));
    after = page.next;
  } while (after);
  expect(found).toEqual(names);
});

it('of groups', async () => {
  for (const name of ['A team of Ops', 'DevOps', 'Ops', 'Ops Night']) await idp.services.groups.create({ name });
  const names = ['Ops', 'Ops Night', 'A team of Ops', 'DevOps'];
  expect(rowsOf(await admin.get('/admin/groups?q=ops'))).toEqual(names);
  const found: string[] = [];
  for (let after: string | undefined; ; ) {
    const [group] = await idp.services.groups.list({ search: 'ops', limit: 1, ...(after && { after }) });
    if (!group) break;
    found.push(group.name);
    after = group.name;
  }
  expect(found).toEqual(names);
  expect(rowsOf(await admin.get('/admin/groups?q=Ops_'))).toEqual([]);
});
