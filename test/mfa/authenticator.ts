// An authenticator in software: creates ES256 keys and responds to WebAuthn ceremonies as a device does, byte by byte
// from the specification (WebAuthn Level 3, 6.1 and 6.5), so that a test can also make every field wrong.
import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto';

export interface Ceremony {
  challenge: string;
  origin?: string;
  rpId?: string;
  userVerified?: boolean;
  userPresent?: boolean;
  counter?: number;
  type?: string;
  userHandle?: string;
}

const sha256 = (data: string | Buffer) => createHash('sha256').update(data).digest();
const base64url = (data: Buffer | string) => Buffer.from(data).toString('base64url');
const bytes = (length: number, ...values: number[]) => {
  const buffer = Buffer.alloc(length);
  buffer.set(values);
  return buffer;
};

/** A device with one key. `synced` says that it is backed up, as passkeys of a phone are. */
export function softAuthenticator({ synced = false } = {}) {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const id = randomBytes(32);
  const jwk = publicKey.export({ format: 'jwk' });

  const clientData = ({ challenge, origin = 'https://login.example.org' }: Ceremony, type: string) =>
    Buffer.from(JSON.stringify({ type, challenge, origin, crossOrigin: false }));

  const authenticatorData = (ceremony: Ceremony, attested: Buffer = Buffer.alloc(0)) => {
    const { rpId = 'login.example.org', userVerified = true, userPresent = true, counter = 0 } = ceremony;
    const flags = (userPresent ? 1 : 0) | (userVerified ? 4 : 0) | (synced ? 0x18 : 0) | (attested.length ? 0x40 : 0);
    const count = Buffer.alloc(4);
    count.writeUInt32BE(counter);
    return Buffer.concat([sha256(rpId), bytes(1, flags), count, attested]);
  };

  /** COSE_Key in CBOR: a map of five, ES256 on P-256. */
  const coseKey = () =>
    Buffer.concat([
      Buffer.from('a5010203262001215820', 'hex'),
      Buffer.from(String(jwk.x), 'base64url'),
      Buffer.from('225820', 'hex'),
      Buffer.from(String(jwk.y), 'base64url'),
    ]);

  return {
    id: base64url(id),

    /** The response to registration options, as the JSON of a browser. */
    create(ceremony: Ceremony): string {
      const attested = Buffer.concat([Buffer.alloc(16), bytes(2, 0, id.length), id, coseKey()]);
      const authData = authenticatorData(ceremony, attested);
      // {"fmt": "none", "attStmt": {}, "authData": bytes}
      const attestationObject = Buffer.concat([
        Buffer.from('a363666d74646e6f6e656761747453746d74a068617574684461746158', 'hex'),
        bytes(1, authData.length),
        authData,
      ]);
      return JSON.stringify({
        id: base64url(id),
        rawId: base64url(id),
        type: 'public-key',
        authenticatorAttachment: 'platform',
        clientExtensionResults: { credProps: { rk: true } },
        response: {
          clientDataJSON: base64url(clientData(ceremony, ceremony.type ?? 'webauthn.create')),
          attestationObject: base64url(attestationObject),
          transports: ['internal'],
        },
      });
    },

    /** The response to authentication options. */
    get(ceremony: Ceremony): string {
      const data = clientData(ceremony, ceremony.type ?? 'webauthn.get');
      const authData = authenticatorData(ceremony);
      const signature = sign('sha256', Buffer.concat([authData, sha256(data)]), privateKey);
      return JSON.stringify({
        id: base64url(id),
        rawId: base64url(id),
        type: 'public-key',
        authenticatorAttachment: null,
        clientExtensionResults: {},
        response: {
          clientDataJSON: base64url(data),
          authenticatorData: base64url(authData),
          signature: base64url(signature),
          userHandle: ceremony.userHandle === undefined ? null : base64url(ceremony.userHandle),
        },
      });
    },
  };
}
