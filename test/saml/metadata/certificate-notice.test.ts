// The people behind an application hear in time that our certificate expires: once at 30 days, once more at 7.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { serviceProvider, settingsOf } from '../../../src/applications/fields/service-provider.ts';
import { createCertificateNotice } from '../../../src/protocols/saml/metadata/refresh.ts';
import { createServiceProviders } from '../../../src/protocols/saml/metadata/service-providers.ts';
import { type TestClock, testClock } from '../../support/clock.ts';
import { startIdp, type TestIdp } from '../../support/idp.ts';
import { type Mailbox, mailbox } from '../../support/mailbox.ts';
import { aLiveSp } from '../live.ts';

let clock: TestClock;
let box: Mailbox;
let idp: TestIdp;
let until: Date;
let notify: () => Promise<number>;

beforeAll(async () => {
  clock = testClock();
  box = await mailbox();
  idp = await startIdp({ now: clock.now, environment: { SMTP_URL: box.url } });
  const { services } = idp;
  until = services.keyring.samlCertificates()[0]?.until ?? new Date(0);
  const serviceProviders = createServiceProviders(services);
  notify = createCertificateNotice({ ...services, serviceProviders });
  await aLiveSp(idp, { name: 'By hand', contacts: ['hand@example.com'] });
  await aLiveSp(idp, { name: 'Nobody to write to' });
  const xml =
    '<md:EntityDescriptor xmlns:md="urn:oasis:names:tc:SAML:2.0:metadata" entityID="https://m.example">' +
    '<md:SPSSODescriptor protocolSupportEnumeration="urn:oasis:names:tc:SAML:2.0:protocol">' +
    '<md:AssertionConsumerService index="0" Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST" Location="https://m.example/acs"/>' +
    '</md:SPSSODescriptor><md:ContactPerson contactType="technical"><md:EmailAddress>mailto:meta@example.com</md:EmailAddress></md:ContactPerson></md:EntityDescriptor>';
  const entry = serviceProvider.parse({ name: 'By metadata', metadata: xml });
  const input = { ...entry, entityId: 'https://m.example', settings: settingsOf(entry, xml) };
  await services.applications.createSaml(input);
});
afterAll(async () => {
  await idp?.stop();
  await box?.close();
});

const daysBefore = (days: number) =>
  clock.advance({ days: -days, seconds: (until.getTime() - clock.now().getTime()) / 1000 });
const queued = () => idp.services.db.mailMessage.count();

describe('the expiry of the IdP certificate', () => {
  it('sends no mail 31 days before', async () => {
    daysBefore(31);
    expect(await notify()).toBe(0);
    expect(await queued()).toBe(0);
  });

  it('is mailed to each contact once, 30 days before', async () => {
    daysBefore(30);
    expect(await notify()).toBe(2);
    expect(await notify()).toBe(0);
    for (const [to, name] of [
      ['hand@example.com', 'By hand'],
      ['meta@example.com', 'By metadata'],
    ] as const) {
      const mail = await box.waitForMail(to);
      expect(mail.subject).toMatch(/^A SAML certificate expires on \w+ \d+, \d{4}$/);
      expect(mail.text).toContain(name);
      expect(mail.text).toContain(`${idp.issuer}/saml/metadata`);
    }
    expect(await queued()).toBe(2);
  });

  it('is mailed again a week before', async () => {
    daysBefore(7);
    expect(await notify()).toBe(2);
    expect(await notify()).toBe(0);
  });

  it('sends no mail when the next certificate signs', async () => {
    await idp.services.keyring.rotate({ use: 'saml' });
    await idp.services.keyring.rotate({ use: 'saml', activate: true, force: true });
    expect(await notify()).toBe(0);
  });
});
