// Metadata behind a URL is read again; what cannot be accepted leaves the last good one in force.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { serviceProvider, settingsOf } from '../../../src/applications/service-provider.ts';
import { METADATA_JOB } from '../../../src/saml/metadata/jobs.ts';
import { createMetadataRefresh } from '../../../src/saml/metadata/refresh.ts';
import { httpClient } from '../../support/http.ts';
import { startIdp, type TestIdp } from '../../support/idp.ts';
import { type Listening, listen } from '../../support/listen.ts';
import { redirect } from '../live.ts';

let idp: TestIdp;
let web: Listening;
let answer: { status?: number; location?: string; body: string };
let refresh: ReturnType<typeof createMetadataRefresh>;
const entityId = 'https://wiki.example/metadata';

const metadata = (acs: string, { id = entityId, attributes = '' } = {}) =>
  `<md:EntityDescriptor xmlns:md="urn:oasis:names:tc:SAML:2.0:metadata" entityID="${id}"${attributes}>` +
  '<md:SPSSODescriptor protocolSupportEnumeration="urn:oasis:names:tc:SAML:2.0:protocol">' +
  `<md:AssertionConsumerService index="0" Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST" Location="${acs}"/>` +
  '</md:SPSSODescriptor></md:EntityDescriptor>';

beforeAll(async () => {
  idp = await startIdp();
  // Taken, so that the server's own daily look does not come in between.
  const lock = { name: METADATA_JOB, holder: 'this test', lockedUntil: new Date('2100-01-01') };
  await idp.services.db.jobLock.upsert({ where: { name: METADATA_JOB }, create: lock, update: {} });
  web = await listen((_request, response) => {
    response.writeHead(answer.status ?? 200, answer.location ? { location: answer.location } : {}).end(answer.body);
  });
  refresh = createMetadataRefresh(idp.services);
  const xml = metadata('https://wiki.example/acs');
  const entry = serviceProvider.parse({ name: 'Wiki', metadata_url: `${web.origin}/metadata` });
  const settings = settingsOf(entry, xml);
  await idp.services.applications.createSaml({ ...entry, entityId, settings }, { source: 'file' });
});
afterAll(async () => {
  await web?.close();
  await idp?.stop();
});
beforeEach(() => {
  answer = { body: metadata('https://wiki.example/acs') };
});

const stored = async () => {
  const application = await idp.services.applications.find(entityId);
  return application?.protocol === 'saml' ? application.metadata.metadata_xml : undefined;
};
const request = (acs: string) =>
  `<p:AuthnRequest xmlns:p="urn:oasis:names:tc:SAML:2.0:protocol" ID="_${crypto.randomUUID()}" Version="2.0"` +
  ` IssueInstant="${new Date().toISOString()}" AssertionConsumerServiceURL="${acs}">` +
  `<a:Issuer xmlns:a="urn:oasis:names:tc:SAML:2.0:assertion">${entityId}</a:Issuer></p:AuthnRequest>`;
const statusFor = async (acs: string) => (await redirect(httpClient(idp.issuer), request(acs))).status;

describe('metadata behind a URL', () => {
  it('changes nothing when it is the same', async () => {
    const before = await idp.services.applications.find(entityId);
    expect(await refresh()).toEqual({ changed: 0, unchanged: 1, failed: 0 });
    expect(await idp.services.applications.find(entityId)).toEqual(before);
  });

  it('applies from the next request on when it has changed, also for an application of the configuration file', async () => {
    expect(await statusFor('https://wiki.example/new')).toBe(400);
    answer = { body: metadata('https://wiki.example/new') };
    expect(await refresh()).toEqual({ changed: 1, unchanged: 0, failed: 0 });
    expect(await statusFor('https://wiki.example/new')).toBe(303);
    expect(await statusFor('https://wiki.example/acs')).toBe(400);
    expect((await idp.services.applications.find(entityId))?.source).toBe('file');
  });

  it.each<[string, () => typeof answer]>([
    ['cannot be had', () => ({ status: 500, body: 'sorry' })],
    ['is a page', () => ({ body: '<html><body>Sign in</body></html>' })],
    ['is about another entity', () => ({ body: metadata('https://evil.example/acs', { id: 'https://evil.example' }) })],
    [
      'has expired',
      () => ({ body: metadata('https://wiki.example/x', { attributes: ' validUntil="2026-01-01T00:00:00Z"' }) }),
    ],
    ['leads to plain http', () => ({ body: metadata('http://wiki.example/acs') })],
    ['holds a DOCTYPE', () => ({ body: `<!DOCTYPE x>${metadata('https://wiki.example/acs')}` })],
    ['redirects', () => ({ status: 302, location: `${web.origin}/elsewhere`, body: '' })],
    ['is too long', () => ({ body: `${metadata('https://wiki.example/acs')}${' '.repeat(2 * 1024 * 1024)}` })],
  ])('is rejected when it %s: the last valid one stays, and the reason is audited', async (_what, answers) => {
    const before = await stored();
    answer = answers();
    expect(await refresh()).toEqual({ changed: 0, unchanged: 0, failed: 1 });
    expect(await stored()).toBe(before);
    const [event] = await idp.services.audit.list({ clientId: entityId, types: ['application.metadata-refused'] });
    expect(event?.reason?.length).toBeGreaterThan(10);
    expect(idp.log.join('')).toContain('the last valid one stays in use');
  });

  it('is not fetched while its application is disabled', async () => {
    const application = await idp.services.applications.find(entityId);
    await idp.services.applications.setEnabled(application?.id ?? '', false, { source: 'file' });
    expect(await refresh()).toEqual({ changed: 0, unchanged: 0, failed: 0 });
  });
});
