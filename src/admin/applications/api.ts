// /api/admin/applications: OIDC clients and SAML service providers, declared as in the configuration file, with their secrets and pictures,
// and metadata of a service provider that changed at its URL, and waits for approval.
import { z } from 'zod';
import type { Application } from '../../applications/application.ts';
import type { Registered } from '../../applications/applications.ts';
import { imageLimits } from '../../applications/brand/limits.ts';
import type { PictureState } from '../../applications/pictures/pictures.ts';
import { notFound } from '../../base/http/errors.ts';
import { limits } from '../../base/limits.ts';
import { bytesOf, imageData } from '../../core/settings/value-schemas.ts';
import { within } from '../../people/rbac/rights.ts';
import { type Endpoint, endpoint } from '../api/endpoint.ts';
import type { OnCreated } from '../api/idempotency.ts';
import { done, flag, id, iso, paged, pageOf, text, time } from '../api/parts.ts';
import { endpointsOf, type Resource } from '../resource.ts';
import { type ApplicationAdmin, type ApplicationDetails, applicationVersion, type NewSecret } from './actions.ts';
import {
  answer,
  application,
  applicationJson,
  declarationChanges,
  details,
  detailsJson,
  metadataJson,
  newApplication,
  readMetadata,
  source,
  withSecret,
} from './api-shape.ts';

/** What is about no registered application takes the permission for all of them. */
const writeAll = ['gatehouse.applications:write'] as const;
// Room for a metadata document, escaped in JSON.
const maxBodyBytes = limits.saml.metadataBytes * 2;

const change = z.object({
  what: z.string(),
  received: z.string(),
  registered: z.string(),
  needs_approval: z.boolean(),
});
const waitingMetadata = z
  .object({
    document: z.string().describe('SHA-256 of the received document, which an approval names'),
    received_at: time,
    changes: z.array(change),
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

export const applicationNoun = (applications: ApplicationAdmin): Resource<ApplicationDetails> => ({
  names: ['Application', 'Applications'],
  tag: 'Applications',
  api: '/applications',
  home: '/admin/applications',
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
export function applicationEndpoints(applications: ApplicationAdmin): Endpoint[] {
  const noun = applicationNoun(applications);
  const { list, create, get, update, remove, action } = endpointsOf(noun);
  const created = ({ application: made, clientSecret }: { application: Application; clientSecret?: string }) => ({
    ...answer(made, clientSecret),
    location: `/applications/${made.id}`,
  });
  return [
    list({
      summary: 'The applications of both protocols, by name',
      query: z.object({
        ...paged,
        search: text.optional().describe('Part of the name or identifier'),
        protocol: z.enum(['oidc', 'saml']).optional(),
        enabled: flag.optional(),
      }),
      response: pageOf(application),
      async handle({ cursor, ...query }, by) {
        const page = await applications.list({ ...query, after: cursor }, by);
        return { items: page.applications.map(applicationJson), next: page.next ?? null };
      },
    }),
    create({
      needs: writeAll,
      maxBodyBytes,
      summary: 'Registers an application',
      description:
        'client_id is generated when absent, and so is a client secret where the authentication method needs one. SAML: metadata, metadata_url, or entity_id with acs_url.',
      body: newApplication,
      response: withSecret,
      async run(
        { protocol, ...declared },
        by,
        onCreated: OnCreated<Pick<Registered, 'clientSecret'> & { application: Application }>,
      ) {
        if (protocol === 'oidc') return applications.createOidc(declared, by, onCreated);
        return {
          application: await applications.createSaml(declared, by, (made, tx) => onCreated({ application: made }, tx)),
        };
      },
      answer: async (made: Pick<Registered, 'clientSecret'> & { application: Application }) => created(made),
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
      return action({
        path: `/${verb}`,
        operationId: `${verb}Application`,
        summary: enabled ? 'Users can sign in to it again' : 'Users cannot sign in to it, and its tokens end',
        response: application,
        versioned: 'shows',
        run: async ({ key, by }) => answer(await applications.setEnabled(key, enabled, by)),
      });
    }),
    action({
      path: '/secrets',
      operationId: 'addSecret',
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
    action({
      method: 'delete',
      path: '/secrets/{secret}',
      operationId: 'removeSecret',
      summary: 'Ends a client secret now',
      params: z.object({ id, secret: id }),
      status: 204,
      run: async ({ key, params, by }) => void (await applications.removeSecret(key, params.secret ?? '', by)),
    }),
    action({
      method: 'get',
      path: '/metadata-change',
      operationId: 'getMetadataChange',
      needs: noun.read,
      summary: 'Changed SAML metadata that waits for approval, beside what is registered',
      response: waitingMetadata,
      async run({ key, by }) {
        const found = await applications.waitingMetadata((await applications.get(key, by)).application);
        if (!found) throw notFound({ message: 'No changed metadata of this application waits for approval.' });
        const changes = found.changes.map(({ needsApproval, ...one }) => ({ ...one, needs_approval: needsApproval }));
        return { body: { document: found.documentHash, received_at: iso(found.receivedAt), changes } };
      },
    }),
    ...(['approve', 'reject'] as const).map((decision) =>
      action({
        path: `/metadata-change/${decision}`,
        operationId: `${decision}MetadataChange`,
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
    action({
      method: 'get',
      path: '/picture',
      operationId: 'getApplicationPicture',
      needs: noun.read,
      summary: 'Where the picture of an application comes from, and where it is on this server',
      response: picture,
      run: async ({ key, by }) => {
        await applications.get(key, by);
        return { body: pictureJson(await applications.pictureState(key)) };
      },
    }),
    action({
      method: 'put',
      path: '/picture',
      operationId: 'setApplicationPicture',
      maxBodyBytes: imageLimits.requestBytes,
      summary: 'Uploads a picture, which replaces that of the logo_uri until it is removed',
      body: newPicture,
      response: picture,
      async run({ key, body, by }) {
        await applications.choosePicture(key, bytesOf(body.picture), by);
        return { body: pictureJson(await applications.pictureState(key)) };
      },
    }),
    action({
      method: 'delete',
      path: '/picture',
      operationId: 'removeApplicationPicture',
      summary: 'Removes an uploaded picture; that of the logo_uri takes its place',
      status: 204,
      run: async ({ key, by }) => void (await applications.removePicture(key, by)),
    }),
    action({
      path: '/picture/fetch',
      operationId: 'fetchApplicationPicture',
      summary: 'Reads the picture of the logo_uri again, soon; changes nothing where it was uploaded',
      response: done,
      status: 202,
      run: async ({ key, by }) => {
        await applications.fetchPicture(key, by);
        return { body: { done: true as const } };
      },
    }),
    endpoint({
      method: 'post',
      path: '/saml-metadata',
      operationId: 'readMetadata',
      tag: noun.tag,
      needs: writeAll,
      maxBodyBytes,
      summary: 'Reads the metadata of a service provider without registering it',
      body: source,
      response: readMetadata,
      handle: async ({ body }) => ({ body: metadataJson(await applications.readMetadata(body)) }),
    }),
  ];
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
