// Connections in the console: added by vendor, changed section by section, their secrets, domains and documents, disabled, deleted.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { presets } from '../../../src/federation/connections/presets/presets.ts';
import { checkConnection } from '../../../src/federation/connections/schema.ts';
import { aCredential } from '../../saml/support.ts';
import type { TestUser } from '../../support/factories.ts';
import type { HttpClient } from '../../support/http.ts';
import { startIdp, type TestIdp } from '../../support/idp.ts';
import { some } from '../../support/long-run.ts';
import { actionsOf, textOf } from '../../support/pages/html.ts';
import { confirmation, consoleOf, signedInLongAgo, staff } from './support.ts';

let idp: TestIdp;
let admin: HttpClient;
let auditor: HttpClient;
let manager: HttpClient;
let other: { user: TestUser; client: HttpClient };
let records: string[] = [];
beforeAll(async () => {
  idp = await startIdp({ resolveTxt: async () => records });
  admin = await consoleOf(idp, await staff(idp, 'admin'));
  auditor = await consoleOf(idp, await staff(idp, 'auditor'));
  // Before a domain is proven, which makes the sign-in page ask for the address first.
  manager = await consoleOf(idp, await staff(idp, 'user-manager'));
  const user = await staff(idp, 'admin');
  other = { user, client: await consoleOf(idp, user) };
});
afterAll(() => idp?.stop());

const HOME = '/admin/connections';
const answers: Record<string, string> = {
  client_id: 'gatehouse',
  client_secret: 'typed-secret',
  private_key: 'typed-key',
  tenant: 'a-tenant-id',
  team_id: 'TEAM',
  key_id: 'KEY',
  issuer: 'https://sso.example.com',
  metadata_url: 'https://sso.example.com/saml',
  authorization_url: 'https://a.example/a',
  token_url: 'https://a.example/t',
  userinfo_url: 'https://a.example/u',
  subject_claim: 'id',
  url: 'ldaps://dir.example.com',
  base_dn: 'dc=example',
  client_secret_expires_at: '2030-01-01',
  metadata: identityProviderMetadata('https://sso.example.com'),
};

function identityProviderMetadata(entityId: string): string {
  const certificate = aCredential().certificatePem.replace(/-----[^-]+-----|\s/g, '');
  return (
    `<md:EntityDescriptor xmlns:md="urn:oasis:names:tc:SAML:2.0:metadata" entityID="${entityId}">` +
    `<md:IDPSSODescriptor protocolSupportEnumeration="urn:oasis:names:tc:SAML:2.0:protocol"><md:KeyDescriptor use="signing">` +
    `<ds:KeyInfo xmlns:ds="http://www.w3.org/2000/09/xmldsig#"><ds:X509Data><ds:X509Certificate>${certificate}` +
    `</ds:X509Certificate></ds:X509Data></ds:KeyInfo></md:KeyDescriptor><md:SingleSignOnService ` +
    `Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect" Location="${entityId}/sso"/>` +
    `</md:IDPSSODescriptor></md:EntityDescriptor>`
  );
}

describe('a new connection', () => {
  it.each(some(8, presets()))(
    'is added for $name ($kind) with the values to paste there, enabled and with its secret',
    async (preset) => {
      const at = `${HOME}/new/${preset.kind}/${preset.id}`;
      const page = await admin.get(at);
      expect(page.status).toBe(200);
      const id = `new-${preset.kind}-${preset.id}`;
      const fields = Object.fromEntries(preset.fields.map(({ key }) => [key, answers[key] ?? '']));
      if (fields.metadata_url) fields.metadata = ''; // one or the other
      const added = await admin.submit(page, { ...fields, id });
      expect([added.status, textOf(added.text)]).toEqual([303, expect.anything()]);
      const created = await admin.follow(added);
      if (preset.paste.includes('redirect_uri'))
        expect(created.text.replaceAll('<wbr>', '')).toContain(`${idp.issuer}/upstream/${id}/callback`);
      if (preset.paste.includes('acs_url'))
        expect(created.text.replaceAll('<wbr>', '')).toContain(`${idp.issuer}/saml/acs`);
      expect(textOf(created.text)).not.toMatch(/undefined|\[object|typed-/);
      const stored = await idp.services.connections.get(id);
      expect(stored).toMatchObject({ kind: preset.kind, preset: preset.id, enabled: true, source: 'local' });
      const asked = preset.fields.filter(({ type }) => type === 'secret' || type === 'date').map(({ key }) => key);
      const secrets = await idp.services.connections.secretInfos(id);
      expect(secrets).toHaveLength(asked.includes('client_secret') || asked.includes('private_key') ? 1 : 0);
      if (asked.includes('client_secret_expires_at')) expect(secrets[0]?.expiresAt).toEqual(new Date('2030-01-01'));
      expect((await admin.get(`${HOME}/${id}/edit`)).status).toBe(200);
      await idp.services.connections.remove(id);
    },
  );

  it('has its steps and labels in the language of the administrator, with the words of the vendor in its own', async () => {
    const german = { headers: { 'accept-language': 'de' } };
    const vendors = await admin.get(`${HOME}/new`, german);
    expect(textOf(vendors.text)).toContain('LDAP-Verzeichnis');
    const github = textOf((await admin.get(`${HOME}/new/oauth2/github`, german)).text);
    expect(github).toContain('Geben Sie die Redirect-URI unten als „Authorization callback URL“ ein.');
    const directory = await admin.get(`${HOME}/new/ldap/generic`, german);
    expect(directory.forms.at(-1)?.fields).toMatchObject({ name: 'LDAP-Verzeichnis' });
    expect(textOf(directory.text)).toContain('Base-DN Zum Beispiel ou=people,dc=example,dc=com');
  });

  it('asks whether the first sign-in creates an account, has its ID in the addresses, and calls a generic one the provider', async () => {
    const page = await admin.get(`${HOME}/new/oidc/generic`);
    expect(page.text).toMatch(/<select[^>]*name="create_users" required/);
    expect(page.forms.at(-1)?.fields.create_users).toBe('');
    expect(page.text).toMatch(/name="id"[^>]* data-in-addresses/);
    expect(textOf(page.text)).toContain('Enter these values at the provider, then');
    for (const [create_users, creates] of [
      ['on', true],
      ['off', false],
      ['', false],
    ] as const) {
      const fields = { issuer: 'https://sso.example.com', client_id: 'x', client_secret: 'y', create_users };
      const added = await admin.submit(page, { ...fields, id: 'asked' });
      expect(added.status, textOf(added.text)).toBe(303);
      expect(await idp.services.connections.get('asked')).toMatchObject({ settings: { create_users: creates } });
      await idp.services.connections.remove('asked');
    }
    const wrong = await admin.submit(page, { id: 'acme-up', issuer: 'http://sso.example.com', client_id: 'x' });
    expect(wrong.text.replaceAll('<wbr>', '')).toContain(`${idp.issuer}/upstream/acme-up/callback`);
  });

  it('comes back as it was typed when a value is wrong', async () => {
    const page = await admin.get(`${HOME}/new/oidc/generic`);
    const typed = { id: 'Not A Slug', name: 'Wrong', issuer: 'https://sso.example.com', client_id: 'x' };
    const rejected = await admin.submit(page, typed);
    expect(rejected.status).toBe(400);
    expect(textOf(rejected.text)).toMatch(/must have up to 64 characters: a-z/);
    expect(rejected.forms.at(-1)?.fields).toMatchObject({ name: 'Wrong', issuer: typed.issuer });
    const unsafe = await admin.submit(page, { ...typed, id: 'slug', issuer: 'http://sso.example.com' });
    expect([unsafe.status, textOf(unsafe.text)]).toEqual([400, expect.stringContaining('must be https')]);
  });
});

describe('a connection', () => {
  it('is changed section by section, and a form that is out of date changes nothing', async () => {
    await idp.services.roles.create({ name: 'console-editor' });
    await admin.submit(await admin.get(`${HOME}/new/oidc/keycloak`), {
      id: 'kc',
      issuer: 'https://kc.example/realms/a',
      client_id: 'x',
      client_secret: 'y',
      domains: 'kc.example',
    });
    const edit = await admin.get(`${HOME}/kc/edit`);
    // Choices are in words; only names of a protocol are as in the configuration file.
    const options = [...edit.text.matchAll(/<option value="([^"]*)"[^>]*>([^<]*)</g)].flatMap(([, ...one]) =>
      one[0] === one[1] ? one[0] : [],
    );
    expect(options).toEqual(['query', 'form_post']);
    const roles = { groups_claim: 'groups', role_mappings: 'cn=staff,ou=groups => console-editor' };
    expect((await admin.submit(edit, roles)).status).toBe(303);
    expect((await idp.services.connections.mappings('kc')).roleMappings).toMatchObject([
      { upstream: 'cn=staff,ou=groups', name: 'console-editor' },
    ]);
    const stored = await idp.services.connections.get('kc');
    expect(stored.settings).toMatchObject({ issuer: 'https://kc.example/realms/a', pkce: true, update_profile: true });
    expect((await admin.submit(edit, { name: 'Late' })).status).toBe(412);
    const again = await admin.get(`${HOME}/kc/edit`);
    const wrong = await admin.submit(again, { role_mappings: 'staff => no-such-role' });
    expect([wrong.status, textOf(wrong.text)]).toEqual([
      400,
      expect.stringContaining('this role doesn’t exist: no-such-role'),
    ]);
    const trust = { trusted_acr: 'mfa => gold, silver', trusted_amr: '' };
    expect((await admin.submit(again, trust)).status).toBe(303);
    expect((await idp.services.connections.get('kc')).settings).toMatchObject({
      trusted_acr: { mfa: ['gold', 'silver'] },
    });
  });

  it('gets a second secret with its end, loses the old one after a question, and shows neither', async () => {
    const { connections } = idp.services;
    const [old] = await connections.secretInfos('kc');
    await admin.submit(await admin.get(`${HOME}/kc/secret`), { value: 'second', expires_at: '2031-02-03' });
    const page = await admin.get(`${HOME}/kc`);
    expect(page.text).toContain('2031-02-03');
    expect(page.text).not.toContain('second"');
    expect(actionsOf(page)).not.toContainEqual(expect.stringContaining('/secrets/'));
    const question = await admin.get(`${HOME}/kc/secrets/${old?.id}/remove`);
    expect(textOf(question.text)).toMatch(/Remove the client secret stored on .* of .*\?.*Remove secret/);
    expect(question.text).toMatch(/<title>Remove the client secret stored on [^<]* UTC of/);
    expect(question.text).toMatch(/<h1>Remove the client secret stored on <time datetime="[^"]+" data-exact>/);
    await admin.submit(question);
    expect((await connections.decryptedSecrets('kc', 'client-secret')).map(({ value }) => value)).toEqual(['second']);
  });

  it('shows the DNS record of a domain and checks it', async () => {
    const page = await admin.get(`${HOME}/kc`);
    const [domain] = await idp.services.connections.domains('kc');
    expect(page.text).toContain(domain?.record.value);
    const check = async () => textOf((await admin.follow(await admin.submit(page, {}, { form: '/check' }))).text);
    expect(await check()).toContain('DNS record not found');
    records = [domain?.record.value ?? ''];
    expect(await check()).toContain('proven, the DNS record is correct');
  });

  it('says which document could not be read', async () => {
    const page = await admin.get(`${HOME}/kc`);
    const read = await admin.follow(await admin.submit(page, {}, { form: '/documents' }));
    const text = textOf(read.text);
    expect(text).toContain('Discovery document: There is no server kc.example. Check the address for typing errors');
    // The error as it was received is for developers.
    expect(text).toMatch(/Details Discovery document https:\/\/kc\.example could not be reached.*ENOTFOUND/);
    const german = await admin.get(`${HOME}/kc`, { headers: { 'accept-language': 'de' } });
    expect(textOf(german.text)).toContain('Fehlgeschlagen Es gibt keinen Server kc.example.');
  });

  it('is readable for an auditor without any form, and not for a user manager', async () => {
    for (const path of [HOME, `${HOME}/kc`]) {
      const page = await auditor.get(path);
      expect([page.status, page.forms]).toEqual([200, []]);
    }
    expect((await auditor.get(`${HOME}/kc/edit`)).status).toBe(403);
    expect((await manager.get(HOME)).status).toBe(403);
  });

  it('has no form for a change where the configuration file declares it', async () => {
    const entry = { kind: 'oidc', id: 'declared', name: 'Declared', client_id: 'x', issuer: 'https://d.example' };
    const checked = checkConnection({ ...entry, enabled: false });
    if (!checked.ok) throw new Error(JSON.stringify(checked.faults));
    await idp.services.connections.create(checked.value, { source: 'file' });
    for (const form of ['delete', 'disable', 'edit', 'secret']) {
      const page = await admin.get(`${HOME}/declared/${form}`);
      expect([form, page.status, page.forms]).toEqual([form, 403, []]);
      expect(textOf(page.text)).toContain('configuration file');
    }
  });

  it('is disabled, enabled and deleted, with a fresh sign-in only', async () => {
    const { connections } = idp.services;
    const done = await admin.submit(await admin.get(`${HOME}/kc/disable`), { end_sessions: 'on' });
    expect(textOf((await admin.follow(done)).text)).toContain('0 sessions ended');
    expect((await connections.get('kc')).enabled).toBe(false);
    const page = await admin.get(`${HOME}/kc`);
    await admin.submit(page, {}, { form: '/enable' });
    expect((await connections.get('kc')).enabled).toBe(true);
    const late = other.client;
    await signedInLongAgo(idp, other.user);
    await confirmation(late, await late.submit(await late.get(`${HOME}/kc/delete`), { typed_name: 'kc' }));
    expect(await connections.find('kc')).toBeDefined();
    await admin.submit(await admin.get(`${HOME}/kc/delete`), { typed_name: 'kc' });
    expect(await connections.find('kc')).toBeUndefined();
  });

  it('is named in the list and can be removed when another program changed it', async () => {
    const { connections, db } = idp.services;
    await admin.submit(await admin.get(`${HOME}/new/oauth2/github`), {
      id: 'forged',
      client_id: 'x',
      client_secret: 'y',
    });
    await db.asStored.connection.update({ where: { id: 'forged' }, data: { enabled: false } });
    expect(textOf((await admin.get(HOME)).text)).toContain('Another program changed these connections');
    await admin.submit(await admin.get(`${HOME}/forged/delete`), { typed_name: 'forged' });
    expect(await connections.forgedIds()).toEqual([]);
  });
});
