// The signing key of the built-in test service provider, and its certificate.
import { createPrivateKey } from 'node:crypto';
import { z } from 'zod';
import { limits } from '../base/limits.ts';
import { selfSignedCertificate } from '../core/keys/certificate.ts';
import { makeKeyPair } from '../core/keys/key-pair.ts';
import { createSigner, type Signer } from '../protocols/saml/xml/sign.ts';

const testSpCredential = z.object({ privateKey: z.string(), certificate: z.string() });

/** A new key and its certificate, as JSON. */
export async function newTestSpCredential(host: string, now: Date): Promise<string> {
  const { privateKey, publicKey } = await makeKeyPair('RS256');
  const until = new Date(now.getTime() + limits.saml.certificateDays * 24 * 3600 * 1000);
  const certificate = await selfSignedCertificate({ privateKey, publicKey, host, from: now, until });
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  return JSON.stringify({ privateKey: pem, certificate } satisfies z.output<typeof testSpCredential>);
}

/** Loads the credential at the first call; after a failure the next call tries again. */
export function testSpKey(credential: () => Promise<string>): () => Promise<{ signer: Signer; certificate: string }> {
  let loading: Promise<{ signer: Signer; certificate: string }> | undefined;

  async function load() {
    const { privateKey, certificate } = testSpCredential.parse(JSON.parse(await credential()));
    const signer = createSigner({ privateKey: createPrivateKey(privateKey), certificatePem: certificate });
    return { signer, certificate };
  }

  return () => {
    loading ??= load().catch((error: unknown) => {
      loading = undefined;
      throw error;
    });
    return loading;
  };
}
