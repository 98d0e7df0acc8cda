// "Manage here": an administrator takes an entry out of the configuration file, on its page.
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { testFolder } from '../../support/database/database.ts';
import { aClient } from '../../support/factories.ts';
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
sign_up_codes: [{ name: Partners, code: partners-of-the-lab-2026, max_uses: 5 }]
settings: { session_hours: 9, password_min_length: 16, brand_name: Lab }
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

/** The tab from which an entry is taken over, to which the question leads back. */
const TABS: Record<string, string> = { web: 'access', Wiki: 'settings', alice: 'security' };

const manageHere = async (client: HttpClient, home: string) => {
  const page = await client.get(home);
  const link = linksOf(page.text, page.url).find(({ label }) => label.startsWith('Manage here'));
  return link?.href.replace(idp.issuer, '');
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

it('takes the settings that were ticked and a sign-up code out of the file, from the pages that display them', async () => {
  const settings = ['/admin/settings', '/admin/security/passwords', '/admin/branding'];
  const codes = '/admin/security/sign-up-codes';
  const permissions = ['gatehouse.settings:read', 'gatehouse.settings:write'];
  await idp.services.roles.create({ name: 'here settings', permissions });
  const client = await consoleOf(idp, await staff(idp, 'here settings'));
  for (const path of [...settings, codes]) expect(await manageHere(client, path), path).toBeUndefined();
  expect((await client.get('/admin/settings/release')).status).toBe(403);
  const ticked = ['session_hours', 'password_min_length', 'brand_name'];
  for (const [at, path] of settings.entries())
    expect(await manageHere(admin, path), path).toBe(`/admin/settings/release?names=${ticked[at]}`);
  const ofSessions = await admin.get('/admin/settings/release?names=session_hours&names=nothing');
  expect(ofSessions.text.match(/<input[^>]* checked[^>]*>/g)).toEqual([
    expect.stringContaining('value="session_hours"'),
  ]);
  const question = await admin.get('/admin/settings/release');
  expect(textOf(question.text)).toMatch(
    /Which settings do you want to manage here\?.*Session length session_hours.*password_min_length.*Branding: Name brand_name/s,
  );
  const empty = await admin.submit(question);
  expect(empty.status).toBe(400);
  expect(textOf(empty.text)).toContain('Settings of the configuration file: choose at least one.');
  expect((await admin.submit(question, { names: 'saml_logout' })).status).toBe(404);
  const names = ['session_hours', 'brand_name'];
  const done = await admin.follow(await admin.submit(question, { names }));
  expect(textOf(done.text)).toContain('Managed here now.');
  expect(await manageHere(admin, '/admin/settings')).toBeUndefined();
  const rest = '/admin/settings/release?names=password_min_length';
  expect(await manageHere(admin, '/admin/security/passwords')).toBe(rest);
  const sources = (await idp.services.settings.list()).filter(({ name }) =>
    [...names, 'password_min_length'].includes(name),
  );
  expect(Object.fromEntries(sources.map(({ name, value, source }) => [name, [value, source]]))).toEqual({
    session_hours: [9, 'local'],
    brand_name: ['Lab', 'local'],
    password_min_length: [16, 'file'],
  });
  const page = '/admin/security/passwords';
  const ofPasswords = await admin.get(rest, { headers: { referer: `${idp.issuer}${page}?x=1` } });
  expect(linksOf(ofPasswords.text, ofPasswords.url)).toContainEqual(
    expect.objectContaining({ label: 'Cancel', href: `${idp.issuer}${page}?x=1` }),
  );
  expect(
    (await admin.submit(await admin.submit(ofPasswords, { names: [] }), { names: 'password_min_length' })).location,
  ).toBe(`${idp.issuer}${page}?x=1`);
  expect(textOf((await admin.get('/admin/audit')).text)).toMatch(
    /took the setting Branding: Name over from the configuration file/,
  );

  expect(textOf((await admin.get(codes)).text)).toContain(`Each code with a lock is declared in ${file}.`);
  const ofCode = await admin.get((await manageHere(admin, codes)) ?? expect.fail('no link'));
  expect(textOf(ofCode.text)).toContain('Manage Partners here?');
  await admin.follow(await admin.submit(ofCode));
  expect(await idp.services.signUpCodes.find('partners-of-the-lab-2026')).toMatchObject({ code: { source: 'local' } });
  expect(textOf((await admin.get(codes)).text)).toMatch(/Partners.*Revoke/s);
});

it('says which commands keep the configuration in a file, with the chapter about them', async () => {
  const page = await admin.get('/admin/settings/system');
  expect(textOf(page.text)).toMatch(/gatehouse export .* gatehouse plan .* gatehouse apply /);
  const link = linksOf(page.text, page.url).find(({ label }) => label === 'Configuration in git');
  expect(link?.href).toBe(`${idp.issuer}/docs/configuration#configuration-in-git`);
  expect((await admin.get('/docs/configuration')).text).toContain('<h3 id="configuration-in-git">');
});

it('an entry that a form cannot change is named beside the form, with its page and “Manage here” for who may', async () => {
  const { accounts, groups, roles } = idp.services;
  const home = await pages();
  const bob = await accounts.create({ username: 'bob' });
  const wine = await groups.create({ name: 'Wine' });
  const { name: taster } = await roles.create({ name: 'taster' });
  const redirect_uris = ['https://own.example/cb'];
  const both = { client_name: 'Both', redirect_uris, access: { roles: [taster], groups: ['Lab'] } };
  const ofBoth = `/admin/applications/${(await aClient(idp.services, both)).applicationId}/people`;
  const own = `/admin/applications/${(await aClient(idp.services, { ...both, access: { roles: [taster] } })).applicationId}/people`;
  const [lab, alice] = [home.Lab ?? '', home.alice ?? ''];
  const forms: [path: string, fields: Record<string, string>, name: string][] = [
    [`/admin/groups/${wine.id}/applications`, { application: 'web' }, 'web'],
    [`/admin/users/${bob.id}/groups/join`, { group: 'Lab' }, 'Lab'],
    [own, { user: 'alice', way: `role:${taster}` }, 'alice'],
    [own, { user: 'bob', way: '+other', name: 'Lab' }, 'Lab'],
  ];
  for (const [path, fields, name] of forms) {
    const sent = await admin.submit(await admin.get(path), fields, { form: path });
    expect([sent.status, textOf(sent.text)], path).toEqual([
      403,
      expect.stringContaining(`The configuration file manages ${name}, so you can’t change it here.`),
    ]);
    const links = linksOf(sent.text, sent.url).map(({ label, href }) => [label, href.replace(idp.issuer, '')]);
    expect(links, path).toContainEqual([`Open ${name}`, home[name]]);
    expect(links, path).toContainEqual(['Manage here', `${home[name]}/release`]);
    for (const value of Object.values(fields)) expect(sent.text, path).toContain(value);
  }
  // No form at all: the error page leads there.
  const closed = await admin.get(`${alice}/roles/give`);
  expect([closed.status, textOf(closed.text)]).toEqual([
    403,
    expect.stringMatching(/manages alice.*Open alice.*Manage here/s),
  ]);
  const everyone = await admin.follow(await admin.get(`/admin/users/${bob.id}/access/give?application=web`));
  expect(textOf(everyone.text)).toContain('bob can open web already: everyone can.');

  const ofLab = await aClient(idp.services, { ...both, access: { groups: ['Lab'] } });
  const check = await admin.get(`/admin/access-check?user=bob&app=${ofLab.clientId}`);
  expect(textOf(check.text)).toMatch(/The configuration file manages Lab\..*Open Lab.*Manage here/s);

  // What the file gives cannot be taken here.
  await roles.assign(bob.id, taster, {});
  const people = await admin.get(ofBoth);
  const takes = linksOf(people.text, people.url).flatMap(({ href }) => (href.endsWith('/remove') ? href : []));
  expect(textOf(people.text)).toContain('alice');
  expect(takes).toEqual([`${idp.issuer}${ofBoth}/${bob.id}/remove`]);
  const access = await admin.get(`${alice}/access`);
  expect(textOf(access.text)).toContain('Both');
  expect(linksOf(access.text, access.url).filter(({ href }) => href.endsWith('/remove'))).toEqual([]);

  // Who may not take it out of the file is led to its page alone.
  await roles.create({
    name: 'here groups',
    permissions: ['gatehouse.groups:read', 'gatehouse.groups:write', 'gatehouse.users:read'],
  });
  const client = await consoleOf(idp, await staff(idp, 'here groups'));
  const join = `/admin/users/${bob.id}/groups/join`;
  const denied = await client.submit(await client.get(join), { group: 'Lab' }, { form: join });
  const labels = linksOf(denied.text, denied.url).map(({ label }) => label);
  expect([denied.status, labels.includes('Open Lab'), labels.includes('Manage here')]).toEqual([403, true, false]);
  expect((await admin.get(lab)).status).toBe(200);
});

it('takes each entry out of the file, which then deletes nothing', async () => {
  for (const [name, home] of Object.entries(await pages())) {
    const tab = TABS[name] ? `${home}/${TABS[name]}` : home;
    const link = (await manageHere(admin, tab)) ?? expect.fail(`no link: ${name}`);
    const question = await admin.get(link, { headers: { referer: `${idp.issuer}${tab}` } });
    expect(textOf(question.text), name).toContain(`Manage ${name} here?`);
    expect(textOf(question.text), name).toContain(`remove it from ${file}`);
    const done = await admin.follow(await admin.submit(question));
    expect(done.url, name).toBe(`${idp.issuer}${tab}`);
    expect(textOf(done.text), name).toContain('Managed here now.');
    expect(await manageHere(admin, home), name).toBeUndefined();
  }
  expect(await idp.services.configFile.entries()).toEqual([]);
  const events = textOf((await admin.get('/admin/audit')).text);
  expect(events).toMatch(/took alice over from the configuration file/);
});
