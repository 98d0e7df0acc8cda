// A self-signed X.509 certificate in forty lines of DER, for any key: weak and odd ones included, which certificate
// tools do not make.
import { type KeyObject, sign } from 'node:crypto';

const tlv = (tag: number, ...parts: Uint8Array[]): Buffer => {
  const body = Buffer.concat(parts);
  const length =
    body.length < 128
      ? [body.length]
      : body.length < 256
        ? [0x81, body.length]
        : [0x82, body.length >> 8, body.length & 255];
  return Buffer.concat([Buffer.from([tag, ...length]), body]);
};
const sequence = (...parts: Uint8Array[]) => tlv(0x30, ...parts);
const oid = (hex: string) => tlv(0x06, Buffer.from(hex, 'hex'));
const time = (text: string) => tlv(0x18, Buffer.from(text));

const rsaWithSha256 = sequence(oid('2a864886f70d01010b'), tlv(0x05));
const ecdsaWithSha256 = sequence(oid('2a8648ce3d040302'));

/** PEM, valid from 2020 to `notAfter`, by default in 2040. */
export function selfSigned(
  privateKey: KeyObject,
  publicKey: KeyObject,
  { commonName = 'test', notAfter = new Date('2040-01-01') } = {},
): string {
  const algorithm = privateKey.asymmetricKeyType === 'ec' ? ecdsaWithSha256 : rsaWithSha256;
  const name = sequence(tlv(0x31, sequence(oid('550403'), tlv(0x0c, Buffer.from(commonName)))));
  const body = sequence(
    tlv(0xa0, tlv(0x02, Buffer.from([2]))),
    tlv(0x02, Buffer.from([1])),
    algorithm,
    name,
    sequence(time('20200101000000Z'), time(`${notAfter.toISOString().replace(/[-:T]|\..*/g, '')}Z`)),
    name,
    publicKey.export({ format: 'der', type: 'spki' }),
  );
  const signature = sign('sha256', body, privateKey);
  const der = sequence(body, algorithm, tlv(0x03, Buffer.from([0]), signature));
  return `-----BEGIN CERTIFICATE-----\n${der.toString('base64').replace(/.{64}/g, '$&\n').trimEnd()}\n-----END CERTIFICATE-----\n`;
}
