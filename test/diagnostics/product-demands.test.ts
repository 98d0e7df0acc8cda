// What a product demands of a person, beyond the access rule: the access check with its fixes, the test sign-in and the setup of the
// application say it, and names after roles_rename are compared with names after it.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { demandResults, rolesReadBy, rolesThatCount } from '../../src/admin/applications/presets/demands.ts';
import { presetOf } from '../../src/admin/applications/presets/presets.ts';
import type { ProductPreset } from '../../src/admin/applications/presets/products.ts';
import { productPresets } from '../../src/admin/applications/presets/products.ts';
import { consoleOf, staff } from '../admin/console/support.ts';
import { type ApiCaller, aPerson } from '../admin/support.ts';
import { aUser, type TestUser } from '../support/factories.ts';
import type { HttpClient, Page } from '../support/http.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';
import { linksOf, textOf } from '../support/pages/html.ts';

let idp: TestIdp;
let boss: TestUser;
let admin: HttpClient;
let api: ApiCaller;
beforeAll(async () => {
  idp = await startIdp();
  boss = await staff(idp, 'admin');
  admin = await consoleOf(idp, boss);
  api = await aPerson(idp, ['admin']);
});
afterAll(() => idp?.stop());

/** Adds an application for this product as an administrator does. */
async function added(preset: string, fields: Record<string, string> = { url: 'https://app.example.com' }) {
  const sent = await admin.submit(await admin.get(`/admin/applications/new/${preset}`), fields);
  expect([sent.status, sent.status === 303 ? '' : textOf(sent.text)]).toEqual([303, '']);
  const { id, clientId } = await idp.services.db.asStored.application.findFirstOrThrow({
    orderBy: { createdAt: 'desc' },
  });
  return { id, clientId };
}
const check = ({ username }: TestUser, clientId: string) =>
  admin.get(`/admin/access-check?${new URLSearchParams({ user: username, app: clientId })}`);
const why = async ({ username }: TestUser, application: string) =>
  (await api.get(`/access-check?${new URLSearchParams({ user: username, application })}`)).json<{
    can_sign_in: boolean;
  }>();
/** Presses a button of the result, which has a form of its own. */
async function pressed(page: Page, label: string): Promise<Page> {
  const form = page.forms.find(({ buttons }) => buttons.some((one) => one.label === label));
  if (!form) throw new Error(`No button ${label}: ${textOf(page.text)}`);
  return admin.post(form.action, { form: form.fields });
}
const press = async (page: Page, label: string) => admin.follow(await pressed(page, label));
const overview = async (id: string) => textOf((await admin.get(`/admin/applications/${id}`)).text);
async function testSignIn(id: string): Promise<string> {
  const form = await admin.get(`/admin/test/${id}`);
  return textOf((await admin.follow(await admin.submit(form))).text);
}

describe('a product that demands a verified address', () => {
  it('is red in the access check for an address of the console, until the administrator vouches for it', async () => {
    const { id, clientId } = await added('oauth2-proxy');
    const ann = await aUser(idp.services, { name: 'Ann', email: 'ann@example.com', emailVerified: false });
    const page = await check(ann, clientId);
    expect(textOf(page.text)).toContain('Ann can’t sign in to oauth2-proxy');
    expect(textOf(page.text)).toContain('Ann’s email address isn’t verified, and oauth2-proxy rejects users');
    expect(await why(ann, clientId)).toMatchObject({ may_open: true, can_sign_in: false });
    expect(await overview(id)).toContain('oauth2-proxy rejects users whose address isn’t verified.');

    const question = await press(page, 'Mark ann@example.com as verified');
    expect(textOf(question.text)).toContain('Do this only if you know that ann@example.com is Ann’s mailbox');
    const done = await press(question, 'Mark ann@example.com as verified');
    expect(textOf(done.text)).toContain('ann@example.com is verified.');
    expect(textOf(done.text)).toContain('Ann can sign in to oauth2-proxy');
    expect(await why(ann, clientId)).toMatchObject({ can_sign_in: true });
    expect(await idp.services.accounts.find(ann.account.id)).toMatchObject({ emailVerified: true });
  });

  it('is said at a test sign-in', async () => {
    const { id } = await added('oauth2-proxy', { url: 'https://other.example.com', name: 'oauth2-proxy 2' });
    await idp.services.accounts.update(boss.account.id, { email: 'boss@example.com', emailVerified: false });
    expect(await testSignIn(id)).toContain('oauth2-proxy rejects users with an unverified email address');
    await idp.services.accounts.update(boss.account.id, { emailVerified: true });
    expect(await testSignIn(id)).not.toContain('rejects');
    await idp.services.accounts.update(boss.account.id, { email: null });
    expect(await testSignIn(id)).toContain('oauth2-proxy rejects users without an email address');
  });

  it('accepts the addresses that an administrator, the command line or the file declares as verified', async () => {
    const form = await admin.get('/admin/users/new');
    expect(textOf(form.text)).toContain('Some applications reject unverified addresses.');
    const sent = await admin.submit(form, {
      username: 'eve',
      email: 'eve@example.com',
      email_verified: 'on',
      begin: 'password',
    });
    expect(sent.status).toBeLessThan(400);
    expect(await idp.services.accounts.findByLogin('eve')).toMatchObject({ emailVerified: true });
  });
});

describe('a product that demands a role', () => {
  it('rejects a person without one: MinIO, whose roles have other names there', async () => {
    const { id, clientId } = await added('minio');
    const ben = await aUser(idp.services, { name: 'Ben' });
    const page = await check(ben, clientId);
    expect(textOf(page.text)).toContain('Ben can’t sign in to MinIO');
    expect(textOf(page.text)).toContain(
      'MinIO rejects users without the role minio-admin, minio-write or minio-read, and Ben doesn’t have it.',
    );
    expect(await overview(id)).toContain('MinIO rejects users without the role minio-admin');
    // The least powerful first.
    const offered = (of: Page) => [...of.text.matchAll(/Give \w+ the role ([\w-]+)/g)].map(([, role]) => role);
    expect(offered(page)).toEqual(['minio-read', 'minio-write', 'minio-admin']);
    const fixed = await press(page, 'Give Ben the role minio-read');
    expect(textOf(fixed.text)).toContain('Ben can sign in to MinIO');
    expect(textOf(fixed.text)).toContain('MinIO gets readonly.');

    await idp.services.roles.assign(boss.account.id, 'minio-write');
    expect(await testSignIn(id)).toContain('Policy readwrite in MinIO');

    // Without the new names the product gets names that it doesn’t know.
    await idp.services.roles.create({ name: 'minio-custom' });
    const { metadata } = await idp.services.db.asStored.application.findUniqueOrThrow({ where: { id } });
    const { roles_rename: _, ...rest } = JSON.parse(metadata);
    await idp.services.applications.update(
      'oidc',
      id,
      {
        ...JSON.parse(metadata),
        client_id: clientId,
        client_name: 'MinIO',
        access: { roles: ['minio-admin', 'minio-custom', 'minio-read'] },
      },
      { source: 'local' },
    );
    const closed = await check(await aUser(idp.services, { name: 'Dan' }), clientId);
    expect(offered(closed).slice(0, 3)).toEqual(['minio-custom', 'minio-read', 'minio-admin']);
    const settings = await admin.get(`/admin/applications/${id}/claims`);
    expect(settings.status).toBe(200);
    expect(rolesThatCount(presetOf('minio') as ProductPreset, rest)).toEqual([]);
    expect(rolesThatCount(presetOf('minio') as ProductPreset, { roles_rename: { ops: 'consoleAdmin' } })).toEqual([
      'ops',
    ]);
  });

  it.each([
    ['kubernetes', { name: 'production' }, 'Kubernetes', 'kubernetes-admin'],
    ['vault', undefined, 'HashiCorp Vault', 'vault-admin'],
  ])('warns of a person who may do nothing there: %s', async (preset, fields, title, group) => {
    const { id, clientId } = await added(preset, fields);
    const cleo = await aUser(idp.services, { name: 'Cleo' });
    const page = await check(cleo, clientId);
    const sentence = `${title} signs Cleo in, but without the group ${group} Cleo can’t do anything there.`;
    expect(textOf(page.text)).toContain(sentence);
    expect(await why(cleo, clientId)).toMatchObject({ can_sign_in: true });
    expect(await overview(id)).toContain(`Without the group ${group}, users can’t do anything in ${title}.`);
    expect(await testSignIn(id)).toContain(`without the group ${group} you can’t do anything there.`);

    const { groups } = idp.services;
    const dev = await groups.create({ name: `${preset}-dev` });
    await groups.addMembers(
      dev.id,
      [cleo, boss].map(({ account }) => ({ userId: account.id })),
    );
    expect(await testSignIn(id)).toContain(`${title} gets groups of you that the guide doesn’t name.`);
    expect(textOf((await check(cleo, clientId)).text)).toContain(
      `Of Cleo, ${title} gets ${preset}-dev. That counts only if ${title} has rights for this name.`,
    );
    await groups.remove(dev.id);
    const offered = await check(cleo, clientId);
    const { description } = (await groups.find(group)) ?? expect.fail('no group');
    expect(textOf(offered.text)).toContain(`${group}: ${description}`);
    const fixed = await press(offered, `Add Cleo to the group ${group}`);
    expect(textOf(fixed.text)).toContain(`${title} gets ${group}.`);
    expect((await idp.services.accounts.find(cleo.account.id))?.groups).toMatchObject([{ name: group }]);
    await groups.remove((await groups.find(group))?.id ?? '');
    expect(textOf((await check(cleo, clientId)).text)).toContain(`There is no group ${group} yet.`);
  });

  it('leads to the claims when the application keeps the role back', async () => {
    const { id, clientId } = await added('jellyfin');
    const { metadata } = await idp.services.db.asStored.application.findUniqueOrThrow({ where: { id } });
    await idp.services.applications.update(
      'oidc',
      id,
      { ...JSON.parse(metadata), client_id: clientId, client_name: 'Jellyfin', roles_filter: ['other-*'] },
      { source: 'local' },
    );
    const dan = await aUser(idp.services, { name: 'Dan' });
    const page = await check(dan, clientId);
    expect(textOf(page.text)).toContain('Jellyfin gets no role by a name that it knows');
    const links = linksOf(page.text, page.url).map(({ href }) => new URL(href).pathname);
    expect(links).toContain(`/admin/applications/${id}/claims`);
  });

  it('is said at a test sign-in by SAML', async () => {
    await idp.services.roles.create({ name: 'aws-developer' });
    const fields = { account: '123456789012', provider: 'OurLogin', iam_role: 'Developer', role: 'aws-developer' };
    const { id } = await added('aws', fields);
    expect(await testSignIn(id)).toContain('Your account has none of the roles or groups that this app requires');
    await idp.services.roles.assign(boss.account.id, 'aws-developer');
    expect(await testSignIn(id)).not.toContain('rejects');
  });
});

it('every demand of a preset can be met: by an address, and by a role or group that the preset creates or asks for', () => {
  for (const preset of productPresets().filter(({ demands }) => demands)) {
    const roles = rolesReadBy(preset).map(({ name, nameThere = name }) => nameThere);
    const person = {
      email: 'ann@example.com',
      emailVerified: true,
      roles:
        preset.id === 'aws' ? ['arn:aws:iam::123456789012:role/A,arn:aws:iam::123456789012:saml-provider/B'] : roles,
    };
    expect([preset.id, demandResults(preset, person).filter(({ state }) => state !== 'met')]).toEqual([preset.id, []]);
    const nobody = demandResults(preset, { email: null, emailVerified: false, roles: [] });
    expect([preset.id, nobody.filter(({ state }) => state === 'met').map(({ demand }) => demand)]).not.toEqual([
      preset.id,
      nobody.map(({ demand }) => demand),
    ]);
  }
});
