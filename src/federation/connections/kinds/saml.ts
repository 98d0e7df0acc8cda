// The settings of a SAML 2.0 upstream, with metadata from a URL, from a document, or entered by hand.

import { z } from 'zod';
import { entityId } from '../../../applications/uris.ts';
import { limits } from '../../../base/limits.ts';
import { documentUpTo } from '../../../base/schemas/line-schema.ts';
import { type Fault, fault } from '../../../base/texts/faults.ts';
import { commonHead, commonSettings, logout, trustedEmail } from './common.ts';
import { certificate, claimPath, connectionFields, inSection, webUri } from './fields.ts';

export const samlSettings = {
  ...commonSettings,
  ...inSection('upstream', {
    entity_id: entityId.optional().describe('default: that of the metadata; never changes'),
    metadata_url: webUri
      .optional()
      .describe('read every day; one of `metadata_url`, `metadata`, `metadata_file` or `sso_url` is required'),
    metadata: documentUpTo(limits.saml.metadataBytes)
      .optional()
      .describe('the document itself')
      .register(connectionFields, { section: 'upstream', rows: 6 }),
    metadata_certificate: certificate
      .optional()
      .describe('in PEM form: the key that must sign the document at `metadata_url`')
      .register(connectionFields, { section: 'upstream', rows: 6 }),
    sso_url: webUri.optional().describe('without metadata; `entity_id` and `certificates` are required as well'),
    slo_url: webUri.optional().describe('without metadata; absent means that it has no logout'),
    certificates: z
      .array(certificate)
      .max(10)
      .default([])
      .describe('only these keys may sign, whatever the metadata says'),
    binding: z.enum(['redirect', 'post']).default('redirect').describe('of the AuthnRequest'),
    sign_requests: z.boolean().default(true).describe('signs AuthnRequests'),
    want_encrypted: z.boolean().default(false).describe('accepts encrypted assertions only'),
    allow_sha1: z.boolean().default(false).describe('only for an upstream that knows nothing else'),
    allow_cbc: z.boolean().default(false).describe('accepts AES-CBC, in a Response that is signed as a whole'),
    name_id_format: z
      .enum(['persistent', 'emailAddress', 'unspecified'])
      .optional()
      .describe('the format that is requested; transient is not possible'),
    subject_attribute: claimPath.optional().describe('identifies the user; default: the persistent NameID'),
    request_authn_context: z.boolean().default(true).describe('`false`: no RequestedAuthnContext; AD FS rejects it'),
    sp_entity_id: entityId.optional().describe('another entity ID of this server for this upstream'),
  }),
  ...inSection('users', {
    trusted_email: trustedEmail
      .default('domains')
      .describe('as for [oidc](#oidc); `verified` trusts every address that it sends'),
  }),
  ...inSection('assurance', { logout: logout.default('always').describe('as for [oidc](#oidc)') }),
};

export const samlEntry = z.strictObject({
  ...commonHead,
  kind: z.literal('saml'),
  ...samlSettings,
  ...inSection(null, {
    metadata_file: z
      .string()
      .min(1)
      .max(4096)
      .optional()
      .describe('read relative to the configuration file; not possible over the API'),
  }),
});

export type SamlSettings = z.output<z.ZodObject<typeof samlSettings>>;

/** Rules that involve several fields. */
export function checkSamlFields(entry: z.output<typeof samlEntry>): Fault[] {
  const faults = sourceFaults(entry);
  if (entry.metadata_certificate !== undefined && entry.metadata_url === undefined)
    faults.push(fault(['metadata_certificate'], 'needs-field', { key: 'metadata_url' }));
  if (entry.name_id_format === 'unspecified' && entry.subject_attribute === undefined)
    faults.push(fault(['subject_attribute'], 'unspecified-name-id'));
  if (entry.name_id_format === 'emailAddress' && entry.subject_attribute === undefined)
    faults.push(fault(['subject_attribute'], 'email-name-id'));
  if (entry.required_for_domains && entry.domains.length === 0)
    faults.push(fault(['required_for_domains'], 'needs-domains'));
  return faults;
}

/** The metadata has one source, or the entry says what they would. */
function sourceFaults(entry: z.output<typeof samlEntry>): Fault[] {
  const fields = ['metadata_file', 'metadata_url', 'metadata'] as const;
  const [first, second] = fields.filter((field) => entry[field] !== undefined);
  if (first && second) return [fault([second], 'not-with', { key: first })];
  if (first) return [];
  const key = 'sso_url';
  if (entry.sso_url === undefined)
    return [fault(['metadata_url'], 'needs-metadata', { key: 'metadata_url', other: 'metadata_file', third: key })];
  const faults: Fault[] = [];
  if (entry.entity_id === undefined) faults.push(fault(['entity_id'], 'needed-by', { key }));
  if (entry.certificates.length === 0) faults.push(fault(['certificates'], 'needs-certificate', { key }));
  return faults;
}
