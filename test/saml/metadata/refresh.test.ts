// Metadata behind a URL, from a server of the test: it is read as often as it says; what cannot be accepted leaves the last good
// one in force, and what moves addresses, replaces keys or drops a protection waits for an administrator.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { serviceProvider, settingsOf } from '../../../src/applications/fields/service-provider.ts';
import { sha256 } from '../../../src/base/platform/random.ts';
import { createMetadataFetch } from '../../../src/protocols/saml/metadata/fetch.ts';
import { createMetadataRefresh, METADATA_JOB } from '../../../src/protocols/saml/metadata/refresh.ts';
import { consoleOf, staff } from '../../admin/console/support.ts';
import { type ApiCaller, aPerson, aService, tokenOfLongAgo } from '../../admin/support.ts';
import { testClock } from '../../support/clock.ts';
import { signRows } from '../../support/database/row-macs.ts';
import { type HttpClient, httpClient } from '../../support/http.ts';
import { startIdp, type TestIdp } from '../../support/idp.ts';
import { type Listening, listen } from '../../support/listen.ts';
import { textOf } from '../../support/pages/html.ts';
import { redirect } from '../live.ts';
import { aCredential, type Credential, signXml } from '../support.ts';

const clock = testClock();
const entityId = 'https://wiki.example/metadata';
const oldAcs = 'https://wiki.example/acs';
const [first, second, third] = [aCredential(), aCredential(), aCredential()];
let idp: TestIdp;
let web: Listening;
let answer: { status?: number; location?: string; body: string };
/** The document at /broken. */
let brokenAnswer = '';
let fetched = 0;
/** What happens between the request for the metadata and the answer. */
let meanwhile: (() => Promise<void>) | undefined;
let refresh: ReturnType<typeof createMetadataRefresh>;
let pages: HttpClient;
let api: ApiCaller;
let id: string;

interface Parts {
  acs?: string[];
  slo?: string;
  signing?: Credential[];
  encryption?: Credential[];
  signed?: boolean;
  entity?: string;
  attributes?: string;
}

const keyOf =
  (use: string) =>
  ({ certificatePem }: Credential) =>
    `<md:KeyDescriptor use="${use}"><ds:KeyInfo xmlns:ds="http://www.w3.org/2000/09/xmldsig#"><ds:X509Data><ds:X509Certificate>` +
    `${certificatePem.replace(/-----[A-Z ]+-----|\s/g, '')}</ds:X509Certificate></ds:X509Data></ds:KeyInfo></md:KeyDescriptor>`;
const binding = (name: string) => `Binding="urn:oasis:names:tc:SAML:2.0:bindings:${name}"`;

function metadata({
  acs = [oldAcs],
  slo = 'https://wiki.example/slo',
  signing = [first],
  ...more
}: Parts = {}): string {
  const { encryption = [first], signed = true, entity = entityId, attributes = '' } = more;
  return (
    `<md:EntityDescriptor xmlns:md="urn:oasis:names:tc:SAML:2.0:metadata" entityID="${entity}"${attributes}>` +
    `<md:SPSSODescriptor AuthnRequestsSigned="${signed}" protocolSupportEnumeration="urn:oasis:names:tc:SAML:2.0:protocol">` +
    [...signing.map(keyOf('signing')), ...encryption.map(keyOf('encryption'))].join('') +
    `<md:SingleLogoutService ${binding('HTTP-Redirect')} Location="${slo}"/>` +
    acs
      .map((url, i) => `<md:AssertionConsumerService index="${i}" ${binding('HTTP-POST')} Location="${url}"/>`)
      .join('') +
    '</md:SPSSODescriptor></md:EntityDescriptor>'
  );
}

beforeAll(async () => {
  idp = await startIdp();
  const { services } = idp;
  // Taken, so that the server's own job does not come in between.
  const lock = { name: METADATA_JOB, holder: 'this test', lockedUntil: new Date('2100-01-01') };
  await services.db.jobLock.upsert({ where: { name: METADATA_JOB }, create: lock, update: {} });
  web = await listen(async (request, response) => {
    if (request.url === '/broken') return void response.end(brokenAnswer);
    fetched += 1;
    await meanwhile?.();
    response.writeHead(answer.status ?? 200, answer.location ? { location: answer.location } : {}).end(answer.body);
  });
  refresh = createMetadataRefresh({
    ...services,
    now: clock.now, // of the job; the server has the real time
    fetchMetadata: createMetadataFetch({ outgoing: services.outgoing }),
  });
  const administrator = await staff(idp, 'admin');
  pages = await consoleOf(idp, administrator);
  api = await aService(idp);
});
afterAll(async () => {
  await web?.close();
  await idp?.stop();
});

/** The application as the configuration file declares it, with this metadata registered. */
async function register(parts: Parts = {}, more: object = {}): Promise<void> {
  const { applications } = idp.services;
  const before = await applications.find(entityId);
  if (before) await applications.remove(before.id, { source: 'file' });
  const entry = serviceProvider.parse({
    name: 'Wiki',
    metadata_url: `${web.origin}/metadata`,
    idp_initiated: true,
    ...more,
  });
  const settings = settingsOf(entry, metadata(parts));
  id = (await applications.createSaml({ ...entry, entityId, settings }, { source: 'file' })).id;
  await idp.services.db.mailMessage.deleteMany();
}

/** What one run of the job does with this document, a day after the last one. */
async function refreshWith(parts: Parts | string): Promise<string> {
  clock.advance({ days: 1, seconds: 1 });
  answer = { body: typeof parts === 'string' ? parts : metadata(parts) };
  const result = await refresh();
  return Object.entries(result).find(([, count]) => count > 0)?.[0] ?? 'nothing';
}

beforeEach(() => register());

const stored = async () => {
  const application = await idp.services.applications.find(entityId);
  return application?.protocol === 'saml' ? application.metadata.metadata_xml : undefined;
};
const lastEvent = async (type: string) =>
  (
    await idp.services.audit.list({ clientId: entityId, types: [`application.metadata-${type}` as never], limit: 1 })
  )[0];
/** Of the mails to the administrator about metadata. */
const subjects = async () => {
  const where = { subject: { contains: 'metadata of Wiki' } };
  return (await idp.services.db.mailMessage.findMany({ where })).map(({ subject }) => subject);
};
const document = async () =>
  (await api.get(`/applications/${id}/metadata-change`)).json<{ document: string }>().document;

const signedBy = ({ privateKey: key, certificatePem }: Credential, xml: string) =>
  signXml(xml, { key, certificatePem, firstIn: '/*' });

const request = (acs: string) =>
  `<p:AuthnRequest xmlns:p="urn:oasis:names:tc:SAML:2.0:protocol" ID="_${crypto.randomUUID()}" Version="2.0" Destination="${idp.issuer}/saml/sso"` +
  ` IssueInstant="${new Date().toISOString()}" AssertionConsumerServiceURL="${acs}">` +
  `<a:Issuer xmlns:a="urn:oasis:names:tc:SAML:2.0:assertion">${entityId}</a:Issuer></p:AuthnRequest>`;
const signedRequest = (acs: string, by = first) => redirect(httpClient(idp.issuer), request(acs), { key: by });
const isAccepted = async (acs: string, by = first) => (await signedRequest(acs, by)).status === 303;

describe('metadata behind a URL', () => {
  it('changes nothing when it is the same', async () => {
    const before = await idp.services.applications.find(entityId);
    expect(await refreshWith({})).toBe('unchanged');
    expect(await idp.services.applications.find(entityId)).toEqual(before);
  });

  it('applies at once when no address, key or protection changes, also for an application of the configuration file', async () => {
    const removed = { acs: [oldAcs, 'https://wiki.example/second'] };
    await register(removed);
    expect(await refreshWith({})).toBe('changed');
    expect(await stored()).toBe(metadata());
    expect((await idp.services.applications.find(entityId))?.source).toBe('file');
  });

  it.each<[string, () => typeof answer]>([
    ['cannot be had', () => ({ status: 500, body: 'sorry' })],
    ['is a page', () => ({ body: '<html><body>Sign in</body></html>' })],
    ['is about another entity', () => ({ body: metadata({ entity: 'https://evil.example' }) })],
    ['has expired', () => ({ body: metadata({ attributes: ' validUntil="2020-01-01T00:00:00Z"' }) })],
    ['leads to plain http', () => ({ body: metadata({ acs: ['http://wiki.example/acs'] }) })],
    ['holds a DOCTYPE', () => ({ body: `<!DOCTYPE x>${metadata()}` })],
    ['redirects', () => ({ status: 302, location: `${web.origin}/elsewhere`, body: '' })],
    ['is too long', () => ({ body: `${metadata()}${' '.repeat(2 * 1024 * 1024)}` })],
  ])('is rejected when it %s: the last valid one stays, and the reason is audited', async (_what, answers) => {
    const before = await stored();
    answer = answers();
    expect(await refresh()).toEqual({ changed: 0, waiting: 0, unchanged: 0, failed: 1 });
    expect(await stored()).toBe(before);
    expect((await lastEvent('invalid'))?.reason?.length).toBeGreaterThan(10);
    expect(idp.log.join('')).toContain('the last valid one stays in use');
  });

  it('is read of the other applications where the registered metadata of one is not valid any more', async () => {
    const { applications, db } = idp.services;
    await register({ acs: [oldAcs, 'https://wiki.example/second'] });
    // Before the other one in the order of the job.
    const brokenEntity = 'https://broken.example';
    const broken = serviceProvider.parse({ name: 'Aaa', metadata_url: `${web.origin}/broken` });
    const settings = settingsOf(broken, metadata({ entity: brokenEntity }));
    const { id: brokenId } = await applications.createSaml({ ...broken, entityId: brokenEntity, settings }, {});
    const row = await db.asStored.application.findUniqueOrThrow({ where: { id: brokenId } });
    const withoutMetadata = JSON.stringify({ ...JSON.parse(row.metadata), metadata_xml: '<EntityDescriptor/>' });
    await db.asStored.application.update({ where: { id: brokenId }, data: { metadata: withoutMetadata, mac: '' } });
    await signRows(idp.services);
    brokenAnswer = metadata({ entity: brokenEntity });
    expect(await refreshWith({})).toBe('changed');
    expect(await stored()).toBe(metadata());
    expect(idp.log.join('')).toContain('the metadata of Aaa could not be refreshed');
    await applications.remove(brokenId, {});
  });

  it('is left for the next run when its application was changed while it was fetched', async () => {
    const received = { attributes: ' cacheDuration="PT8H"' };
    meanwhile = () => idp.services.applications.setEnabled(id, false, { source: 'file' });
    expect(await refreshWith(received)).toBe('unchanged');
    expect(await idp.services.applications.find(entityId)).toMatchObject({ enabled: false });
    expect(await stored()).toBe(metadata());
    meanwhile = () => idp.services.applications.remove(id, { source: 'file' });
    await idp.services.applications.setEnabled(id, true, { source: 'file' });
    expect(await refreshWith(received)).toBe('unchanged');
    meanwhile = undefined;
    await register();
    expect(await refreshWith(received)).toBe('changed');
  });

  it('is not fetched while its application is disabled', async () => {
    await idp.services.applications.setEnabled(id, false, { source: 'file' });
    expect(await refresh()).toEqual({ changed: 0, waiting: 0, unchanged: 0, failed: 0 });
  });

  it.each([
    ['PT4H', 4 * 3600],
    ['PT5S', 3600],
    ['P30D', 24 * 3600],
  ])(
    'is read again when its cacheDuration of %s says, not within an hour, and at the latest after a day',
    async (duration, due) => {
      const attributes = ` cacheDuration="${duration}"`;
      await register({ attributes });
      await refreshWith({ attributes });
      const before = fetched;
      clock.advance({ seconds: due - 60 });
      await refresh();
      expect(fetched).toBe(before);
      clock.advance({ seconds: 120 });
      await refresh();
      expect(fetched).toBe(before + 1);
    },
  );
});

describe('changed metadata', () => {
  const NEW_ACS = 'https://evil.example/acs';

  it.each<[string, Parts, Parts]>([
    ['a changed ACS address', {}, { acs: [NEW_ACS] }],
    ['an added ACS address', {}, { acs: [oldAcs, NEW_ACS] }],
    ['another order of the ACS addresses', { acs: [oldAcs, NEW_ACS] }, { acs: [NEW_ACS, oldAcs] }],
    ['a changed SLO address', {}, { slo: 'https://evil.example/slo' }],
    ['no encryption', {}, { encryption: [] }],
    ['no signature requirement', {}, { signed: false }],
    ['other signing keys', {}, { signing: [second] }],
    ['other encryption keys', {}, { encryption: [second] }],
    ['signing keys for the first time', { signing: [], signed: false }, { signing: [second], signed: false }],
  ])('waits for approval when it has %s, and the registered metadata stays in use', async (_what, before, now) => {
    await register(before);
    expect(await refreshWith(now)).toBe('waiting');
    expect(await stored()).toBe(metadata(before));
    expect((await lastEvent('waiting'))?.data).toMatchObject({ changes: [{ needsApproval: true }] });
    expect(await subjects()).toEqual(['Approve the new metadata of Wiki']);
    expect(await refreshWith(now)).toBe('waiting');
    expect(await refreshWith({ ...now, attributes: ' cacheDuration="PT8H"' })).toBe('waiting');
    expect(await subjects(), 'reported once').toHaveLength(1);
  });

  it('sends nobody to the new address before an administrator approves it in the console', async () => {
    expect(await refreshWith({ acs: [NEW_ACS] })).toBe('waiting');
    expect({ new: await isAccepted(NEW_ACS), old: await isAccepted(oldAcs) }).toEqual({ new: false, old: true });
    const overview = await pages.get(`/admin/applications/${id}`);
    expect(textOf(overview.text)).toContain('is waiting for approval');
    const page = await pages.get(`/admin/applications/${id}/metadata`);
    const words = textOf(page.text);
    for (const text of ['ACS addresses', NEW_ACS, oldAcs, 'needs approval']) expect(words).toContain(text);
    const done = await pages.submit(page, {}, { button: 'Approve' });
    expect(done.status).toBe(303);
    expect({ new: await isAccepted(NEW_ACS), old: await isAccepted(oldAcs) }).toEqual({ new: true, old: false });
    expect(await lastEvent('approved')).toMatchObject({ actorId: expect.any(String), outcome: 'success' });
    expect((await pages.get(`/admin/applications/${id}/metadata`)).status).toBe(404);
    expect(await refreshWith({ acs: [NEW_ACS] })).toBe('unchanged');
  });

  it('is approved or rejected over the API, which names the document', async () => {
    expect((await api.get(`/applications/${id}/metadata-change`)).status).toBe(404);
    await refreshWith({ acs: [NEW_ACS] });
    const path = `/applications/${id}/metadata-change`;
    expect((await api.get(path)).json()).toMatchObject({
      changes: [{ what: 'ACS addresses', received: expect.stringContaining(NEW_ACS), needs_approval: true }],
    });
    const seen = await document();
    await refreshWith({ acs: ['https://evil.example/other'] });
    expect((await api.send('POST', `${path}/approve`, { document: seen })).status).toBe(409);
    expect((await api.send('POST', `${path}/reject`, { document: await document() })).status).toBe(200);
    expect(await lastEvent('rejected')).toMatchObject({ outcome: 'success' });
    expect(await stored()).toBe(metadata());
    expect(await refreshWith({ acs: ['https://evil.example/other'] }), 'the same change is not raised again').toBe(
      'unchanged',
    );
    expect(await refreshWith({ acs: [NEW_ACS] })).toBe('waiting');
    expect((await api.send('POST', `${path}/approve`, { document: await document() })).status).toBe(200);
    expect(await stored()).toBe(metadata({ acs: [NEW_ACS] }));
  });

  it('waits no more once another program exchanged it, so that nobody approves what was never received', async () => {
    await refreshWith({ acs: [NEW_ACS] });
    const path = `/applications/${id}/metadata-change`;
    const { db } = idp.services;
    const { pendingXml } = await db.asStored.samlMetadata.findUniqueOrThrow({ where: { applicationId: id } });
    const exchanged = (pendingXml ?? '').replaceAll(NEW_ACS, 'https://worse.example/acs');
    expect(exchanged).toContain('worse.example');
    await db.asStored.samlMetadata.update({ where: { applicationId: id }, data: { pendingXml: exchanged } });
    expect((await api.get(path)).status).toBe(404);
    const sent = { document: sha256(exchanged) };
    expect((await api.send('POST', `${path}/approve`, sent)).status).toBe(404);
    expect(await stored()).toBe(metadata());
    // As it was received it waits again.
    await db.asStored.samlMetadata.update({ where: { applicationId: id }, data: { pendingXml } });
    expect((await api.get(path)).json()).toMatchObject({ changes: [{ what: 'ACS addresses' }] });
    expect((await api.send('POST', `${path}/reject`, { document: await document() })).status).toBe(200);
  });

  it('is approved or rejected over the API by a user only after a fresh sign-in', async () => {
    await refreshWith({ acs: [NEW_ACS] });
    const decide = async (by: ApiCaller, decision: string) =>
      by.send('POST', `/applications/${id}/metadata-change/${decision}`, { document: await document() });
    const person = await aPerson(idp, ['application-manager']);
    await tokenOfLongAgo(idp, person);
    for (const decision of ['approve', 'reject']) {
      const page = await decide(person, decision);
      expect([page.status, page.json<{ code: string }>().code]).toEqual([401, 'proof_needed']);
      expect(page.headers['www-authenticate']).toContain('error="insufficient_user_authentication"');
    }
    expect(await stored()).toBe(metadata());
    expect((await decide(await aPerson(idp, ['application-manager']), 'approve')).status).toBe(200);
    expect(await stored()).toBe(metadata({ acs: [NEW_ACS] }));
  });

  it('is compared in the console address by address', async () => {
    const second = 'https://wiki.example/second';
    await register({ acs: [second, oldAcs] });
    await refreshWith({ acs: [NEW_ACS, second] });
    const words = textOf((await pages.get(`/admin/applications/${id}/metadata`)).text);
    expect(words).toContain(`${second} HTTP-POST, index 0 changed ${oldAcs} HTTP-POST, index 1 removed`);
    expect(words).toContain(`${NEW_ACS} HTTP-POST, index 0 new ${second} HTTP-POST, index 1 changed`);
    expect(words).toContain(`Received from ${web.origin}/metadata`);
  });

  it('waits no more once the URL has the registered metadata again', async () => {
    await refreshWith({ acs: [NEW_ACS] });
    expect(await refreshWith({})).toBe('unchanged');
    expect((await api.get(`/applications/${id}/metadata-change`)).status).toBe(404);
  });

  it('is applied, audited and reported when it adds a key beside the known one (a rollover)', async () => {
    expect(await isAccepted(oldAcs, second)).toBe(false);
    expect(await refreshWith({ signing: [second, first], encryption: [second, first] })).toBe('changed');
    const before = { first: await isAccepted(oldAcs, first), second: await isAccepted(oldAcs, second) };
    expect(before).toEqual({ first: true, second: true });
    expect((await lastEvent('applied'))?.data).toMatchObject({
      changes: [{ what: 'Signing keys' }, { what: 'Encryption keys' }],
    });
    expect(await subjects()).toEqual(['The metadata of Wiki was updated']);
    expect(await refreshWith({ signing: [second], encryption: [second] })).toBe('changed');
    const after = { first: await isAccepted(oldAcs, first), second: await isAccepted(oldAcs, second) };
    expect(after).toEqual({ first: false, second: true });
  });

  it('is applied without approval when the pinned key signs the document, and rejected when it does not', async () => {
    const pinned = { metadata_certificate: third.certificatePem };
    const document = metadata({ acs: [NEW_ACS], signing: [second], attributes: ' ID="_metadata"' });
    await register({}, pinned);
    expect(await refreshWith(document)).toBe('failed');
    expect((await lastEvent('invalid'))?.reason).toContain('not signed with the pinned key');
    expect(await refreshWith(signedBy(second, document))).toBe('failed');
    expect(await stored()).toBe(metadata());
    expect(await refreshWith(signedBy(third, document))).toBe('changed');
    expect(await isAccepted(NEW_ACS, second)).toBe(true);
    expect(await subjects(), 'reported all the same').toEqual(['The metadata of Wiki was updated']);
  });
});

describe('registered metadata that has expired', () => {
  const expired = (days: number) => {
    const validUntil = new Date(Date.now() - days * 24 * 3600 * 1000).toISOString();
    return { attributes: ` validUntil="${validUntil}"` };
  };

  it('stays in use for a grace period, which is reported once', async () => {
    await register(expired(2));
    expect(await isAccepted(oldAcs)).toBe(true);
    expect(await refreshWith(expired(2))).toBe('failed');
    expect(await refreshWith(expired(2))).toBe('failed');
    expect(await subjects()).toEqual(['The metadata of Wiki has expired']);
    expect((await lastEvent('expired'))?.outcome).toBe('failure');
  });

  it('is used no more after it, until valid metadata is read', async () => {
    await register(expired(4));
    const page = await signedRequest(oldAcs);
    expect([page.status, textOf(page.text)]).toEqual([400, expect.stringContaining('has expired')]);
    const start = `/saml/sso/start?${new URLSearchParams({ sp: entityId })}`;
    expect((await httpClient(idp.issuer).get(start)).status).toBe(400);
    expect(await refreshWith({})).toBe('changed');
    expect(await isAccepted(oldAcs)).toBe(true);
    expect((await httpClient(idp.issuer).get(start)).status).toBe(303);
  });
});
