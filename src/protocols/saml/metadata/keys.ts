// The keys of a role descriptor by use (SAML Metadata 2.4.1.1). A key for signing is never used for encryption: its owner
// may be unable to decrypt with it, and using one key for both weakens it.

import { sentenceOf } from '../../../base/texts/faults.ts';
import { keyCountFault } from '../../../core/keys/foreign-keys.ts';
import { type Certificate, readCertificate } from '../xml/certificates.ts';
import { chooseEncryption, type EncryptionMethod } from '../xml/encrypt.ts';
import { SamlError } from '../xml/errors.ts';
import { attribute, childOf, childrenOf, textOf } from '../xml/read.ts';

export interface MetadataKeys {
  /** Any of them may have signed: two are usual during a rollover. */
  signingCertificates: Certificate[];
  /** RSA only, in the order of the document. */
  encryptionCertificates: EncryptionCertificate[];
  /** Whether the only keys that are marked for encryption are on an elliptic curve, for which nothing is encrypted here. */
  hasOnlyCurvesForEncryption: boolean;
}

export interface EncryptionCertificate extends Certificate {
  /** In the order of preference; none: any. */
  methods: EncryptionMethod[];
}

/** Whether assertions can be encrypted with these keys, or why they cannot. */
export function encryptionOf(keys: MetadataKeys): 'none' | 'curve' | 'possible' | 'cbc' | 'unsupported' {
  const choices = keys.encryptionCertificates.map(({ publicKey, methods }) =>
    chooseEncryption(publicKey, methods, false),
  );
  if (choices.some((choice) => typeof choice === 'object')) return 'possible';
  if (choices.includes('cbc')) return 'cbc';
  if (choices.length > 0) return 'unsupported';
  return keys.hasOnlyCurvesForEncryption ? 'curve' : 'none';
}

/** Reads md:KeyDescriptor. Throws SamlError weak_key or metadata_rejected. */
export function readKeys(role: Element): MetadataKeys {
  const found = childrenOf(role, 'md:KeyDescriptor').flatMap((descriptor) => {
    const use = attribute(descriptor, 'use');
    if (use !== undefined && use !== 'signing' && use !== 'encryption') {
      throw new SamlError('metadata_rejected', { message: `A key is marked for an unknown use (${use}).` });
    }
    return certificatesOf(descriptor).map((element) => ({ use, element, methods: readMethods(descriptor) }));
  });
  const count = keyCountFault(found.map(({ use }) => use));
  if (count) throw new SamlError('metadata_rejected', { message: sentenceOf(count, 'The metadata') });
  const keys: Omit<MetadataKeys, 'hasOnlyCurvesForEncryption'> = {
    signingCertificates: [],
    encryptionCertificates: [],
  };
  let hasCurve = false;
  for (const { use, element, methods } of found) {
    const certificate = readCertificate(textOf(element));
    if (use !== 'encryption') keys.signingCertificates.push(certificate);
    if (use !== 'signing' && certificate.kind === 'rsa') keys.encryptionCertificates.push({ ...certificate, methods });
    hasCurve ||= use === 'encryption' && certificate.kind === 'ec';
  }
  return { ...keys, hasOnlyCurvesForEncryption: hasCurve && keys.encryptionCertificates.length === 0 };
}

function readMethods(descriptor: Element): EncryptionMethod[] {
  return childrenOf(descriptor, 'md:EncryptionMethod').map((method) => {
    const digest = childOf(method, 'ds:DigestMethod');
    const mask = childOf(method, 'xenc11:MGF');
    return {
      algorithm: attribute(method, 'Algorithm') ?? '',
      digest: digest && attribute(digest, 'Algorithm'),
      mask: mask && attribute(mask, 'Algorithm'),
    };
  });
}

/** The first certificate of each X509Data; the others are its chain, whose keys must not sign for the service provider. */
function certificatesOf(descriptor: Element): Element[] {
  return childrenOf(descriptor, 'ds:KeyInfo')
    .flatMap((info) => childrenOf(info, 'ds:X509Data'))
    .flatMap((data) => childrenOf(data, 'ds:X509Certificate').slice(0, 1));
}
