// /api/admin/resources: the APIs (resource servers, RFC 8707) that access tokens are issued for.
import { z } from 'zod';
import type { Resource } from '../../applications/resources.ts';
import { resource as declaredResource, resourceInput } from '../../config-file/schema.ts';
import { keyAlgs } from '../../core/keys/rotation.ts';
import { type Endpoint, endpoint } from '../api/endpoint.ts';
import type { ResourceAdmin } from './actions.ts';

const resource = z
  .object({
    identifier: z.string(),
    scopes: z.array(z.string()),
    scope_permissions: z
      .record(z.string(), z.string())
      .describe('Scope to the permission that a user needs to get it; a client that acts for itself never gets it'),
    signing_alg: z.enum(keyAlgs),
    source: z.enum(['local', 'file']).describe('file: declared in the configuration file'),
  })
  .meta({ id: 'Resource' });
const { identifier, ...editable } = declaredResource.shape;
const byIdentifier = z.object({ identifier: z.string().min(1).max(255) });

/** /resources. */
export function resourceEndpoints(resources: ResourceAdmin): Endpoint[] {
  return [...collectionEndpoints(resources), ...singleResourceEndpoints(resources)];
}

/** /resources: the list, and a new API. */
function collectionEndpoints(resources: ResourceAdmin): Endpoint[] {
  return [
    endpoint({
      method: 'get',
      path: '/resources',
      operationId: 'listResources',
      tag: 'APIs',
      needs: ['gatehouse.applications:read'],
      summary: 'The APIs that access tokens are issued for',
      response: z.object({ items: z.array(resource) }),
      handle: async () => ({ body: { items: (await resources.list()).map(resourceJson) } }),
    }),
    endpoint({
      method: 'post',
      path: '/resources',
      operationId: 'createResource',
      tag: 'APIs',
      needs: ['gatehouse.applications:write'],
      summary: 'Registers an API',
      body: declaredResource,
      response: resource,
      status: 201,
      versioned: 'shows',
      idempotent: true,
      async handle({ body: { identifier: name, ...entry }, by, record }) {
        const created = (made: Resource) => ({
          ...answer(made),
          location: `/resources/${encodeURIComponent(made.identifier)}`,
        });
        const input = resourceInput(name, entry);
        return created(await resources.create(input, by, (made, tx) => record(created(made), tx)));
      },
    }),
  ];
}

/** /resources/{identifier}. */
function singleResourceEndpoints(resources: ResourceAdmin): Endpoint[] {
  return [
    endpoint({
      method: 'get',
      path: '/resources/{identifier}',
      operationId: 'getResource',
      tag: 'APIs',
      needs: ['gatehouse.applications:read'],
      summary: 'One API',
      params: byIdentifier,
      response: resource,
      versioned: 'shows',
      handle: async ({ params }) => answer(await resources.get(params.identifier)),
    }),
    endpoint({
      method: 'patch',
      path: '/resources/{identifier}',
      operationId: 'updateResource',
      tag: 'APIs',
      needs: ['gatehouse.applications:write'],
      summary: 'Changes the given fields',
      params: byIdentifier,
      response: resource,
      versioned: 'changes',
      body: z.strictObject({
        scopes: editable.scopes.unwrap().optional(),
        scope_permissions: editable.scope_permissions.unwrap().optional(),
        signing_alg: editable.signing_alg.unwrap().optional(),
      }),
      async handle({ params, body, by, version }) {
        const { scopes, scope_permissions: scopePermissions, signing_alg: signingAlg } = body;
        const changes = {
          ...(scopes && { scopes }),
          ...(scopePermissions && { scopePermissions }),
          ...(signingAlg && { signingAlg }),
        };
        return answer(await resources.update(params.identifier, changes, by, version));
      },
    }),
    endpoint({
      method: 'delete',
      path: '/resources/{identifier}',
      operationId: 'deleteResource',
      tag: 'APIs',
      needs: ['gatehouse.applications:write'],
      summary: 'Deletes the API; no more tokens are issued for it',
      params: byIdentifier,
      versioned: 'changes',
      status: 204,
      handle: async ({ params, by, version }) => void (await resources.remove(params.identifier, by, version)),
    }),
  ];
}

/** An API, with the version for the ETag. */
function answer(one: Resource) {
  return { body: resourceJson(one), version: one };
}

function resourceJson({ identifier: name, scopes, scopePermissions, signingAlg, source }: Resource) {
  return { identifier: name, scopes, scope_permissions: scopePermissions, signing_alg: signingAlg, source };
}
