// Forms of the console: concurrent changes, metadata by paste and by URL, and invitations.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { aClient, aUser, PASSWORD } from '../../support/factories.ts';
import type { HttpClient } from '../../support/http.ts';
import { startIdp, type TestIdp } from '../../support/idp.ts';
import { type Listening, listen } from '../../support/listen.ts';
import { type Mailbox, mailbox } from '../../support/mailbox.ts';
import { textOf } from '../../support/pages/html.ts';
import { consoleOf, staff } from './support.ts';

let idp: TestIdp;
let box: Mailbox;
let web: Listening;
let admin: HttpClient;
let other: HttpClient;

const metadata = (entityId: string) =>
  `<md:EntityDescriptor xmlns:md="urn:oasis:names:tc:SAML:2.0:metadata" entityID="${entityId}">` +
  '<md:SPSSODescriptor protocolSupportEnumeration="urn:oasis:names:tc:SAML:2.0:protocol">' +
  '<md:AssertionConsumerService index="0" Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST"' +
  ` Location="${entityId}/acs"/></md:SPSSODescriptor></md:EntityDescriptor>`;
const BY_URL = 'https://by-url.example.com';

beforeAll(async () => {
  box = await mailbox();
  web = await listen((request, response) => {
    response.writeHead(request.url === '/metadata' ? 200 : 404).end(metadata(BY_URL));
  });
  idp = await startIdp({ environment: { SMTP_URL: box.url } });
  admin = await consoleOf(idp, await staff(idp, 'admin'));
  other = await consoleOf(idp, await staff(idp, 'admin'));
});
afterAll(async () => {
  await idp?.stop();
  await web?.close();
  await box?.close();
});

describe('an edit form that two administrators open', () => {
  /** Both open the form; the first saves, the second gets a fault with what they typed, and opens it again. */
  async function race(path: string, field: string, [first, second]: [string, string]): Promise<void> {
    const [ownForm, otherForm] = [await admin.get(path), await other.get(path)];
    expect((await admin.submit(ownForm, { [field]: first })).status).toBe(303);
    const rejected = await other.submit(otherForm, { [field]: second });
    expect(rejected.status).toBe(412);
    expect(textOf(rejected.text)).toContain('Someone else changed this while you were editing.');
    expect(rejected.text).toContain(second);
    expect((await other.submit(rejected, { [field]: second })).status).toBe(412);
    const again = await other.get(path);
    expect(again.text).toContain(first);
    expect((await other.submit(again, { [field]: second })).status).toBe(303);
    expect((await admin.get(path)).text).toContain(second);
  }

  it('is saved once for an OpenID Connect application', async () => {
    const { applicationId } = await aClient(idp.services, { redirect_uris: ['https://race.example.com/cb'] });
    await race(`/admin/applications/${applicationId}/settings`, 'client_name', ['First name', 'Second name']);
  });

  it('is saved once for a SAML application', async () => {
    const by = { name: 'Raced', entity_id: 'https://raced.example.com', acs_url: 'https://raced.example.com/acs' };
    await admin.submit(await admin.get('/admin/applications/new/saml'), by);
    const row = await idp.services.applications.find(by.entity_id);
    await race(`/admin/applications/${row?.id}/settings`, 'name', ['First provider', 'Second provider']);
  });

  it('is saved once for a user', async () => {
    const { account } = await aUser(idp.services);
    await race(`/admin/users/${account.id}`, 'name', ['First Person', 'Second Person']);
  });

  it('is saved once for a role', async () => {
    const { id } = await idp.services.roles.create({ name: 'raced' });
    await race(`/admin/roles/${id}`, 'description', ['First purpose', 'Second purpose']);
  });

  it('is saved once for the settings', async () => {
    await race('/admin/settings/edit', 'session_hours', ['7', '9']);
  });

  it('is rejected without the version that it was made of', async () => {
    const { account } = await aUser(idp.services);
    const at = `/admin/users/${account.id}`;
    const sent = await admin.submit(await admin.get(at), { name: 'Without', version: '' });
    expect(sent.status).toBe(412);
    expect((await idp.services.accounts.find(account.id))?.name).not.toBe('Without');
  });
});

describe('the metadata of a new SAML application', () => {
  const register = async (fields: Record<string, string>) =>
    admin.submit(await admin.get('/admin/applications/new/saml'), fields);

  it('is pasted', async () => {
    const entityId = 'https://pasted.example.com';
    const page = await admin.follow(await register({ name: 'Pasted', metadata: metadata(entityId) }));
    expect(page.text).toContain('Next: configure Pasted');
    expect(await idp.services.applications.find(entityId)).toMatchObject({ name: 'Pasted', protocol: 'saml' });
    const wrong = await register({ name: 'Broken', metadata: '<not-metadata/>' });
    expect(wrong.status).toBe(400);
    expect(wrong.text).toContain('&lt;not-metadata/&gt;');
  });

  it('is asked for at its own field where there is none, not at the name', async () => {
    const page = await register({ name: 'Nothing else', entity_id: 'https://nothing.example.com' });
    expect(page.status).toBe(400);
    const sentence = 'Enter a metadata URL, paste the metadata or enter an entity ID and an ACS URL.';
    expect(textOf(page.text)).toContain(sentence);
    expect(page.text).toMatch(/name="metadata_url"[^>]* aria-invalid="true"/);
    expect(page.text).not.toMatch(/name="name"[^>]* aria-invalid="true"/);
  });

  it('is read from its URL', async () => {
    const address = `${web.origin}/metadata`;
    expect((await register({ name: 'By address', metadata_url: address })).status).toBe(303);
    expect(await idp.services.applications.find(BY_URL)).toMatchObject({
      name: 'By address',
      metadata: { metadata_url: address },
    });
    const gone = await register({ name: 'Gone', metadata_url: `${web.origin}/nothing` });
    expect(gone.status).toBe(400);
    expect(gone.text).toContain(`${web.origin}/nothing`);
  });
});

describe('an invitation', () => {
  it('is sent to a new user, and sent again from the page of the user', async () => {
    const fields = { username: 'invited', email: 'invited@example.com', name: 'In Vited', begin: 'invite' };
    const made = await admin.follow(await admin.submit(await admin.get('/admin/users/new'), fields));
    expect(textOf(made.text)).toContain('Invitation');
    const link = /https?:\/\/\S+/;
    const first = link.exec((await box.waitForMail(fields.email)).text)?.[0];
    const page = await admin.get(`${made.url}/invite`);
    const again = await admin.follow(await admin.submit(page));
    expect(textOf(again.text)).toContain('Invitation');
    const second = link.exec((await box.waitForMail(fields.email)).text)?.[0];
    expect(new URL(first ?? '').origin).toBe(new URL(idp.issuer).origin);
    expect(second).not.toBe(first);
    const account = await idp.services.accounts.findByLogin(fields.username);
    if (account) await idp.services.credentials.setPassword(account, PASSWORD);
    expect((await admin.get(made.url)).text).not.toContain('/invite');
    const late = await admin.submit(page);
    expect([late.status, textOf(late.text)]).toEqual([409, expect.stringContaining('This user can already sign in')]);
  });

  it('is not sent without an address, nor without permission', async () => {
    const fields = { username: 'no-address', email: '', begin: 'invite' };
    const rejected = await admin.submit(await admin.get('/admin/users/new'), fields);
    expect(rejected.status).toBeGreaterThanOrEqual(400);
    expect(await idp.services.accounts.findByLogin('no-address')).toBeUndefined();
    const { account } = await aUser(idp.services);
    const helper = await consoleOf(idp, await staff(idp, 'auditor'));
    const csrf = (await helper.get('/account/profile')).forms[0]?.fields._csrf ?? '';
    const headers = { origin: new URL(idp.issuer).origin };
    const sent = await helper.post(`/admin/users/${account.id}/invite`, { form: { _csrf: csrf }, headers });
    expect(sent.status).toBe(403);
  });
});
