// The schemas of a SAML service provider: as it is declared, by metadata or by hand, and as `applications.metadata` stores
// it. The metadata XML itself is read in saml/metadata/.

import { z } from 'zod';
import { limits } from '../../base/limits.ts';
import { documentUpTo } from '../../base/schemas/line-schema.ts';
import { at, type Fault, fault, faultFrom, rule } from '../../base/texts/faults.ts';
import { certificateFault, certificatePem, keyCountFault } from '../../core/keys/foreign-keys.ts';
import { entityId, typedAddress, webUriFault, webUriSchema } from '../uris.ts';
import { applicationFields, fieldsIn } from './application-field.ts';
import { permissionFilterFaults, presetField, userField, viewFields } from './claim-settings.ts';
import { accessField, consent, nameField, oidcMetadata, signInFields, useFields } from './oidc-client.ts';
import { provisionFaults, provisionField } from './provisioning.ts';

const webUri = typedAddress(2048).superRefine(faultFrom(webUriFault)).meta(webUriSchema);

const pem = z.string().superRefine(faultFrom(certificateFault)).meta({ pattern: '-----BEGIN CERTIFICATE-----' });
const certificate = z.union([
  pem.transform((value) => ({ pem: certificatePem(value) })),
  z.strictObject({ use: z.enum(['signing', 'encryption']).optional(), pem: pem.transform(certificatePem) }),
]);

const INDEX = rule('acs-index');
const acsEndpoint = z.strictObject({
  url: webUri,
  index: z.int(INDEX).min(0, INDEX).max(65_535, INDEX).optional(),
  default: z.boolean().optional(),
});
const acsUrl = webUri.transform((url): z.output<typeof acsEndpoint> => ({ url }));

const sloEndpoint = z.strictObject({
  url: webUri,
  binding: z.enum(['redirect', 'post', 'soap']).default('redirect'),
  response_url: webUri.optional(),
});

const YEAR_SECONDS = 365 * 24 * 3600;

/** How the server responds to a service provider, however it was registered. */
const answer = z.strictObject({
  start_url: webUri
    .optional()
    .describe('the page that the app list opens instead; it must start the sign-in itself')
    .register(applicationFields, { section: 'general', gives: 'nothing', isHalf: true }),
  logo_uri: oidcMetadata.shape.logo_uri,
  ...presetField,
  idp_initiated: z
    .boolean()
    .default(false)
    .describe('sign-ins can start at Gatehouse, without a request from the application')
    .register(applicationFields, { section: 'general', gives: 'nothing' }),
  contacts: z
    .array(z.string().regex(/^[^\s@]+@[^\s@]+$/, rule('email')))
    .optional()
    .describe('email addresses that are notified before the signing certificate expires')
    .register(applicationFields, { section: 'general', gives: 'nothing', isDescriptive: true, text: 'sp_contacts' }),
  metadata_certificate: pem
    .optional()
    .describe(
      'PEM certificate whose key must sign the document at `metadata_url`; changes then need no [approval](saml.md#metadata-that-changes)',
    )
    .register(applicationFields, { section: 'metadata-url', gives: 'nothing', rows: 4 }),
  sign: z
    .enum(['assertion', 'response', 'both'])
    .default('assertion')
    .describe('what is signed; RSA with SHA-256')
    .register(applicationFields, { section: 'saml-signing', gives: 'nothing', isHalf: true }),
  encrypt_assertion: z
    .enum(['auto', 'always', 'never'])
    .default('auto')
    .describe('`auto`: when its metadata contains an encryption key')
    .register(applicationFields, { section: 'saml-signing', gives: 'nothing', isHalf: true }),
  require_signed_requests: z
    .boolean()
    .optional()
    .describe('whether unsigned requests are rejected; default: as its metadata says')
    .register(applicationFields, { section: 'saml-signing', gives: 'nothing', isChoice: true, isHalf: true }),
  allow_cbc: z
    .boolean()
    .default(false)
    .describe(
      'encrypts with AES-CBC where the metadata has nothing better; without it, such metadata is rejected unless `encrypt_assertion` is `never`',
    )
    .register(applicationFields, { section: 'saml-signing', gives: 'nothing' }),
  allow_sha1: z
    .boolean()
    .default(false)
    .describe('accepts its signatures with SHA-1; only for software that supports nothing newer')
    .register(applicationFields, { section: 'saml-signing', gives: 'nothing' }),
  ...useFields,
  ignore_requested_authn_context: z
    .boolean()
    .default(false)
    .describe('any sign-in that `mfa` and the settings accept will do')
    .register(applicationFields, { section: 'requirements', gives: 'nothing' }),
  session_not_on_or_after: z
    .union([z.literal('none'), z.int().min(300).max(YEAR_SECONDS)], rule('session-end'))
    .optional()
    .describe('seconds until it ends its own session, or `none`; default: the end of the session here')
    .register(applicationFields, { section: 'requirements', gives: 'nothing' }),
  ...signInFields,
  name_id_format: z
    .enum(['persistent', 'transient', 'emailAddress', 'unspecified'])
    .optional()
    .describe(
      'default: what its request asks for, if its metadata names it, else `persistent` ([SAML](saml.md#what-the-application-receives))',
    )
    .register(applicationFields, { section: 'name-id', gives: 'nothing' }),
  force_name_id_format: z
    .boolean()
    .default(false)
    .describe('`name_id_format` whatever its request asks for')
    .register(applicationFields, { section: 'name-id', gives: 'nothing' }),
  name_id_field: z
    .enum(['sub', 'username', 'email'])
    .optional()
    .describe('the user field for the formats `persistent` and `unspecified`; default: a random value and the username')
    .register(applicationFields, { section: 'name-id', gives: 'nothing' }),
  require_allow_create: z
    .boolean()
    .default(false)
    .describe('without `AllowCreate="true"`, no new `persistent` identifier')
    .register(applicationFields, { section: 'name-id', gives: 'nothing' }),
  attributes: z
    .record(z.string().min(1).max(512), userField)
    .default({})
    .describe('SAML attribute name to user field: `{ email: email, role: roles }`')
    .register(applicationFields, { section: 'attributes', gives: 'user fields' }),
  ...viewFields,
  ...provisionField,
});

/** An entry of `service_providers:` in the configuration file. */
export const serviceProvider = z.strictObject({
  name: nameField,
  metadata_file: z
    .string()
    .min(1)
    .optional()
    .describe('file with its metadata, relative to the configuration file')
    .register(applicationFields, { section: null, gives: 'nothing' }),
  metadata_url: webUri
    .optional()
    .describe('URL of its metadata, which is read again [at least once a day](saml.md#metadata-that-changes)')
    .register(applicationFields, { section: 'metadata-url', gives: 'nothing' }),
  metadata: documentUpTo(limits.saml.metadataBytes)
    .optional()
    .describe('the metadata document itself')
    .register(applicationFields, { section: 'metadata-document', gives: 'nothing', rows: 8 }),
  entity_id: entityId
    .optional()
    .describe('its entity ID; if there is metadata, it must be the one in the metadata')
    .register(applicationFields, { section: null, gives: 'nothing' }),
  acs_url: z
    .union([acsUrl.transform((one) => [one]), z.array(z.union([acsUrl, acsEndpoint])).min(1)])
    .optional()
    .describe('assertion consumer URLs, numbered from 0; the first is the default')
    .register(applicationFields, { section: 'acs', gives: 'nothing' }),
  slo_url: z
    .union([
      webUri.transform((url) => [sloEndpoint.parse({ url })]),
      z.array(sloEndpoint),
      sloEndpoint.transform((one) => [one]),
    ])
    .optional()
    .describe(
      'single logout URLs; `binding` is `redirect`, `post` or `soap` (a call from this server, for a logout without a browser)',
    )
    .register(applicationFields, { section: 'slo', gives: 'nothing' }),
  certificates: z
    .array(certificate)
    .optional()
    .describe('PEM certificates of its signing and encryption keys')
    .register(applicationFields, { section: 'keys', gives: 'nothing' }),
  enabled: z
    .boolean()
    .default(true)
    .describe('`false` rejects every request of this application')
    .register(applicationFields, { section: null, gives: 'nothing' }),
  consent: consent
    .default('implicit')
    .describe('`explicit` asks the person once')
    .register(applicationFields, { section: 'consent', gives: 'nothing', switch: { on: 'explicit', off: 'implicit' } }),
  ...accessField,
  ...answer.shape,
});
export type ServiceProviderEntry = z.output<typeof serviceProvider>;

/** What goes to `applications.metadata` of a SAML application; its entity ID is the row's client_id. */
export const serviceProviderSettings = z.strictObject({
  ...answer.shape,
  metadata_xml: z.string().optional(), // the last good metadata
  metadata_url: z.string().optional(), // read again daily
  acs: z.array(z.strictObject({ url: z.string(), index: z.int(), default: z.boolean() })).optional(), // by hand
  slo: z.array(sloEndpoint).optional(),
  certificates: z
    .array(z.strictObject({ use: z.enum(['signing', 'encryption']).optional(), pem: z.string() }))
    .optional(),
});
export type ServiceProviderSettings = z.output<typeof serviceProviderSettings>;

const sources = ['metadata_file', 'metadata_url', 'metadata', 'acs_url'] as const;

/** Exactly one way to know the service provider, only what belongs to it, and no filter that matches nothing. */
export const serviceProviderRules = (entry: ServiceProviderEntry): Fault[] => [
  ...sourceFaults(entry),
  ...permissionFilterFaults(entry),
  ...provisionFaults(entry),
  ...(entry.force_name_id_format && entry.name_id_format === undefined
    ? [fault(['force_name_id_format'], 'needs-key', { key: 'name_id_format' })]
    : []),
];

function sourceFaults(entry: ServiceProviderEntry): Fault[] {
  const given = sources.filter((source) => entry[source] !== undefined);
  if (given.length === 0) return [fault(['name'], 'sources')];
  if (given.length > 1) return [fault([given[1] ?? 'name'], 'not-with', { key: String(given[0]) })];
  if (given[0] === 'acs_url') {
    if (entry.metadata_certificate !== undefined)
      return [fault(['metadata_certificate'], 'needs-key', { key: 'metadata_url' })];
    if (entry.entity_id === undefined) return [fault(['acs_url'], 'needs-key', { key: 'entity_id' })];
    return [...acsFaults(entry.acs_url ?? []), ...keyFaults(entry)];
  }
  if (entry.metadata_certificate !== undefined && entry.metadata_url === undefined)
    return [fault(['metadata_certificate'], 'needs-key', { key: 'metadata_url' })];
  return (['slo_url', 'certificates'] as const)
    .filter((field) => entry[field] !== undefined)
    .map((field) => fault([field], 'with-acs', { key: 'entity_id', other: 'acs_url' }));
}

function acsFaults(endpoints: NonNullable<ServiceProviderEntry['acs_url']>): Fault[] {
  const indexes = withIndexes(endpoints).map(({ index }) => index);
  if (new Set(indexes).size < indexes.length) return [fault(['acs_url'], 'index-twice')];
  if (endpoints.filter((endpoint) => endpoint.default).length > 1) return [fault(['acs_url'], 'one-default')];
  return [];
}

/** Settings that no request or response could meet. */
function keyFaults({ certificates = [], require_signed_requests, encrypt_assertion }: ServiceProviderEntry): Fault[] {
  const uses = certificates.map((one) => ('use' in one ? one.use : undefined));
  const isThere = (use: 'signing' | 'encryption') => uses.some((known) => known === undefined || known === use);
  const faults: Fault[] = [];
  const count = keyCountFault(uses);
  if (count) faults.push(...at(['certificates'], [count]));
  if (require_signed_requests === true && !isThere('signing'))
    faults.push(fault(['require_signed_requests'], 'needs-signing-certificate'));
  if (encrypt_assertion === 'always' && !isThere('encryption'))
    faults.push(fault(['encrypt_assertion'], 'needs-encryption-certificate'));
  return faults;
}

/** What a declaration needs of its metadata, in the words of saml/metadata. */
interface DeclaredMetadata {
  signingCertificates: readonly unknown[];
  encryption: 'none' | 'curve' | 'possible' | 'cbc' | 'unsupported';
}

/** Settings that no request or response could meet with this metadata, and encryption that it asks for in vain. */
export function metadataFaults(
  entry: Pick<ServiceProviderEntry, MetadataSetting>,
  metadata: DeclaredMetadata,
): Fault[] {
  const faults: Fault[] = [];
  if (entry.require_signed_requests === true && metadata.signingCertificates.length === 0)
    faults.push(fault(['require_signed_requests'], 'needs-signing-certificate'));
  const found = encryptionFault(entry, metadata.encryption);
  return found ? [...faults, found] : faults;
}

type MetadataSetting = 'require_signed_requests' | 'encrypt_assertion' | 'allow_cbc';

function encryptionFault(
  { encrypt_assertion: encrypts, allow_cbc: allowCbc }: Pick<ServiceProviderEntry, MetadataSetting>,
  encryption: DeclaredMetadata['encryption'],
): Fault | undefined {
  if (encrypts === 'never' || encryption === 'possible') return undefined;
  if (encryption === 'unsupported') return fault(['encrypt_assertion'], 'unsupported-encryption');
  if (encryption === 'cbc')
    return allowCbc ? undefined : fault(['allow_cbc'], 'cbc-only', { key: 'encrypt_assertion' });
  if (encrypts !== 'always') return undefined;
  return encryption === 'curve'
    ? fault(['encrypt_assertion'], 'curve-encryption')
    : fault(['encrypt_assertion'], 'needs-encryption-certificate');
}

/** Missing indexes are filled in from 0; the first endpoint is the default where none is marked. */
function withIndexes(endpoints: NonNullable<ServiceProviderEntry['acs_url']>) {
  const hasDefault = endpoints.some((endpoint) => endpoint.default);
  return endpoints.map(({ url, index, default: isDefault }, position) => ({
    url,
    index: index ?? position,
    default: isDefault ?? (!hasDefault && position === 0),
  }));
}

/** The stored settings of an entry; `xml` is its metadata where it has any. */
export function settingsOf(entry: ServiceProviderEntry, xml: string | undefined): ServiceProviderSettings {
  const answers = fieldsIn(answer, entry);
  if (entry.acs_url === undefined) {
    return {
      ...answers,
      ...(xml === undefined ? {} : { metadata_xml: xml }),
      ...(entry.metadata_url === undefined ? {} : { metadata_url: entry.metadata_url }),
    };
  }
  return {
    ...answers,
    acs: withIndexes(entry.acs_url),
    ...(entry.slo_url === undefined ? {} : { slo: entry.slo_url }),
    ...(entry.certificates === undefined ? {} : { certificates: entry.certificates }),
  };
}
