// /api/admin/applications: OIDC clients and SAML service providers, declared as in the configuration file.
import { z } from 'zod';
import type { Application } from '../../applications/application.ts';
import type { Registered } from '../../applications/applications.ts';
import { limits } from '../../base/limits.ts';
import { within } from '../../people/rbac/rights.ts';
import { type Endpoint, endpoint } from '../api/endpoint.ts';
import type { OnCreated } from '../api/idempotency.ts';
import { byId, flag, id, paged, pageOf, text } from '../api/parts.ts';
import type { ApplicationAdmin } from './actions.ts';
import { metadataChangeEndpoints } from './api-metadata.ts';
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
import { applicationVersion } from './manageable-applications.ts';
import { pictureEndpoints } from './picture/api.ts';
import type { NewSecret } from './secret-actions.ts';

const tag = 'Applications';
const readPermissions = [within('gatehouse.applications:read')];
const writePermissions = [within('gatehouse.applications:write')];
/** What is about no registered application takes the permission for all of them. */
const writeAllPermissions = ['gatehouse.applications:write'] as const;
// Room for a metadata document, escaped in JSON.
const maxBodyBytes = limits.saml.metadataBytes * 2;

/** /applications and /saml-metadata. */
export function applicationEndpoints(applications: ApplicationAdmin): Endpoint[] {
  return [
    ...collectionEndpoints(applications),
    ...singleApplicationEndpoints(applications),
    ...stateEndpoints(applications),
    ...secretEndpoints(applications),
    ...metadataChangeEndpoints(applications),
    ...pictureEndpoints(applications),
    metadataEndpoint(applications),
  ];
}

/** /applications: the list, and a new application. */
function collectionEndpoints(applications: ApplicationAdmin): Endpoint[] {
  return [
    endpoint({
      method: 'get',
      path: '/applications',
      operationId: 'listApplications',
      tag,
      needs: readPermissions,
      summary: 'The applications of both protocols, by name',
      query: z.object({
        ...paged,
        search: text.optional().describe('Part of the name or identifier'),
        protocol: z.enum(['oidc', 'saml']).optional(),
        enabled: flag.optional(),
      }),
      response: pageOf(application),
      async handle({ query: { cursor, ...query }, by }) {
        const page = await applications.list({ ...query, after: cursor }, by);
        return { body: { items: page.applications.map(applicationJson), next: page.next ?? null } };
      },
    }),
    endpoint({
      method: 'post',
      path: '/applications',
      operationId: 'createApplication',
      tag,
      needs: writeAllPermissions,
      maxBodyBytes,
      summary: 'Registers an application',
      description:
        'client_id is generated when absent, and so is a client secret where the authentication method needs one. SAML: metadata, metadata_url, or entity_id with acs_url.',
      body: newApplication,
      response: withSecret,
      status: 201,
      versioned: 'shows',
      idempotent: true,
      async handle({ body: { protocol, ...declared }, by, record }) {
        const created = (made: Application, clientSecret?: string) => ({
          ...answer(made, clientSecret),
          location: `/applications/${made.id}`,
        });
        if (protocol === 'saml')
          return created(await applications.createSaml(declared, by, (made, tx) => record(created(made), tx)));
        const registered = ({ application: made, clientSecret }: Registered) => created(made, clientSecret);
        return registered(await applications.createOidc(declared, by, (made, tx) => record(registered(made), tx)));
      },
    }),
  ];
}

/** /applications/{id}: the declaration. */
function singleApplicationEndpoints(applications: ApplicationAdmin): Endpoint[] {
  return [
    endpoint({
      method: 'get',
      path: '/applications/{id}',
      operationId: 'getApplication',
      tag,
      needs: readPermissions,
      summary: 'One application, with the dates of its secrets',
      params: byId,
      response: details,
      versioned: 'shows',
      async handle({ params, by }) {
        const found = await applications.get(params.id, by);
        return { body: detailsJson(found), version: applicationVersion(found.application) };
      },
    }),
    endpoint({
      method: 'patch',
      path: '/applications/{id}',
      operationId: 'updateApplication',
      tag,
      needs: writePermissions,
      maxBodyBytes,
      summary: 'Changes the declaration: a JSON merge patch (RFC 7396)',
      description: 'null takes a field back to its default. The identifier never changes.',
      params: byId,
      body: declarationChanges,
      response: withSecret,
      versioned: 'changes',
      async handle({ params, body, by, version }) {
        const { application: changed, clientSecret } = await applications.update(params.id, body, by, version);
        return answer(changed, clientSecret);
      },
    }),
    endpoint({
      method: 'delete',
      path: '/applications/{id}',
      operationId: 'deleteApplication',
      tag,
      needs: writePermissions,
      summary: 'Deletes the application and every token it holds',
      params: byId,
      versioned: 'changes',
      status: 204,
      handle: async ({ params, by, version }) => void (await applications.remove(params.id, by, version)),
    }),
  ];
}

/** Enables and disables an application. */
function stateEndpoints(applications: ApplicationAdmin): Endpoint[] {
  return ([true, false] as const).map((enabled) => {
    const action = enabled ? 'enable' : 'disable';
    return endpoint({
      method: 'post',
      path: `/applications/{id}/${action}`,
      operationId: `${action}Application`,
      tag,
      needs: writePermissions,
      summary: enabled ? 'Users can sign in to it again' : 'Users cannot sign in to it, and its tokens end',
      params: byId,
      response: application,
      versioned: 'shows',
      handle: async ({ params, by }) => answer(await applications.setEnabled(params.id, enabled, by)),
    });
  });
}

/** The client secrets of an application. */
function secretEndpoints(applications: ApplicationAdmin): Endpoint[] {
  return [
    endpoint({
      method: 'post',
      path: '/applications/{id}/secrets',
      operationId: 'addSecret',
      tag,
      needs: writePermissions,
      summary: 'A new client secret; the old ones stay valid for a while',
      description:
        'So the application can be changed without downtime. A secret that is used for signatures (client_secret_jwt, HS256) is replaced at once.',
      params: byId,
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
      async handle({ params, body, by, record }) {
        const created = ({ id: secretId, value }: NewSecret) => ({ body: { id: secretId, client_secret: value } });
        const onCreated: OnCreated<NewSecret> = (added, tx) => record(created(added), tx);
        return created(await applications.addSecret(params.id, body.overlap_seconds, by, onCreated));
      },
    }),
    endpoint({
      method: 'delete',
      path: '/applications/{id}/secrets/{secret}',
      operationId: 'removeSecret',
      tag,
      needs: writePermissions,
      summary: 'Ends a client secret now',
      params: z.object({ id, secret: id }),
      status: 204,
      handle: async ({ params, by }) => void (await applications.removeSecret(params.id, params.secret, by)),
    }),
  ];
}

/** /saml-metadata. */
function metadataEndpoint(applications: ApplicationAdmin): Endpoint {
  return endpoint({
    method: 'post',
    path: '/saml-metadata',
    operationId: 'readMetadata',
    tag,
    needs: writeAllPermissions,
    maxBodyBytes,
    summary: 'Reads the metadata of a service provider without registering it',
    body: source,
    response: readMetadata,
    handle: async ({ body }) => ({ body: metadataJson(await applications.readMetadata(body)) }),
  });
}
