import { generateKeyPairSync, X509Certificate } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { certificateInfo, selfSignedCertificate } from '../../src/core/keys/certificate.ts';
import fc, { numRuns } from '../support/property.ts';

const pair = generateKeyPairSync('rsa', { modulusLength: 2048 });
const from = new Date('2026-03-01T10:20:30Z');
const until = new Date('2029-02-28T10:20:30Z');
const make = (host: string, end = until) => selfSignedCertificate({ ...pair, host, from, until: end });

describe('the SAML certificate', async () => {
  const pem = await make('id.example.com');
  const certificate = new X509Certificate(pem);

  it('is self-signed with SHA-256 and the given key, for the host', () => {
    expect(certificate.verify(pair.publicKey)).toBe(true);
    expect(certificate.checkPrivateKey(pair.privateKey)).toBe(true);
    expect(certificate.checkIssued(certificate)).toBe(true);
    expect(certificate.subject).toBe('CN=id.example.com');
    expect(certificate.issuer).toBe('CN=id.example.com');
    expect(certificate.toLegacyObject()).toMatchObject({ bits: 2048, subject: { CN: 'id.example.com' } });
    const sha256WithRsa = Buffer.from('2a864886f70d01010b', 'hex');
    expect(certificate.raw.indexOf(sha256WithRsa)).not.toBe(certificate.raw.lastIndexOf(sha256WithRsa));
  });

  it('is not a certificate authority', () => {
    expect(certificate.ca).toBe(false);
  });

  it('is valid for exactly the given time, also after 2050', async () => {
    expect(new Date(certificate.validFrom)).toEqual(from);
    expect(new Date(certificate.validTo)).toEqual(until);
    const far = new Date('2051-12-31T23:59:59Z');
    expect(new Date(new X509Certificate(await make('x', far)).validTo)).toEqual(far);
  });

  it('has a positive serial number of 16 random bytes', async () => {
    const pems = await Promise.all(Array.from({ length: 50 }, () => make('x')));
    const serials = pems.map((one) => new X509Certificate(one).serialNumber);
    expect(new Set(serials).size).toBe(50);
    for (const serial of serials) expect(serial).toMatch(/^[4-7][0-9A-F]{31}$/);
  });

  it('can be created for a host of any length', async () => {
    await fc.assert(
      fc.asyncProperty(fc.domain(), async (host) => {
        const made = new X509Certificate(await make(host));
        expect(made.verify(pair.publicKey)).toBe(true);
        expect(made.subject).toBe(`CN=${host.slice(0, 64)}`);
      }),
      { numRuns: numRuns(40) },
    );
    expect(new X509Certificate(await make('::1')).subject).toBe('CN=::1');
  });

  it('is described by its SHA-256 fingerprint and its end', () => {
    expect(certificateInfo(pem)).toEqual({
      subject: 'CN=id.example.com',
      fingerprint: expect.stringMatching(/^([0-9A-F]{2}:){31}[0-9A-F]{2}$/),
      until,
    });
  });
});
