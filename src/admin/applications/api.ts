// /api/admin/applications: OIDC clients and SAML service providers, declared as in the configuration file, with their secrets, their
// pictures, and SAML metadata that has changed at its URL and waits for approval.
import { z } from 'zod';
import type { Application } from '../../applications/application.ts';
import { imageLimits } from '../../applications/brand/limits.ts';
import { clientId, oidcClient } from '../../applications/fields/oidc-client.ts';
import { proxiedApplication } from '../../applications/fields/proxied-application.ts';
import { serviceProvider } from '../../applications/fields/service-provider.ts';
import type { PictureState } from '../../applications/pictures/pictures.ts';
import { webUriSchema } from '../../applications/uris.ts';
import { notFound } from '../../base/http/errors.ts';
import { limits } from '../../base/limits.ts';
import type { Tx } from '../../base/storage/database.ts';
import { rule } from '../../base/texts/faults.ts';
import { t } from '../../base/texts/text.ts';
import { applicationEntry, sectionOf } from '../../config-file/sections/applications.ts';
import { bytesOf, imageData } from '../../core/settings/value-schemas.ts';
import { within } from '../../people/rbac/rights.ts';
import { metadataWarnings, type SpMetadata } from '../../protocols/saml/metadata/parse.ts';
import { mergePatchOf } from '../api/described-bodies.ts';
import { type Endpoint, endpoint } from '../api/endpoint.ts';
import type { OnCreated } from '../api/idempotency.ts';
import { done, flag, id, iso, jsonOf, paged, pageOf, text, time } from '../api/parts.ts';
import type { GroupAdmin } from '../groups/groups.ts';
import { endpointsOf, type Resource } from '../resource.ts';
import {
  type ApplicationAdmin,
  type ApplicationDetails,
  applicationVersion,
  type Created,
  type NewSecret,
} from './actions.ts';
import { groupsOf } from './presets/presets.ts';

// The shapes of an application in /api/admin/applications: what a request declares, and what a response returns.

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

const createGroups = z
  .boolean()
  .optional()
  .describe(
    'Also creates the groups that `access` names, or that the product of `preset` reads, where they are missing; takes gatehouse.groups:write',
  );
const newApplication = z
  .discriminatedUnion(
    'protocol',
    [
      z
        .strictObject({
          protocol: z.literal('oidc'),
          create_groups: createGroups,
          ...withoutDefaults(oidcClient.shape),
          client_id: clientId.optional().describe('Made where it is left out'),
        })
        .meta({ id: 'OidcClient', anyOf: REDIRECT_URIS }),
      z.strictObject({ protocol: z.literal('saml'), create_groups: createGroups, ...saml }).meta({
        id: 'ServiceProvider',
        oneOf: [{ required: ['metadata'] }, { required: ['metadata_url'] }, { required: ['acs_url'] }],
        dependentRequired: { acs_url: ['entity_id'], metadata_certificate: ['metadata_url'] },
      }),
      z
        .strictObject({ protocol: z.literal('proxy'), create_groups: createGroups, ...proxiedApplication.shape })
        .meta({ id: 'ProxiedApplication' }),
    ],
    rule('protocol'),
  )
  .describe('The fields of `clients`, `service_providers` and `proxied_applications` in the configuration file');

const declaration = z.record(z.string(), z.json());

const { client_secret: _secret, ...changeableClient } = oidcClient.shape;
/** The merge patch of a declaration. What it leads to is checked as a whole. */
const declarationChanges = declaration.meta({
  id: 'ApplicationChanges',
  anyOf: [mergePatchOf(changeableClient), mergePatchOf(saml), mergePatchOf(proxiedApplication.shape)],
});
const sources = ['local', 'file', 'dynamic', 'document'] as const;
const application = z
  .object({
    id: z.string(),
    protocol: z.enum(['oidc', 'saml', 'proxy']),
    identifier: z.string().describe('client_id, entity ID, or the address of a website'),
    name: z.string(),
    enabled: z.boolean(),
    source: z
      .enum(sources)
      .describe(
        'file: declared in the configuration file; dynamic: registered itself; document: by its metadata document',
      ),
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
const details = application
  .extend({ secrets: z.array(secret).describe('Those that are accepted, newest first') })
  .meta({ id: 'ApplicationDetails' });
const withSecret = application.extend({ client_secret: z.string().optional().describe('Displayed only now') });

const metadataSource = z
  .strictObject({
    metadata: z.string().min(1).max(limits.saml.metadataBytes).optional().describe('The document'),
    metadata_url: z.string().min(1).max(2048).meta(webUriSchema).optional().describe('The URL of the document'),
  })
  .refine((given) => (given.metadata === undefined) !== (given.metadata_url === undefined), {
    path: ['metadata'],
    ...rule('one-metadata'),
  })
  .meta({ oneOf: [{ required: ['metadata'] }, { required: ['metadata_url'] }] });
const readMetadata = z.object({
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

const metadataChange = z.object({
  what: z.string(),
  received: z.string(),
  registered: z.string(),
  needs_approval: z.boolean(),
});
const waitingMetadata = z
  .object({
    document: z.string().describe('SHA-256 of the received document, which an approval names'),
    received_at: time,
    changes: z.array(metadataChange),
  })
  .meta({ id: 'WaitingMetadata' });

const picture = z
  .object({
    address: z.string().nullable().describe('Path of the picture on this server; null while there is none'),
    source: z.enum(['uploaded', 'logo_uri', 'none']),
    url: z.string().nullable().describe('The logo_uri that it is read from'),
    failure: z.string().nullable().describe('Why the last try to read it failed'),
    next_try_at: time.nullable(),
  })
  .meta({ id: 'ApplicationPicture' });

const newPicture = z.strictObject({
  picture: imageData.describe(
    `A PNG, JPEG or SVG as a data URL such as data:image/png;base64,…, up to ${imageLimits.bytes / 1000} KB`,
  ),
});

/** An application, with the version for the ETag; a new secret is only readable here. */
function answer(one: Application, clientSecret?: string) {
  return {
    body: { ...applicationJson(one), ...(clientSecret === undefined ? {} : { client_secret: clientSecret }) },
    version: applicationVersion(one),
  };
}

const applicationJson = (one: Application) =>
  jsonOf(application, one, {
    identifier: one.clientId,
    declaration: applicationEntry(one) as z.output<typeof declaration>,
  });

function detailsJson({ application: registered, secrets }: ApplicationDetails) {
  return {
    ...applicationJson(registered),
    secrets: secrets.map((one) => jsonOf(secret, one, { last_used_at: iso(one.lastUsedAt) })),
  };
}

function metadataJson(metadata: SpMetadata) {
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

function pictureJson(state: PictureState | undefined): z.input<typeof picture> {
  const { address = null, url = null, failure, nextTryAt } = state ?? {};
  return {
    address,
    source: state ? (url === null ? 'uploaded' : 'logo_uri') : 'none',
    url,
    failure: failure === undefined ? null : String(failure),
    next_try_at: iso(nextTryAt),
  };
}

/** For endpoints without one application: a right that is limited to some applications is not enough. */
const writeAny = ['gatehouse.applications:write'] as const;
// Room for a metadata document, escaped in JSON.
const maxBodyBytes = limits.saml.metadataBytes * 2;

export const applicationNoun = (applications: ApplicationAdmin): Resource<ApplicationDetails> => ({
  names: ['Application', 'Applications'],
  tag: 'Applications',
  api: '/applications',
  home: '/admin/applications',
  title: t('console.applications.title'),
  nameOf: ({ application }) => application.name,
  declared: {
    what: 'application',
    entryOf: ({ application: { protocol, clientId, source } }) => ({
      section: sectionOf(protocol),
      name: clientId,
      source,
    }),
  },
  read: [within('gatehouse.applications:read')],
  write: [within('gatehouse.applications:write')],
  keyOf: ({ application: { id: key } }) => key,
  get: applications.get,
  getForChange: (key, by) => applications.get(key, by, 'gatehouse.applications:write'),
  schema: details,
  json: detailsJson,
  version: (one) => applicationVersion(one.application),
});

/** /api/admin/applications, and /api/admin/saml-metadata. */
export function applicationEndpoints(applications: ApplicationAdmin, groups: GroupAdmin): Endpoint[] {
  const noun = applicationNoun(applications);
  const { list, create, get, update, remove, action } = endpointsOf(noun);
  return [
    list({
      summary: 'The applications of every protocol, by name',
      query: z.object({
        ...paged,
        search: text.optional().describe('Part of the name or identifier'),
        protocol: z.enum(['oidc', 'saml', 'proxy']).optional(),
        enabled: flag.optional(),
        source: z.enum(sources).optional(),
      }),
      response: pageOf(application),
      async handle({ cursor, ...query }, by) {
        const page = await applications.list({ ...query, after: cursor }, by);
        return { items: page.applications.map(applicationJson), next: page.next ?? null };
      },
    }),
    create({
      needs: writeAny,
      maxBodyBytes,
      summary: 'Registers an application',
      description:
        'client_id is generated when absent, and so is a client secret where the authentication method needs one. SAML: metadata, metadata_url, or entity_id with acs_url.',
      body: newApplication,
      response: withSecret,
      async run({ protocol, create_groups, ...declared }, by, onCreated: OnCreated<Created>) {
        const prepare = (tx: Tx) => groups.createMissing(create_groups ? groupsOf(declared) : [], by, tx);
        return applications.create(protocol, declared, by, onCreated, { prepare });
      },
      answer: ({ application: made, clientSecret }: Created) => ({
        ...answer(made, clientSecret),
        location: `/applications/${made.id}`,
      }),
    }),
    get({ summary: 'One application, with the dates of its secrets' }),
    update({
      maxBodyBytes,
      summary: 'Changes the declaration: a JSON merge patch (RFC 7396)',
      description: 'null takes a field back to its default. The identifier never changes.',
      body: declarationChanges,
      response: withSecret,
      async run(key, patch, by, version) {
        const { application: changed, clientSecret } = await applications.update(key, patch, by, version);
        return answer(changed, clientSecret);
      },
    }),
    remove({ summary: 'Deletes the application and every token it holds', run: applications.remove }),
    ...([true, false] as const).map((enabled) => {
      const verb = enabled ? 'enable' : 'disable';
      return action(`${verb}Application`, `POST /${verb}`, {
        summary: enabled ? 'Users can sign in to it again' : 'Users cannot sign in to it, and its tokens end',
        response: application,
        versioned: 'shows',
        run: async ({ key, by }) => answer(await applications.setEnabled(key, enabled, by)),
      });
    }),
    action('addSecret', 'POST /secrets', {
      summary: 'A new client secret; the old ones stay valid for a while',
      description:
        'So the application can be changed without downtime. A secret that is used for signatures (client_secret_jwt, HS256) is replaced at once.',
      status: 201,
      idempotent: true,
      body: z.strictObject({
        overlap_seconds: z
          .int()
          .min(0)
          .max(limits.secretOverlap.maxSeconds)
          .default(limits.secretOverlap.defaultSeconds)
          .describe('How long the others stay valid; 0 ends them now'),
      }),
      response: z.object({ id: z.string(), client_secret: z.string().describe('Displayed only now') }),
      async run({ key, body, by, record }) {
        const added = ({ id: secretId, value }: NewSecret) => ({ body: { id: secretId, client_secret: value } });
        const onCreated: OnCreated<NewSecret> = (secret, tx) => record(added(secret), tx);
        return added(await applications.addSecret(key, body.overlap_seconds, by, onCreated));
      },
    }),
    action('removeSecret', 'DELETE /secrets/{secret}', {
      summary: 'Ends a client secret now',
      params: z.object({ id, secret: id }),
      status: 204,
      run: async ({ key, params, by }) => void (await applications.removeSecret(key, params.secret ?? '', by)),
    }),
    action('getMetadataChange', 'GET /metadata-change', {
      needs: noun.read,
      summary: 'Changed SAML metadata that waits for approval, beside what is registered',
      response: waitingMetadata,
      async run({ key, by }) {
        const found = await applications.waitingMetadata((await applications.get(key, by)).application);
        if (!found) throw notFound({ message: 'No changed metadata of this application waits for approval.' });
        return { body: jsonOf(waitingMetadata, found, { document: found.documentHash }) };
      },
    }),
    ...(['approve', 'reject'] as const).map((decision) =>
      action(`${decision}MetadataChange`, `POST /metadata-change/${decision}`, {
        summary:
          decision === 'approve'
            ? 'Registers the received metadata'
            : 'Drops the received metadata; the same changes are not reported again',
        body: z.strictObject({ document: z.string().min(1).max(100) }),
        response: application,
        versioned: 'shows',
        run: async ({ key, body, by }) => answer(await applications.decideMetadata(key, decision, body.document, by)),
      }),
    ),
    action('getApplicationPicture', 'GET /picture', {
      needs: noun.read,
      summary: 'Where the picture of an application comes from, and where it is on this server',
      response: picture,
      run: async ({ key, by }) => {
        await applications.get(key, by);
        return { body: pictureJson(await applications.pictureState(key)) };
      },
    }),
    action('setApplicationPicture', 'PUT /picture', {
      maxBodyBytes: imageLimits.requestBytes,
      summary: 'Uploads a picture, which replaces that of the logo_uri until it is removed',
      body: newPicture,
      response: picture,
      async run({ key, body, by }) {
        await applications.choosePicture(key, bytesOf(body.picture), by);
        return { body: pictureJson(await applications.pictureState(key)) };
      },
    }),
    action('removeApplicationPicture', 'DELETE /picture', {
      summary: 'Removes an uploaded picture; that of the logo_uri takes its place',
      status: 204,
      run: async ({ key, by }) => void (await applications.removePicture(key, by)),
    }),
    action('fetchApplicationPicture', 'POST /picture/fetch', {
      summary: 'Reads the picture of the logo_uri again, soon; changes nothing where it was uploaded',
      response: done,
      status: 202,
      run: async ({ key, by }) => {
        await applications.fetchPicture(key, by);
        return { body: { done: true as const } };
      },
    }),
    endpoint('readMetadata', 'POST /saml-metadata', {
      tag: noun.tag,
      needs: writeAny,
      maxBodyBytes,
      summary: 'Reads the metadata of a service provider without registering it',
      body: metadataSource,
      response: readMetadata,
      handle: async ({ body }) => ({ body: metadataJson(await applications.readMetadata(body)) }),
    }),
  ];
}
