// Fetches metadata of a service provider from its URL. It decides where assertions are sent and which keys are trusted, so
// it must come from the registered URL itself, without a redirect, and be signed where the registration pins a key.
import { readCertificate } from '../xml/certificates.ts';
import { decodeXml } from '../xml/encoding.ts';
import { verifyEnveloped } from '../xml/enveloped-signature.ts';
import { parseXml } from '../xml/parse.ts';

/**
 * The document; with a pinned certificate (PEM) the part of it that its key signed, over the whole document. Throws with a sentence
 * for the administrator.
 */
export type FetchMetadata = (url: string, pinnedCertificate?: string) => Promise<string>;

export function createMetadataFetch({ outgoing }: { outgoing: typeof fetch }): FetchMetadata {
  return async (url, pinnedCertificate) => {
    // A redirect could lead from https to http, where an attacker on the network can replace the keys.
    const response = await outgoing(url, {
      redirect: 'error',
      headers: { accept: 'application/samlmetadata+xml, */*' },
    });
    if (!response.ok) throw new Error(`${url} answers ${response.status} instead of metadata.`);
    const octets = new Uint8Array(await response.arrayBuffer());
    const xml = decodeXml(octets, response.headers.get('Content-Type') ?? '');
    return pinnedCertificate === undefined ? xml : signedPart(xml, pinnedCertificate);
  };
}

async function signedPart(xml: string, certificate: string): Promise<string> {
  const signingKeys = [readCertificate(certificate).publicKey];
  const document = parseXml(xml, { kind: 'metadata' });
  try {
    return await verifyEnveloped(document, { signingKeys, allowSha1: false });
  } catch (cause) {
    throw new Error('The metadata is not signed with the pinned key (metadata_certificate).', { cause });
  }
}
