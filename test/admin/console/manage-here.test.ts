// "Manage here": an administrator takes an entry out of the configuration file, on its page.
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { testFolder } from '../../support/database/database.ts';
import type { HttpClient } from '../../support/http.ts';
import { startIdp, type TestIdp } from '../../support/idp.ts';
import { linksOf, textOf } from '../../support/pages/html.ts';
import { consoleOf, staff } from './support.ts';

const FILE = `
resources: [{ identifier: https://api.example, scopes: [read] }]
clients: [{ client_id: web, redirect_uris: [https://web.example/cb], token_endpoint_auth_method: none }]
service_providers: [{ name: Wiki, entity_id: https://wiki.example/sp, acs_url: https://wiki.example/acs }]
roles: [{ name: editor }]
connections: [{ id: corp, kind: oidc, name: Corp, issuer: https://corp.example, client_id: x, client_secret: yyyyyyyyyyyyyyyy }]
groups: [{ name: Lab, members: [alice] }]
users: [{ username: alice }]
`;

let idp: TestIdp;
let admin: HttpClient;
let file: string;
beforeAll(async () => {
  file = path.join(testFolder(), 'gatehouse.yaml');
  writeFileSync(file, FILE);
  idp = await startIdp({ environment: { GATEHOUSE_CONFIG: file } });
  admin = await consoleOf(idp, await staff(idp, 'admin'));
});
afterAll(() => idp?.stop());

async function pages(): Promise<Record<string, string>> {
  const { applications, groups, accounts, roles } = idp.services;
  const idOf = async (clientId: string) => (await applications.find(clientId))?.id ?? expect.fail(clientId);
  return {
    'https://api.example': `/admin/apis/${encodeURIComponent('https://api.example')}`,
    web: `/admin/applications/${await idOf('web')}`,
    Wiki: `/admin/applications/${await idOf('https://wiki.example/sp')}`,
    editor: `/admin/roles/${(await roles.list()).find(({ name }) => name === 'editor')?.id}`,
    Corp: '/admin/connections/corp',
    Lab: `/admin/groups/${(await groups.find('Lab'))?.id}`,
    alice: `/admin/users/${(await accounts.findByLogin('alice'))?.id}`,
  };
}

const manageHere = async (client: HttpClient, home: string) => {
  const page = await client.get(home);
  return linksOf(page.text, page.url).find(({ label }) => label === 'Manage here')?.href;
};

it('is offered to who may change the entry and the security settings, and works for nobody else', async () => {
  const permissions = ['applications', 'groups', 'users', 'roles', 'connections', 'apis'].flatMap((noun) => [
    `gatehouse.${noun}:read`,
    `gatehouse.${noun}:write`,
  ]);
  const known = permissions.filter((name) => !name.includes('.apis:'));
  await idp.services.roles.create({ name: 'here manager', permissions: known });
  const client = await consoleOf(idp, await staff(idp, 'here manager'));
  const { _csrf = '' } = (await client.get('/admin/groups/new')).forms.at(-1)?.fields ?? {};
  for (const [name, home] of Object.entries(await pages())) {
    expect(await manageHere(client, home), name).toBeUndefined();
    expect((await client.post(`${home}/release`, { form: { _csrf } })).status, name).toBe(403);
  }
});

it('takes each entry out of the file, which then deletes nothing', async () => {
  for (const [name, home] of Object.entries(await pages())) {
    const question = await admin.get((await manageHere(admin, home)) ?? expect.fail(`no link: ${name}`));
    expect(textOf(question.text), name).toContain(`Manage ${name} here?`);
    expect(textOf(question.text), name).toContain(`remove it from ${file}`);
    const done = await admin.follow(await admin.submit(question));
    expect(done.url, name).toBe(`${idp.issuer}${home}`);
    expect(textOf(done.text), name).toContain('Managed here now.');
    expect(await manageHere(admin, home), name).toBeUndefined();
  }
  expect(await idp.services.configFile.entries()).toEqual([]);
  const events = textOf((await admin.get('/admin/audit')).text);
  expect(events).toMatch(/took alice over from the configuration file/);
});
