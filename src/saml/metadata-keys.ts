// The keys of a role descriptor by use (SAML Metadata 2.4.1.1). A key marked for signing is never encrypted to: its
// owner may keep it where nothing can be decrypted, and mixing the two uses weakens both.
import { type Certificate, readCertificate } from './certificates.ts';
import { SamlError } from './errors.ts';
import { attribute, childrenOf, textOf } from './xml/read.ts';

export interface MetadataKeys {
  /** Any of them may have signed: two are usual during a rollover. */
  signingCertificates: Certificate[];
  /** RSA only, in the order of the document. */
  encryptionCertificates: Certificate[];
}

/** Reads md:KeyDescriptor; refuses weak and unreadable keys. */
export function readKeys(role: Element): MetadataKeys {
  const keys: MetadataKeys = { signingCertificates: [], encryptionCertificates: [] };
  for (const descriptor of childrenOf(role, 'md:KeyDescriptor')) {
    const use = attribute(descriptor, 'use')?.trim();
    if (use !== undefined && use !== 'signing' && use !== 'encryption') {
      throw new SamlError('metadata_refused', { message: `A key is marked for an unknown use (${use}).` });
    }
    for (const certificate of certificatesOf(descriptor)) {
      if (use !== 'encryption') keys.signingCertificates.push(certificate);
      if (use !== 'signing' && certificate.kind === 'rsa') keys.encryptionCertificates.push(certificate);
    }
  }
  return keys;
}

/** The first certificate of each X509Data; what follows it is a chain, and its authorities must not sign for the owner. */
function certificatesOf(descriptor: Element): Certificate[] {
  return childrenOf(descriptor, 'ds:KeyInfo')
    .flatMap((info) => childrenOf(info, 'ds:X509Data'))
    .flatMap((data) => childrenOf(data, 'ds:X509Certificate').slice(0, 1))
    .map((certificate) => readCertificate(textOf(certificate)));
}
