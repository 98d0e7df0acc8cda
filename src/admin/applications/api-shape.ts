// The shapes of an application in /api/admin/applications: what a request declares, and what a response returns.

import { z } from 'zod';
import type { Application } from '../../applications/application.ts';
import { clientId, oidcClient } from '../../applications/fields/oidc-client.ts';
import { serviceProvider } from '../../applications/fields/service-provider.ts';
import { webUriSchema } from '../../applications/uris.ts';
import { limits } from '../../base/limits.ts';
import { rule } from '../../base/texts/faults.ts';
import { applicationEntry } from '../../config-file/sections/applications.ts';
import { metadataWarnings, type SpMetadata } from '../../protocols/saml/metadata/parse.ts';
import { mergePatchOf } from '../api/described-bodies.ts';
import { iso, time } from '../api/parts.ts';
import { type ApplicationDetails, applicationVersion } from './actions.ts';

const { metadata_file: _file, ...saml } = serviceProvider.shape;

/** The fields without their defaults, which are only described here: a profile fills in what was not sent. */
function withoutDefaults(shape: typeof oidcClient.shape) {
  const fields = Object.entries(shape).map(([name, field]) => [
    name,
    field instanceof z.ZodDefault
      ? field.unwrap().optional().meta({ default: field.def.defaultValue, description: field.description })
      : field,
  ]);
  return Object.fromEntries(fields) as typeof shape;
}

/** Only the code flow needs a redirect URI, which is also what a client without grant_types uses. */
const REDIRECT_URIS = [
  { required: ['redirect_uris'], properties: { redirect_uris: { minItems: 1 } } },
  { required: ['grant_types'], properties: { grant_types: { not: { contains: { const: 'authorization_code' } } } } },
];

export const newApplication = z
  .discriminatedUnion(
    'protocol',
    [
      z
        .strictObject({
          protocol: z.literal('oidc'),
          ...withoutDefaults(oidcClient.shape),
          client_id: clientId.optional().describe('Made where it is left out'),
        })
        .meta({ id: 'OidcClient', anyOf: REDIRECT_URIS }),
      z.strictObject({ protocol: z.literal('saml'), ...saml }).meta({
        id: 'ServiceProvider',
        oneOf: [{ required: ['metadata'] }, { required: ['metadata_url'] }, { required: ['acs_url'] }],
        dependentRequired: { acs_url: ['entity_id'], metadata_certificate: ['metadata_url'] },
      }),
    ],
    rule('oidc-or-saml'),
  )
  .describe('The fields of `clients` and `service_providers` in the configuration file');

export const declaration = z.record(z.string(), z.json());

const { client_secret: _secret, ...changeableClient } = oidcClient.shape;
/** The merge patch of a declaration. What it leads to is checked as a whole. */
export const declarationChanges = declaration.meta({
  id: 'ApplicationChanges',
  anyOf: [mergePatchOf(changeableClient), mergePatchOf(saml)],
});
export const application = z
  .object({
    id: z.string(),
    protocol: z.enum(['oidc', 'saml']),
    identifier: z.string().describe('client_id, or entity ID'),
    name: z.string(),
    enabled: z.boolean(),
    source: z
      .enum(['local', 'file', 'dynamic'])
      .describe('file: declared in the configuration file; dynamic: registered itself'),
    created_at: time,
    updated_at: time,
    declaration: declaration.describe(
      'As the configuration file would declare it; fields at their default are left out',
    ),
  })
  .meta({ id: 'Application' });
const secret = z.object({
  id: z.string(),
  last_four: z.string().describe('The last characters'),
  created_at: time,
  last_used_at: time.nullable().describe('At most an hour old; not recorded for client_secret_jwt'),
  expires_at: time.nullable(),
});
export const details = application
  .extend({ secrets: z.array(secret).describe('Those that are accepted, newest first') })
  .meta({ id: 'ApplicationDetails' });
export const withSecret = application.extend({ client_secret: z.string().optional().describe('Displayed only now') });

export const source = z
  .strictObject({
    metadata: z.string().min(1).max(limits.saml.metadataBytes).optional().describe('The document'),
    metadata_url: z.string().min(1).max(2048).meta(webUriSchema).optional().describe('The URL of the document'),
  })
  .refine((given) => (given.metadata === undefined) !== (given.metadata_url === undefined), {
    path: ['metadata'],
    ...rule('one-metadata'),
  })
  .meta({ oneOf: [{ required: ['metadata'] }, { required: ['metadata_url'] }] });
export const readMetadata = z.object({
  entity_id: z.string(),
  name: z.string().nullable(),
  acs: z.array(z.object({ url: z.string(), binding: z.string(), index: z.int().nullable() })),
  slo: z.array(z.object({ url: z.string(), binding: z.string() })),
  signing_certificates: z.int(),
  encryption_certificates: z.int(),
  requests_signed: z.boolean(),
  requested_attributes: z.array(z.string()),
  valid_until: time.nullable(),
  warnings: z.array(z.string()).describe('What of it is not used, such as an endpoint without https'),
});

/** An application, with the version for the ETag; a new secret is only readable here. */
export function answer(one: Application, clientSecret?: string) {
  return {
    body: { ...applicationJson(one), ...(clientSecret === undefined ? {} : { client_secret: clientSecret }) },
    version: applicationVersion(one),
  };
}

export function applicationJson(one: Application) {
  return {
    id: one.id,
    protocol: one.protocol,
    identifier: one.clientId,
    name: one.name,
    enabled: one.enabled,
    source: one.source,
    created_at: iso(one.createdAt),
    updated_at: iso(one.updatedAt),
    declaration: applicationEntry(one) as z.output<typeof declaration>,
  };
}

export function detailsJson({ application: one, secrets }: ApplicationDetails) {
  return {
    ...applicationJson(one),
    secrets: secrets.map(({ id: secretId, lastFour, createdAt, lastUsedAt, expiresAt }) => ({
      id: secretId,
      last_four: lastFour,
      created_at: iso(createdAt),
      last_used_at: iso(lastUsedAt ?? null),
      expires_at: iso(expiresAt),
    })),
  };
}

export function metadataJson(metadata: SpMetadata) {
  return {
    entity_id: metadata.entityId,
    name: metadata.displayName ?? null,
    acs: metadata.acs.map(({ url, binding, index = null }) => ({ url, binding, index })),
    slo: metadata.slo.map(({ location, binding }) => ({ url: location, binding })),
    signing_certificates: metadata.signingCertificates.length,
    encryption_certificates: metadata.encryptionCertificates.length,
    requests_signed: metadata.authnRequestsSigned,
    requested_attributes: metadata.requestedAttributes.map(({ name }) => name),
    valid_until: iso(metadata.validUntil ?? null),
    warnings: metadataWarnings(metadata).map(String),
  };
}
