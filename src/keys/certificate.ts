// The self-signed X.509 certificate that carries our SAML key (SAML metadata 2.4.1.1). Partners pin the key in it
// and nothing else, so it is as plain as RFC 5280 allows; written out here because it is fixed but for five values.
import { createHash, type KeyObject, randomBytes, sign, X509Certificate } from 'node:crypto';

export interface CertificateRequest {
  privateKey: KeyObject;
  publicKey: KeyObject;
  /** The host of the issuer; becomes the common name. */
  host: string;
  from: Date;
  until: Date;
}

export interface CertificateInfo {
  subject: string;
  /** SHA-256 in the usual notation, AB:CD:… */
  fingerprint: string;
  until: Date;
}

const MAX_COMMON_NAME = 64; // ub-common-name
const SERIAL_BYTES = 16;

/** Makes a certificate (RSA, SHA-256) and returns it as PEM. */
export function selfSignedCertificate({ privateKey, publicKey, host, from, until }: CertificateRequest): string {
  const algorithm = sequence(oid('1.2.840.113549.1.1.11'), NULL); // sha256WithRSAEncryption
  const name = sequence(set(sequence(oid('2.5.4.3'), element(0x0c, Buffer.from(host.slice(0, MAX_COMMON_NAME))))));
  const keyInfo = publicKey.export({ type: 'spki', format: 'der' });
  const toBeSigned = sequence(
    element(0xa0, integer(Buffer.of(2))), // v3
    integer(positive(randomBytes(SERIAL_BYTES))),
    algorithm,
    name,
    sequence(time(from), time(until)),
    name,
    keyInfo,
    element(0xa3, sequence(...extensions(keyInfo))),
  );
  const der = sequence(toBeSigned, algorithm, bitString(sign('sha256', toBeSigned, privateKey)));
  return new X509Certificate(der).toString();
}

/** What operators and partners compare. */
export function certificateInfo(pem: string): CertificateInfo {
  const { subject, fingerprint256, validTo } = new X509Certificate(pem);
  return { subject, fingerprint: fingerprint256, until: new Date(validTo) };
}

function extensions(keyInfo: Buffer): Buffer[] {
  const keyId = createHash('sha256').update(keyInfo).digest().subarray(0, 20);
  return [
    // basicConstraints: not an authority. No keyUsage: without keyCertSign in it OpenSSL would refuse the
    // certificate as its own issuer, and partners that trust it as a root would fail.
    sequence(oid('2.5.29.19'), TRUE, octets(sequence())),
    sequence(oid('2.5.29.14'), octets(octets(keyId))), // subjectKeyIdentifier
  ];
}

// DER, X.690: tag, length, content.
function element(tag: number, ...content: Buffer[]): Buffer {
  const body = Buffer.concat(content);
  return Buffer.concat([Buffer.of(tag), length(body.length), body]);
}

function length(bytes: number): Buffer {
  if (bytes < 0x80) return Buffer.of(bytes);
  const digits = Buffer.from(bytes.toString(16).padStart(bytes > 0xff ? 4 : 2, '0'), 'hex');
  return Buffer.concat([Buffer.of(0x80 | digits.length), digits]);
}

const TRUE = element(0x01, Buffer.of(0xff));
const NULL = element(0x05);
const sequence = (...content: Buffer[]) => element(0x30, ...content);
const set = (...content: Buffer[]) => element(0x31, ...content);
const integer = (bytes: Buffer) => element(0x02, bytes);
const octets = (bytes: Buffer) => element(0x04, bytes);
const bitString = (bytes: Buffer) => element(0x03, Buffer.of(0), bytes);

// Positive and without a leading zero byte, as DER wants an INTEGER.
function positive(bytes: Buffer): Buffer {
  const first = ((bytes[0] ?? 0) & 0x7f) | 0x40;
  return Buffer.concat([Buffer.of(first), bytes.subarray(1)]);
}

function oid(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
  const base128 = (value: number): number[] => {
    const digits = [value & 0x7f];
    for (let left = value >> 7; left > 0; left >>= 7) digits.unshift((left & 0x7f) | 0x80);
    return digits;
  };
  return element(0x06, Buffer.from([first * 40 + second, ...rest.flatMap(base128)]));
}

// RFC 5280 4.1.2.5: two-digit years until 2049.
function time(date: Date): Buffer {
  const digits = date.toISOString().replace(/[-:T]|\.\d+/g, '');
  return date.getUTCFullYear() < 2050
    ? element(0x17, Buffer.from(digits.slice(2), 'latin1'))
    : element(0x18, Buffer.from(digits, 'latin1'));
}
