// "Add application" by product: each preset through the real form, its roles, and the filter of the list.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { frameworks } from '../../../src/admin/applications/presets/frameworks.ts';
import { presetKinds, productPresets } from '../../../src/admin/applications/presets/products.ts';
import { aClient, aUser, type TestUser } from '../../support/factories.ts';
import type { HttpClient } from '../../support/http.ts';
import { startIdp, type TestIdp } from '../../support/idp.ts';
import { some } from '../../support/long-run.ts';
import { linksOf, textOf } from '../../support/pages/html.ts';
import { consoleOf, staff } from './support.ts';

let idp: TestIdp;
let admin: HttpClient;
let boss: TestUser;
beforeAll(async () => {
  idp = await startIdp();
  boss = await staff(idp, 'admin');
  admin = await consoleOf(idp, boss);
  await idp.services.roles.create({ name: 'developer' });
});
afterAll(() => idp?.stop());

const answers: Record<string, string> = {
  url: 'https://app.example.com/',
  domain: 'example.com',
  my_domain: 'acme',
  workspace: 'acme',
  vanity: 'acme',
  team: 'acme',
  name: 'production',
  account: '123456789012',
  provider: 'OurLogin',
  iam_role: 'Developer',
  role: 'developer',
  mcp: 'https://notes.example.com/mcp',
  scopes: 'notes:read notes:write',
  callback: 'https://chatgpt.com/connector/oauth/abc',
  entity_id: 'https://auth.atlassian.com/saml/1',
  acs_url: 'https://auth.atlassian.com/login/callback?connection=saml-1',
};

/** Where each product takes the response, as its vendor documents it. */
const addresses: Record<string, string> = {
  grafana: 'https://app.example.com/login/generic_oauth',
  gitlab: 'https://app.example.com/users/auth/openid_connect/callback',
  gitea: 'https://app.example.com/user/oauth2/gatehouse/callback',
  forgejo: 'https://app.example.com/user/oauth2/gatehouse/callback',
  jenkins: 'https://app.example.com/securityRealm/finishLogin',
  argocd: 'https://app.example.com/auth/callback',
  'github-enterprise': 'https://app.example.com/saml/consume',
  kubernetes: 'http://localhost:8000',
  proxmox: 'https://app.example.com',
  portainer: 'https://app.example.com',
  harbor: 'https://app.example.com/c/oidc/callback',
  vault: 'https://app.example.com/ui/vault/auth/oidc/oidc/callback',
  minio: 'https://app.example.com/oauth_callback',
  'oauth2-proxy': 'https://app.example.com/oauth2/callback',
  tailscale: 'https://login.tailscale.com/a/oauth_response',
  'cloudflare-access': 'https://acme.cloudflareaccess.com/cdn-cgi/access/callback',
  immich: 'https://app.example.com/auth/login',
  jellyfin: 'https://app.example.com/sso/OID/redirect/gatehouse',
  'paperless-ngx': 'https://app.example.com/accounts/oidc/gatehouse/login/callback/',
  'home-assistant': 'https://app.example.com/auth/oidc/callback',
  'microsoft-365': 'https://login.microsoftonline.com/login.srf',
  slack: 'https://acme.slack.com/sso/saml',
  mattermost: 'https://app.example.com/signup/openid/complete',
  'rocket-chat': 'https://app.example.com/_oauth/gatehouse',
  zulip: 'https://app.example.com/complete/saml/',
  zoom: 'https://acme.zoom.us/saml/SSO',
  synapse: 'https://app.example.com/_synapse/client/oidc/callback',
  jupyterhub: 'https://app.example.com/hub/oauth_callback',
  zammad: 'https://app.example.com/auth/openid_connect/callback',
  nextcloud: 'https://app.example.com/apps/user_oidc/code',
  wordpress: 'https://app.example.com/wp-admin/admin-ajax.php?action=openid-connect-authorize',
  'google-workspace': 'https://www.google.com/a/example.com/acs',
  salesforce: 'https://acme.my.salesforce.com',
  aws: 'https://signin.aws.amazon.com/saml',
  moodle: 'https://app.example.com/admin/oauth2callback.php',
  atlassian: answers.acs_url ?? '',
  dropbox: 'https://www.dropbox.com/saml_login',
  'claude-code': 'http://localhost/callback',
  'claude-ai': 'https://claude.ai/api/mcp/auth_callback',
  chatgpt: answers.callback ?? '',
  vscode: 'http://127.0.0.1/',
  cursor: 'cursor://anysphere.cursor-mcp/oauth/callback',
  'mcp-inspector': 'http://127.0.0.1/oauth/callback',
};

/** No page to open, or, with AWS, a role that the administrator lacks. */
const agents = ['claude-code', 'claude-ai', 'chatgpt', 'vscode', 'cursor', 'mcp-inspector'];
const notInPortal = ['kubernetes', 'aws', ...agents];

it.each(some(12, productPresets()))(
  'a new application for $title has the addresses of its vendor and a guide with the values of this server',
  async (preset) => {
    const form = await admin.get(`/admin/applications/new/${preset.id}`);
    const fields = Object.fromEntries(preset.fields.map(({ name }) => [name, answers[name] ?? '']));
    const sent = await admin.submit(form, fields);
    expect([sent.status, sent.status === 303 ? '' : textOf(sent.text)]).toEqual([303, '']);
    const page = await admin.follow(sent);

    const { id, protocol, metadata, clientId, name } = await idp.services.db.asStored.application.findFirstOrThrow({
      orderBy: { createdAt: 'desc' },
    });
    const stored = JSON.parse(metadata);
    expect(protocol).toBe(preset.protocol);
    expect(name.slice(0, preset.title.length)).toBe(preset.title);
    expect(protocol === 'oidc' ? stored.redirect_uris[0] : stored.acs[0].url).toBe(addresses[preset.id]);
    expect(preset.checkedAgainst).toMatch(/\b20\d\d\b|\b\d+\.\d+\b/);
    expect(preset.documentation).toMatch(/^https:\/\//);

    const text = textOf(page.text);
    const isConfidential = protocol === 'oidc' && stored.token_endpoint_auth_method !== 'none';
    const own = preset.setupInstructions(
      { name: 'Acme', issuer: idp.issuer, clientId, clientSecret: 'THE-SECRET', certificate: 'THE-CERTIFICATE' },
      stored,
    );
    const guide = own.map((one) => `${one.title}\n${one.text}`).join('\n');
    expect(guide).toContain(idp.issuer);
    expect(guide).not.toMatch(/undefined|\[object|null/);
    expect(own.length).toBeGreaterThan(0);
    if (protocol === 'oidc') expect(guide).toContain(clientId);
    expect(guide.includes('THE-SECRET')).toBe(isConfidential);
    for (const { name: role } of preset.roles ?? []) {
      expect(`${guide} ${metadata}`).toContain(role);
      expect(await idp.services.roles.find(role)).toMatchObject({ permissions: [] });
    }
    for (const { name: group } of preset.groups ?? []) {
      expect(guide).toContain(group);
      expect(guide).toMatch(/groups/);
      expect(await idp.services.groups.find(group)).toMatchObject({ source: 'local' });
    }
    for (const { title } of own) expect(text).toContain(textOf(String(title).replaceAll('<', '&lt;')));
    expect(text).toContain(idp.issuer);
    expect(text.includes('Copy the secret now')).toBe(isConfidential);
    if (preset.id === 'aws') expect(text).toMatch(/--name OurLogin --saml.*saml-provider\/OurLogin"/);
    expect(text).not.toMatch(/undefined|\[object/);
    const portal = await admin.follow(await admin.get('/dashboard'));
    expect(portal.text.includes(`<strong>${name}</strong>`)).toBe(!notInPortal.includes(preset.id));
    await idp.services.applications.remove(id);
  },
);

it('an application of one’s own is in the portal when its form has a home page, and a SAML application always', async () => {
  const redirect_uris = 'https://own.example.com/cb';
  const forms = [
    ['web', { name: 'Own web', redirect_uris, client_uri: 'https://own.example.com' }, true],
    ['spa', { name: 'Own page', redirect_uris, client_uri: 'https://own.example.com' }, true],
    ['web', { name: 'Own hidden', redirect_uris }, false],
    ['saml', { name: 'Own SAML', entity_id: 'https://own.example.com', acs_url: 'https://own.example.com/acs' }, true],
  ] as const;
  for (const [type, fields] of forms)
    expect((await admin.submit(await admin.get(`/admin/applications/new/${type}`), fields)).status).toBe(303);
  const portal = await admin.follow(await admin.get('/dashboard'));
  const listed = forms.filter(([, { name }]) => portal.text.includes(`<strong>${name}</strong>`));
  expect(listed).toEqual(forms.filter(([, , isListed]) => isListed));
});

it('a SAML application is offered given and family name, and receives them', async () => {
  const form = await admin.get('/admin/applications/new/saml');
  const sent = await admin.submit(form, {
    name: 'Names',
    entity_id: 'https://names.example',
    acs_url: 'https://n.example/acs',
  });
  expect(sent.status).toBe(303);
  const user = await aUser(idp.services, { givenName: 'Ann', familyName: 'Example' });
  const query = new URLSearchParams({ user: user.username, app: 'https://names.example' });
  expect(textOf((await admin.get(`/admin/access-check?${query}`)).text)).toMatch(/givenName Ann surname Example/);
});

it.each(some(12, productPresets()))(
  'the guide of $title is about the whole life of a sign-in, as its declaration allows',
  async (preset) => {
    const fields = Object.fromEntries(preset.fields.map(({ name }) => [name, answers[name] ?? '']));
    const sent = await admin.submit(await admin.get(`/admin/applications/new/${preset.id}`), {
      ...fields,
      name: 'Life',
    });
    expect([sent.status, sent.status === 303 ? '' : textOf(sent.text)]).toEqual([303, '']);
    const { id, metadata, protocol, clientId } = await idp.services.db.asStored.application.findFirstOrThrow({
      orderBy: { createdAt: 'desc' },
    });
    const text = textOf((await admin.get(`/admin/applications/${id}/setup`)).text);
    const german = textOf(
      (await admin.get(`/admin/applications/${id}/setup`, { headers: { 'accept-language': 'de' } })).text,
    );
    await idp.services.applications.remove(id);
    const stored = JSON.parse(metadata);
    const { life, ran, title } = preset;
    for (const label of [
      'Needed beforehand',
      'Renewal',
      'Sign-out here',
      'Disabled user',
      'Private certificates',
      'Tried',
    ])
      expect(text).toContain(label);
    for (const label of ['Vorher nötig', 'Erneuerung', 'Abmeldung hier', 'Deaktivierte Person', 'Ausprobiert'])
      expect(german).toContain(label);
    expect(text).toContain(ran ? `With ${ran.what} (${ran.on}).` : `${title} itself wasn’t run.`);
    const everyLabel = [
      ...['Needed beforehand', 'Renewal', 'Session of', 'Sign-out here', 'Sign-out in', 'Disabled user'],
      ...['Private certificates and http', 'Tried'],
    ];
    expect(text).toMatch(new RegExp(everyLabel.join(' .+ ')));
    const network = [
      ...['accepts an issuer with http', 'needs an issuer with https', 'never calls this server'],
      'needs https with a public certificate',
    ];
    expect(network.filter((sentence) => text.includes(sentence))).toHaveLength(1);
    const isReached = protocol === 'saml' ? stored.slo?.length > 0 : stored.backchannel_logout_uri !== undefined;
    expect(text).toContain(
      isReached ? `Ends the session of ${title} too.` : `${title} keeps its session until that ends.`,
    );
    expect(text).toContain(
      life.signOut === 'everywhere'
        ? `Ends the session here too, with a question if ${title} sends no ID token.`
        : `Ends the session of ${title} only.`,
    );

    const guide = preset
      .setupInstructions({ name: 'Acme', issuer: idp.issuer, clientId, clientSecret: 'S', certificate: 'C' }, stored)
      .map((one) => String(one.text))
      .join('\n');
    // What the guide says is what the declaration allows and the settings ask for.
    const renews = life.renews !== false;
    expect([title, guide.includes('offline_access')]).toEqual([title, renews]);
    expect([title, (stored.grant_types ?? []).includes('refresh_token')]).toEqual([title, renews]);
    const setting = typeof life.renews === 'string' && !life.renews.includes('cron') ? life.renews : '';
    expect(guide).toContain(setting);
    if (protocol === 'oidc' && stored.post_logout_redirect_uris?.length) expect(life.signOut).toBe('everywhere');
    if (stored.backchannel_logout_uri) expect(stored.backchannel_logout_session_required).toBe(true);
    if (life.certificates === 'none') expect(protocol).toBe('saml');
  },
);

it('every product has a kind, an id and a name of its own, and no name begins with another', () => {
  expect(Object.keys(addresses).sort()).toEqual(
    productPresets()
      .map(({ id }) => id)
      .sort(),
  );
  for (const { title, protocol } of productPresets())
    expect(productPresets().filter((one) => one.protocol === protocol && one.title.startsWith(title))).toHaveLength(1);
});

it('the list of products is grouped by kind, and its filter finds words in any order', async () => {
  const all = textOf((await admin.get('/admin/applications/new')).text);
  for (const title of Object.values(presetKinds)) expect(all).toContain(title);
  const links = async (q: string) =>
    [
      ...(await admin.get(`/admin/applications/new?q=${encodeURIComponent(q)}`)).text.matchAll(
        /applications\/new\/([a-z0-9-]+)"/g,
      ),
    ].map(([, id]) => id);
  expect(await links('home ASSISTANT')).toEqual(['home-assistant']);
  expect(await links('media')).toEqual(['immich', 'jellyfin', 'paperless-ngx', 'home-assistant']);
  expect(await links('no such product')).toContain('web');
});

it('the form creates missing roles only when its box is ticked, for an administrator who may create roles', async () => {
  const { roles, db } = idp.services;
  const created = () => db.auditEvent.count({ where: { type: 'role.created' } });
  const submit = async (client: HttpClient, fields: Record<string, string>) =>
    client.submit(await client.get('/admin/applications/new/jellyfin'), { url: 'https://g.example.com', ...fields });
  await submit(admin, { name: 'Jellyfin' });
  const before = await created();
  // A second registration leaves them alone.
  expect((await submit(admin, { name: 'Jellyfin 1' })).status).toBe(303);
  expect(await created()).toBe(before);
  for (const name of ['jellyfin-admin', 'jellyfin-user']) await roles.remove(name);
  expect((await submit(admin, { name: 'Jellyfin 2', create_roles: '' })).status).toBe(303);
  expect(await roles.find('jellyfin-admin')).toBeUndefined();

  await roles.create({
    name: 'registrar',
    permissions: ['gatehouse.applications:read', 'gatehouse.applications:write'],
  });
  const registrar = await consoleOf(idp, await staff(idp, 'registrar'));
  const form = await registrar.get('/admin/applications/new/jellyfin');
  expect(form.text).not.toContain('create_roles');
  const forged = await registrar.submit(form, { url: 'https://g.example.com', name: 'Jellyfin 3', create_roles: 'on' });
  expect(forged.status).toBe(403);
  expect(await roles.find('jellyfin-admin')).toBeUndefined();

  // The access rule may name them, and names them for selected people where nothing else is chosen.
  const start = await admin.get('/admin/applications/new/grafana');
  expect(start.forms.find((one) => 'url' in one.fields)?.fields).toMatchObject({ access: 'everyone' });
  for (const name of ['grafana-admin', 'grafana-editor'])
    expect(start.text).toMatch(new RegExp(`<input[^>]*name="access.groups"[^>]*value="${name}"[^>]* checked`));
  const limited = { name: 'Jellyfin 4', create_roles: 'on', access: 'roles', 'access.roles': 'jellyfin-user' };
  const added = await admin.follow(await submit(admin, limited));
  expect(textOf(added.text)).toMatch(/Users with the role jellyfin-user .*With jellyfin-user Users of Jellyfin/);
  expect((await db.asStored.application.findFirstOrThrow({ where: { name: 'Jellyfin 4' } })).access).toBe('roles');
  expect(await created()).toBe(before + 3);
  expect(await roles.find('jellyfin-user')).toMatchObject({ description: 'Users of Jellyfin', permissions: [] });
});

it('the form creates missing groups only when its box is ticked, for an administrator who may create groups', async () => {
  const { groups, roles, db } = idp.services;
  const url = 'https://groups.example.com';
  const submit = async (fields: Record<string, string>) =>
    admin.submit(await admin.get('/admin/applications/new/grafana'), { url, ...fields });
  for (const name of ['grafana-admin', 'grafana-editor']) {
    const group = await groups.find(name);
    if (group) await groups.remove(group.id);
  }
  expect((await submit({ name: 'Grafana 2', create_groups: '' })).status).toBe(303);
  expect(await groups.find('grafana-admin')).toBeUndefined();

  const permissions = ['gatehouse.applications:read', 'gatehouse.applications:write'];
  await roles.create({ name: 'group registrar', permissions });
  const registrar = await consoleOf(idp, await staff(idp, 'group registrar'));
  const form = await registrar.get('/admin/applications/new/grafana');
  expect(textOf(form.text)).toContain('You need the permission to change groups.');
  const { action, fields } = form.forms.find((one) => 'url' in one.fields) ?? expect.fail('no form');
  const forged = { ...fields, url, name: 'Grafana 3', create_groups: 'on' };
  expect((await registrar.post(action, { form: forged })).status).toBe(403);
  expect(await groups.find('grafana-admin')).toBeUndefined();

  // The access rule may name them.
  const limited = { name: 'Grafana 4', create_groups: 'on', access: 'roles', 'access.groups': 'grafana-editor' };
  const added = await admin.follow(await submit(limited));
  expect(textOf(added.text)).toMatch(/grafana-editor .*In grafana-editor Editors in Grafana/);
  const { id, access } = await db.asStored.application.findFirstOrThrow({ where: { name: 'Grafana 4' } });
  expect(access).toBe('roles');
  // Nobody is in the group yet.
  expect(textOf(added.text)).toContain('You can’t open Grafana 4 yet');
  const overview = textOf((await admin.get(`/admin/applications/${id}`)).text);
  expect(overview).toContain('Limited to 1 group : to do People can’t open it yet');
  const { id: userId = '', email = '' } = (await idp.services.accounts.findByLogin(boss.username)) ?? {};
  await idp.services.accounts.update(userId, { email: null });
  const test = await admin.get(`/admin/test/${id}`);
  await idp.services.accounts.update(userId, { email });
  expect(test.forms.find(({ fields }) => 'scope' in fields)?.fields.scope).toBe(
    'openid profile email groups offline_access',
  );
  expect(textOf(test.text)).toMatch(/ends with a rejection.*you have none\. Add one to your account/s);
  expect(linksOf(test.text, test.url).map(({ href }) => href)).toContain(`${idp.issuer}/account/email`);
  expect(await groups.find('grafana-editor')).toMatchObject({ description: 'Editors in Grafana' });
  expect((await submit({ name: 'Grafana 5' })).status).toBe(303);
});

it('a guide takes the address from the redirect URI when the application has no home page', async () => {
  const { clientId } = await aClient(idp.services, {
    client_name: 'Grafana of Berlin',
    redirect_uris: ['https://grafana.example.com/login/generic_oauth'],
  });
  const { id } = await idp.services.db.asStored.application.findUniqueOrThrow({ where: { clientId } });
  const guide = await admin.get(`/admin/applications/${id}/setup`);
  expect(textOf(guide.text)).toContain('root_url = https://grafana.example.com');
});

it.each([
  ['claude-code', { mcp: 'https://notes.example.com/a%2Fb', scopes: 'notes:read' }, 'https://notes.example.com/a%2Fb'],
  ['claude-code', { mcp: 'https://notes.example.com/%zz', scopes: 'notes:read' }, 'https://notes.example.com/%zz'],
])('the guide of %s has a value of the application as it is stored: %j', async (preset, fields, expected) => {
  await admin.submit(await admin.get(`/admin/applications/new/${preset}`), fields);
  const { id, metadata } = await idp.services.db.asStored.application.findFirstOrThrow({
    orderBy: { createdAt: 'desc' },
  });
  expect(JSON.parse(metadata)).toMatchObject({ preset });
  const guide = await admin.get(`/admin/applications/${id}/setup`);
  expect([guide.status, textOf(guide.text)]).toEqual([200, expect.stringContaining(expected)]);
  await idp.services.applications.remove(id);
});

it.each([
  ['Caf%C3%A9', "'Café'"],
  ['50%', "'50%'"],
])('the guide of Nextcloud has the provider of the address %s', (segment, expected) => {
  const nextcloud = productPresets().find(({ id }) => id === 'nextcloud');
  const server = { name: 'Acme', issuer: idp.issuer, clientId: 'c', clientSecret: 's', certificate: '' };
  const backchannel_logout_uri = `https://c.example.com/index.php/apps/user_oidc/backchannel-logout/${segment}`;
  const steps = nextcloud?.setupInstructions(server, { backchannel_logout_uri });
  expect(String(steps?.[0]?.text)).toContain(`user_oidc:provider ${expected} `);
});

it('a guide stays with an application that gets another name, and another guide can be chosen', async () => {
  await admin.submit(await admin.get('/admin/applications/new/grafana'), { url: 'https://dash.example.com' });
  const { id, metadata } = await idp.services.db.asStored.application.findFirstOrThrow({
    orderBy: { createdAt: 'desc' },
  });
  expect(JSON.parse(metadata)).toMatchObject({ preset: 'grafana' });
  const at = `/admin/applications/${id}`;
  await admin.submit(await admin.get(`${at}/settings`), { client_name: 'Dashboards' });
  expect(textOf((await admin.get(`${at}/setup`)).text)).toContain('grafana.ini');
  await admin.submit(await admin.get(`${at}/settings`), { preset: 'gitea' });
  expect(textOf((await admin.get(`${at}/setup`)).text)).not.toContain('grafana.ini');
});

it('the page of a new application displays the secret, and a reload adds nothing', async () => {
  const { db } = idp.services;
  const form = await admin.get('/admin/applications/new/grafana');
  const answers = { url: 'https://once.example.com', name: 'Grafana once' };
  const sent = await admin.submit(form, answers);
  expect([sent.status, sent.location]).toEqual([303, expect.stringContaining('/admin/result/')]);
  const other = await consoleOf(idp, await staff(idp, 'admin'));
  expect((await other.get(sent.location ?? '')).status).toBe(404);
  const count = await db.application.count();
  const page = await admin.get(sent.location ?? '');
  const secret = /client_secret = ([\w-]{20,})/.exec(textOf(page.text))?.[1] ?? '';
  const { id } = await db.asStored.application.findFirstOrThrow({ where: { name: answers.name } });
  expect(await idp.services.applications.hasSecret(id, secret)).toBe(true);
  expect(textOf(page.text)).toMatch(/Everyone .*With other groups or none Viewer/);
  expect(page.text).toMatch(/href="\/admin\/test\/[^"]+" target="_blank"/);
  // The server of the tests is on this machine, and the application is not.
  expect(textOf(page.text)).toMatch(/work only on this machine.*ISSUER=https:\/\//);
  expect(JSON.stringify(await db.storedForm.findMany())).not.toContain(secret);

  expect((await admin.get(sent.location ?? '')).text).toContain(secret);
  const again = await admin.submit(form, answers);
  expect([again.status, textOf(again.text)]).toEqual([400, expect.stringContaining('Name is already in use')]);
  expect(await db.application.count()).toBe(count);

  const local = await admin.submit(form, { url: 'http://localhost:3001', name: 'Grafana here' });
  expect(textOf((await admin.follow(local)).text)).not.toContain('work only on this machine');
});

it('the test of a sign-in says what the product makes of the user, and that it needs an email address', async () => {
  const { id } = await idp.services.db.asStored.application.findFirstOrThrow({ where: { name: 'Grafana once' } });
  const test = async (client: HttpClient) =>
    textOf((await client.follow(await client.submit(await client.get(`/admin/test/${id}`)))).text);
  expect(await test(admin)).toMatch(/The sign-in works\. .*Email \S+@\S+ .*Role in Grafana Viewer/);
  const user = await staff(idp, 'admin');
  const group = (await idp.services.groups.find('grafana-editor')) ?? expect.fail('no group');
  await idp.services.groups.addMembers(group.id, [{ userId: user.account.id }]);
  await idp.services.accounts.update(user.account.id, { email: null });
  const rejected = await test(await consoleOf(idp, user));
  expect(rejected).toMatch(/Grafana would reject it.*Email None .*Role in Grafana Editors in Grafana/);
});

it('a group that a product reads says so where no application requires it, and no step of its setup is impossible', async () => {
  const { id } = (await idp.services.groups.find('grafana-editor')) ?? expect.fail('no group');
  await idp.services.db.asStored.application
    .findFirstOrThrow({ where: { name: 'Grafana 4' } })
    .then(({ id: limited }) => idp.services.applications.remove(limited));
  const group = textOf((await admin.get(`/admin/groups/${id}/applications`)).text);
  expect(group).toContain('Grafana reads this group (Editors in Grafana).');
  const once = await idp.services.db.asStored.application.findFirstOrThrow({ where: { name: 'Grafana once' } });
  const { clientId } = once;
  await idp.services.audit.record({ type: 'logout.failed', outcome: 'failure', reason: 'no_logout', clientId });
  const overview = (await admin.get(`/admin/applications/${once.id}`)).text;
  expect(textOf(overview)).not.toContain('Sign-out everywhere');
  expect(textOf(overview)).toContain('the application has no logout address');
  // Only the navigation has the icon of failures.
  expect(overview.match(/#circle-x/g)).toHaveLength(1);
});

it('a guide has the redirect URIs, the client authentication and the scopes of the application', async () => {
  const { id } = await idp.services.db.asStored.application.findFirstOrThrow({ where: { name: 'Grafana once' } });
  const guide = textOf((await admin.get(`/admin/applications/${id}/setup`)).text);
  expect(guide).toMatch(/Client authentication client_secret_basic .*Redirect URIs https:\/\/once\.example\.com/);
  expect(guide).toMatch(/scopes = openid profile email groups offline_access/);
  // One copy of them: the row has those of an application without a guide.
  expect(guide).not.toMatch(/Scopes openid/);
  expect(guide).toMatch(/then restart Grafana.*GF_AUTH_GENERIC_OAUTH_CLIENT_ID=/);
  expect(guide).toMatch(/work only on this machine.*ISSUER=https:\/\//);
});

it('a product asks for the whole address where a name without a dot is typed, and takes it with its scheme', async () => {
  const enter = async (url: string) =>
    admin.submit(await admin.get('/admin/applications/new/grafana'), { url, name: `Charts at ${url}` });
  for (const url of ['grafana', 'grafana:3000/', 'grafana/login']) {
    const rejected = await enter(url);
    expect([url, rejected.status]).toEqual([url, 400]);
    expect(textOf(rejected.text)).toContain('Enter the whole address, such as https://grafana.example.com.');
    expect(rejected.text).toContain(`value="${url}"`);
  }
  for (const [url, stored] of [
    ['https://grafana', 'https://grafana/login/generic_oauth'],
    ['localhost:3000', 'https://localhost:3000/login/generic_oauth'],
  ] as const) {
    const added = await enter(url);
    expect([url, added.status], textOf(added.text)).toEqual([url, 303]);
    const [newest] = await idp.services.db.asStored.application.findMany({ orderBy: { createdAt: 'desc' }, take: 1 });
    expect(JSON.stringify(newest)).toContain(stored);
  }
});

it('an application of one’s own has code for each framework, filled in, with the secret nowhere in it', async () => {
  const form = await admin.get('/admin/applications/new/web');
  const fields = { name: 'Lab notes', redirect_uris: 'https://notes.example.com/back' };
  const made = await admin.follow(await admin.submit(form, fields));
  const { clientId, id } = await idp.services.db.asStored.application.findFirstOrThrow({
    orderBy: { createdAt: 'desc' },
  });
  const blocksOf = (html: string) => [
    ...html.matchAll(/<summary[^>]*>(?:(?!<\/summary>).)*?(Code for [^<]+)<.*?<pre[^>]*>(.*?)<\/pre>/gs),
  ];
  const guide = (await admin.get(`/admin/applications/${id}/setup`)).text;
  for (const { title } of frameworks) expect(guide).toContain(`aria-label="Copy Code for ${title}"`);
  const blocks = blocksOf(guide);
  expect(blocks.map(([, title]) => title)).toEqual(frameworks.map(({ title }) => `Code for ${title}`));
  for (const [, title, code = ''] of blocks) {
    expect(code, title).toContain(clientId);
    expect(code, title).toContain(idp.issuer);
    expect(code, title).toMatch(title === 'Code for Next.js' ? /api\/auth\/callback/ : /back&quot;/);
  }
  const [, secret = ''] = /<code[^>]*>([\w-]{43})<\/code>/.exec(made.text) ?? [];
  expect(secret).not.toBe('');
  expect(blocksOf(made.text)).toHaveLength(frameworks.length);
  expect(JSON.stringify(blocksOf(made.text).map(([, , code]) => code))).not.toContain(secret);

  const spa = await admin.follow(
    await admin.submit(await admin.get('/admin/applications/new/spa'), { ...fields, name: 'In the browser' }),
  );
  expect(spa.text).not.toContain('Code for');
});

it('a website is added by its name alone, and its address is https', async () => {
  const form = await admin.get('/admin/applications/new/proxy');
  const added = await admin.submit(form, { name: 'Intranet', url: 'intranet.example.com', proxy: 'caddy' });
  expect(added.status, textOf(added.text)).toBe(303);
  const { clientId } = await idp.services.db.asStored.application.findFirstOrThrow({ orderBy: { createdAt: 'desc' } });
  expect(clientId).toBe('https://intranet.example.com');
  expect(textOf((await admin.follow(added)).text)).toMatch(/work only on this machine.*ISSUER=https:\/\//);
  const wrong = await admin.submit(form, { name: 'Other', url: 'http://other.example.com', proxy: 'caddy' });
  expect([wrong.status, textOf(wrong.text)]).toEqual([400, expect.stringContaining('https')]);
});
