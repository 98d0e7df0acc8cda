// The settings of a SAML 2.0 upstream, with metadata from a URL, from a document, or entered by hand.

import { z } from 'zod';
import { entityId } from '../../../applications/uris.ts';
import { limits } from '../../../base/limits.ts';
import { faultMessage } from '../../../base/platform/fault-messages.ts';
import type { Fault } from '../../../base/platform/faults.ts';
import { commonHead, commonSettings, logout, trustedEmail } from './common.ts';
import { certificate, claimPath, webUri } from './fields.ts';

export const samlSettings = {
  ...commonSettings,
  entity_id: entityId.optional(), // absent: that of the metadata at the registration; it never changes afterwards
  metadata_url: webUri.optional(),
  metadata: z.string().min(1).max(limits.saml.metadataBytes).optional(), // the document itself
  metadata_certificate: certificate.optional(), // the key that signs the document at metadata_url
  sso_url: webUri.optional(), // the SSO URL, when there is no metadata
  slo_url: webUri.optional(),
  /** If set, only these certificates verify signatures and those of the metadata are ignored. Required without metadata. */
  certificates: z.array(certificate).max(10).default([]),
  binding: z.enum(['redirect', 'post']).default('redirect'), // of the AuthnRequest
  sign_requests: z.boolean().default(true),
  want_encrypted: z.boolean().default(false), // accept encrypted assertions only
  allow_sha1: z.boolean().default(false),
  allow_cbc: z.boolean().default(false), // accepts AES-CBC in a Response that is signed as a whole
  name_id_format: z.enum(['persistent', 'emailAddress', 'unspecified']).optional(),
  /** The attribute that identifies the user; absent: the persistent NameID. */
  subject_attribute: claimPath.optional(),
  request_authn_context: z.boolean().default(true), // false leaves out RequestedAuthnContext, for upstreams that reject it
  sp_entity_id: entityId.optional(), // another name for this server; absent: /saml/sp/metadata
  trusted_email: trustedEmail.default('domains'),
  logout: logout.default('always'),
};

export const samlEntry = z.strictObject({
  ...commonHead,
  kind: z.literal('saml'),
  ...samlSettings,
  metadata_file: z.string().min(1).max(4096).optional(), // beside the configuration file
});

export type SamlSettings = z.output<z.ZodObject<typeof samlSettings>>;

/** Rules that involve several fields. */
export function checkSamlFields(entry: z.output<typeof samlEntry>): Fault[] {
  const faults: Fault[] = [];
  const reject = (field: string, message: string) => faults.push({ path: [field], message });
  const sources = (['metadata_file', 'metadata_url', 'metadata'] as const).filter(
    (field) => entry[field] !== undefined,
  );
  if (sources.length > 1) reject(sources[1] as string, faultMessage('not-with', { key: String(sources[0]) }));
  if (sources.length === 0) {
    if (entry.sso_url === undefined)
      reject(
        'metadata_url',
        faultMessage('needs-metadata', { key: 'metadata_url', other: 'metadata_file', third: 'sso_url' }),
      );
    else {
      if (entry.entity_id === undefined) reject('entity_id', faultMessage('needed-by', { key: 'sso_url' }));
      if (entry.certificates.length === 0)
        reject('certificates', faultMessage('needs-certificate', { key: 'sso_url' }));
    }
  }
  if (entry.metadata_certificate !== undefined && entry.metadata_url === undefined)
    reject('metadata_certificate', faultMessage('needs-field', { key: 'metadata_url' }));
  if (entry.name_id_format === 'unspecified' && entry.subject_attribute === undefined)
    reject('subject_attribute', faultMessage('unspecified-name-id'));
  if (entry.name_id_format === 'emailAddress' && entry.subject_attribute === undefined)
    reject('subject_attribute', faultMessage('email-name-id'));
  if (entry.required_for_domains && entry.domains.length === 0)
    reject('required_for_domains', faultMessage('needs-domains'));
  return faults;
}
