// Sign-ins that the access check called possible although they were always rejected, or impossible although they worked; found by
// sign-ins.property.test.ts.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { serviceProvider, settingsOf } from '../../src/applications/fields/service-provider.ts';
import { nameIdFormats } from '../../src/protocols/saml/xml/names.ts';
import { consoleOf, staff } from '../admin/console/support.ts';
import { type ApiCaller, aService } from '../admin/support.ts';
import { aLiveSp, type LiveSp, redirect } from '../saml/live.ts';
import { storedClient } from '../support/applications/registrations.ts';
import { signRows } from '../support/database/row-macs.ts';
import { aClient, aUser } from '../support/factories.ts';
import { failSignIn } from '../support/failed-sign-in.ts';
import { type HttpClient, httpClient, type Page } from '../support/http.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';
import { linksOf, textOf } from '../support/pages/html.ts';
import { aPersonOf, goThrough, type Person, PLAIN } from './real-sign-in.ts';

let idp: TestIdp;
let admin: HttpClient;
let api: ApiCaller;
beforeAll(async () => {
  idp = await startIdp();
  admin = await consoleOf(idp, await staff(idp, 'admin'));
  api = await aService(idp);
});
afterAll(() => idp?.stop());

type Sp = Parameters<typeof aLiveSp>[1];
const pageOf = ({ username }: { username: string }, app: string) =>
  admin.get(`/admin/access-check?${new URLSearchParams({ user: username, app })}`);
/** The states of the checks that are not passed, and the result. */
async function result({ username }: { username: string }, application: string) {
  const { can_sign_in, rules } = (
    await api.get(`/access-check?${new URLSearchParams({ user: username, application })}`)
  ).json<{
    can_sign_in: boolean;
    rules: { id: string; state: string }[];
  }>();
  const open = rules.filter(({ state }) => state !== 'passed' && state !== 'skipped');
  return { can_sign_in, ...Object.fromEntries(open.map(({ id, state }) => [id, state])) };
}
/** The status codes of the Response to a sign-in. */
async function statusOf(person: Person, sp: LiveSp): Promise<string[]> {
  const browser = httpClient(idp.issuer);
  const start = await redirect(browser, sp.request());
  const ending = await goThrough(idp, person, start.location ?? '', { browser });
  const response = 'posted' in ending ? Buffer.from(ending.posted.SAMLResponse ?? '', 'base64').toString() : '';
  return [...response.matchAll(/StatusCode Value="[^"]*:(\w+)"/g)].map(([, code]) => code ?? '');
}
async function press(page: Page, label: string): Promise<Page> {
  const form = page.forms.find(({ buttons }) => buttons.some((one) => one.label === label));
  if (!form) throw new Error(`No button ${label}: ${textOf(page.text)}`);
  return admin.follow(await admin.post(form.action, { form: form.fields }));
}

describe('a NameID that a user lacks', () => {
  const byEmail: [string, Sp][] = [
    ['of the format emailAddress', { name_id_format: 'emailAddress' }],
    ['from the field email', { name_id_field: 'email' }],
  ];

  it.each(byEmail)(
    '%s: red for an unverified address, until the administrator vouches for it',
    async (_what, input) => {
      const sp = await aLiveSp(idp, input);
      const person = await aPersonOf(idp, { ...PLAIN, email: 'unverified' });
      expect(await result(person, sp.entityId)).toEqual({ can_sign_in: false, 'name-id': 'failed' });
      expect(await statusOf(person, sp)).toEqual(['Requester', 'InvalidNameIDPolicy']);
      const red = await pageOf(person, sp.entityId);
      expect(textOf(red.text)).toContain(
        `${sp.name} gets the email address as NameID, and Ann Example’s isn’t verified.`,
      );
      expect(textOf(red.text)).toContain('None: a sign-in is rejected without a verified email address');
      const button = `Mark ${person.username}@example.com as verified`;
      await press(await press(red, button), button);
      expect(await result(person, sp.entityId)).toEqual({ can_sign_in: true });
      expect(await statusOf(person, sp)).toEqual(['Success']);
    },
  );

  it.each(byEmail)('%s: red without an address, with the page where it is added', async (_what, input) => {
    const sp = await aLiveSp(idp, input);
    const person = await aPersonOf(idp, { ...PLAIN, email: 'none' });
    expect(await result(person, sp.entityId)).toEqual({ can_sign_in: false, 'name-id': 'failed' });
    const red = await pageOf(person, sp.entityId);
    const links = linksOf(red.text, red.url).map(({ href }) => new URL(href).pathname);
    expect(links).toContain(`/admin/users/${person.id}/change/email`);
    expect(red.text).not.toContain('verify-email');
  });

  it('is a warning where the request decides: require_allow_create', async () => {
    const sp = await aLiveSp(idp, { require_allow_create: true });
    const person = await aPersonOf(idp, PLAIN);
    expect(await result(person, sp.entityId)).toEqual({ can_sign_in: true, 'name-id': 'warning' });
    expect(await statusOf(person, sp)).toEqual(['Requester', 'InvalidNameIDPolicy']);
    expect(textOf((await pageOf(person, sp.entityId)).text)).toContain(
      'only if the request contains AllowCreate="true"',
    );
  });

  it('counts in the format that the metadata names, in the preview too', async () => {
    const entityId = 'https://named.example/metadata';
    const metadata =
      `<EntityDescriptor xmlns="urn:oasis:names:tc:SAML:2.0:metadata" entityID="${entityId}">` +
      `<SPSSODescriptor protocolSupportEnumeration="urn:oasis:names:tc:SAML:2.0:protocol"><NameIDFormat>${nameIdFormats.emailAddress}</NameIDFormat>` +
      `<AssertionConsumerService Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST" Location="https://named.example/acs" index="0"/>` +
      `</SPSSODescriptor></EntityDescriptor>`;
    const entry = serviceProvider.parse({ name: 'Named', metadata });
    await idp.services.applications.createSaml({ ...entry, entityId, settings: settingsOf(entry, metadata) });
    const [known, unknown] = [await aPersonOf(idp, PLAIN), await aPersonOf(idp, { ...PLAIN, email: 'unverified' })];
    expect(textOf((await pageOf(known, entityId)).text)).toContain(`NameID ${known.username}@example.com`);
    expect(await result(unknown, entityId)).toEqual({ can_sign_in: false, 'name-id': 'failed' });
  });
});

describe('a way to sign in', () => {
  it('is no security key that cannot verify its user', async () => {
    const { clientId } = await aClient(idp.services, { redirect_uris: ['https://app.example.com/cb'] });
    const person = await aPersonOf(idp, { ...PLAIN, password: 'none', passkey: 'security-key' });
    expect(await result(person, clientId)).toMatchObject({ can_sign_in: false, method: 'failed' });
  });

  it('is a passkey during a lockout, which is then a warning; a lockout counts as little where passwords do', async () => {
    const redirect_uris = ['https://app.example.com/cb'];
    const { clientId } = await aClient(idp.services, { redirect_uris });
    const locked = { ...PLAIN, lockedBy: 'username' as const };
    const withPasskey = await aPersonOf(idp, { ...locked, passkey: 'passkey' });
    expect(await result(withPasskey, clientId)).toMatchObject({ can_sign_in: true, lockout: 'warning' });
    expect(await result(await aPersonOf(idp, locked), clientId)).toMatchObject({
      can_sign_in: false,
      lockout: 'failed',
    });
    const account = await idp.services.accounts.create({ username: 'unused', email: 'unused@example.com' });
    for (let attempt = 0; attempt < 6; attempt += 1)
      await failSignIn(idp.services.lockout, { login: 'unused', address: `192.0.2.${attempt}` });
    expect(await result(account, clientId)).not.toHaveProperty('lockout');
  });
});

describe('a registration', () => {
  it('for programs alone has a check and no preview, also with pairwise subjects', async () => {
    const { clientId } = await aClient(idp.services, { grant_types: ['client_credentials'], subject_type: 'pairwise' });
    const { account } = await aUser(idp.services);
    const page = await pageOf(account, clientId);
    expect([page.status, textOf(page.text)]).toEqual([200, expect.stringContaining('is registered as a service')]);
  });

  it('whose secrets have expired gets none by another change, which nobody would know', async () => {
    const { clientId, applicationId } = await storedClient(idp, {});
    const { account } = await aUser(idp.services);
    await idp.services.db.clientSecret.deleteMany({ where: { applicationId } });
    const sent = await api.send(
      'PATCH',
      `/applications/${applicationId}`,
      { client_name: 'Payroll 2' },
      { 'if-match': '*' },
    );
    expect([sent.status, sent.text]).toEqual([200, expect.not.stringContaining('client_secret"')]);
    expect(await result(account, clientId)).toMatchObject({ can_sign_in: false, secret: 'failed' });
  });

  it('that demands encryption without a key for it is red, as its sign-ins are', async () => {
    const sp = await aLiveSp(idp);
    const person = await aPersonOf(idp, PLAIN);
    const row = await idp.services.db.asStored.application.findUniqueOrThrow({ where: { clientId: sp.entityId } });
    const metadata = JSON.stringify({ ...JSON.parse(row.metadata), encrypt_assertion: 'always', certificates: [] });
    await idp.services.db.asStored.application.update({ where: { id: row.id }, data: { metadata, mac: '' } });
    await signRows(idp.services);
    expect(await result(person, sp.entityId)).toEqual({ can_sign_in: false, encryption: 'failed' });
  });
});
