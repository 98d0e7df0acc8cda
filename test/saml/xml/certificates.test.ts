// Certificates as people paste them.
import { expect, it } from 'vitest';
import { serviceProvider } from '../../../src/applications/fields/service-provider.ts';
import { readCertificate } from '../../../src/protocols/saml/xml/certificates.ts';
import { spCredential } from '../support.ts';

const { certificatePem } = spCredential;
const base64 = certificatePem.replace(/-----[^-]+-----|\s/g, '');
const { fingerprint } = readCertificate(certificatePem);

it.each([
  ['the base64 alone', base64],
  ['in one line', certificatePem.replaceAll('\n', ' ')],
  ['with CR LF and indented', certificatePem.replaceAll('\n', '\r\n    ')],
  ['with line breaks of JSON', certificatePem.replaceAll('\n', '\\n')],
  ['with escaped CR LF', certificatePem.replaceAll('\n', '\\r\\n')],
  ['with invisible characters of a chat', `\ufeff\u200b${certificatePem.replaceAll('\n', '\u00a0\u200b\n')}\u2060`],
  [
    'with what OpenSSL prints around it',
    `Bag Attributes\n  friendlyName: sp\nsubject=CN = sp\n${certificatePem}\nKey Attributes: <No Attributes>`,
  ],
  ['with the label of X.509', certificatePem.replaceAll('CERTIFICATE', 'X509 CERTIFICATE')],
  ['before the rest of its chain', `${certificatePem}\n${certificatePem}`],
])('a certificate is read %s', (_how, text) => {
  expect(readCertificate(text).fingerprint).toBe(fingerprint);
  const entry = { name: 'x', entity_id: 'urn:x', acs_url: 'https://sp.example/acs', certificates: [text] };
  expect(serviceProvider.safeParse(entry).success).toBe(true);
});

it.each(['', 'x', '-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----', certificatePem.replace('MII', 'M?I')])(
  'what is no certificate is rejected: %#',
  (text) => {
    expect(() => readCertificate(text)).toThrow('A certificate could not be read.');
  },
);
