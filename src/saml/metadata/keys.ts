// The keys of a role descriptor by use (SAML Metadata 2.4.1.1). A key for signing is never used for encryption: its owner
// may be unable to decrypt with it, and using one key for both weakens it.

import { keyCountFault } from '../../keys/foreign-keys.ts';
import { type Certificate, readCertificate } from '../xml/certificates.ts';
import { SamlError } from '../xml/errors.ts';
import { attribute, childrenOf, textOf } from '../xml/read.ts';

export interface MetadataKeys {
  /** Any of them may have signed: two are usual during a rollover. */
  signingCertificates: Certificate[];
  /** RSA only, in the order of the document. */
  encryptionCertificates: Certificate[];
}

/** Reads md:KeyDescriptor. Throws SamlError weak_key or metadata_refused. */
export function readKeys(role: Element): MetadataKeys {
  const found = childrenOf(role, 'md:KeyDescriptor').flatMap((descriptor) => {
    const use = attribute(descriptor, 'use');
    if (use !== undefined && use !== 'signing' && use !== 'encryption') {
      throw new SamlError('metadata_refused', { message: `A key is marked for an unknown use (${use}).` });
    }
    return certificatesOf(descriptor).map((element) => ({ use, element }));
  });
  const fault = keyCountFault(found.map(({ use }) => use));
  if (fault !== undefined) throw new SamlError('metadata_refused', { message: `The metadata ${fault}.` });
  const keys: MetadataKeys = { signingCertificates: [], encryptionCertificates: [] };
  for (const { use, element } of found) {
    const certificate = readCertificate(textOf(element));
    if (use !== 'encryption') keys.signingCertificates.push(certificate);
    if (use !== 'signing' && certificate.kind === 'rsa') keys.encryptionCertificates.push(certificate);
  }
  return keys;
}

/** The first certificate of each X509Data; the others are its chain, whose keys must not sign for the service provider. */
function certificatesOf(descriptor: Element): Element[] {
  return childrenOf(descriptor, 'ds:KeyInfo')
    .flatMap((info) => childrenOf(info, 'ds:X509Data'))
    .flatMap((data) => childrenOf(data, 'ds:X509Certificate').slice(0, 1));
}
