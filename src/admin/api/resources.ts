// /api/admin/resources: APIs that access tokens are made for.
import { z } from 'zod';
import type { Resource } from '../../applications/resources.ts';
import { resource as declaredResource } from '../../provisioning/schema.ts';
import type { ResourceAdmin } from '../resources.ts';
import { type Endpoint, endpoint } from './endpoint.ts';

const resource = z
  .object({
    identifier: z.string(),
    scopes: z.array(z.string()),
    signing_alg: z.enum(['RS256', 'ES256']),
    source: z.string(),
  })
  .meta({ id: 'Resource' });
const { identifier, ...editable } = declaredResource.shape;
const byIdentifier = z.object({ identifier: z.string().min(1).max(255) });

export function resourceEndpoints(resources: ResourceAdmin): Endpoint[] {
  const shown = (one: Resource) => ({ body: showResource(one), version: one });

  return [
    endpoint({
      ...{
        method: 'get',
        path: '/resources',
        operationId: 'listResources',
        tag: 'APIs',
        needs: ['gatehouse.applications:read'],
      },
      summary: 'The APIs that access tokens are made for',
      response: z.object({ items: z.array(resource) }),
      handle: async () => ({ body: { items: (await resources.list()).map(showResource) } }),
    }),
    endpoint({
      ...{
        method: 'post',
        path: '/resources',
        operationId: 'createResource',
        tag: 'APIs',
        needs: ['gatehouse.applications:write'],
      },
      summary: 'Registers an API',
      ...{ body: declaredResource, response: resource, status: 201, versioned: 'shows', idempotent: true },
      async handle({ body: { signing_alg: signingAlg, ...given }, by }) {
        const made = await resources.create({ ...given, signingAlg }, by);
        return { ...shown(made), location: `/resources/${encodeURIComponent(made.identifier)}` };
      },
    }),
    endpoint({
      ...{
        method: 'get',
        path: '/resources/{identifier}',
        operationId: 'getResource',
        tag: 'APIs',
        needs: ['gatehouse.applications:read'],
      },
      summary: 'One API',
      ...{ params: byIdentifier, response: resource, versioned: 'shows' },
      handle: async ({ params }) => shown(await resources.get(params.identifier)),
    }),
    endpoint({
      ...{ method: 'patch', path: '/resources/{identifier}', operationId: 'updateResource', tag: 'APIs' },
      needs: ['gatehouse.applications:write'],
      summary: 'Changes the given fields',
      ...{ params: byIdentifier, response: resource, versioned: 'changes' },
      body: z.strictObject({
        scopes: editable.scopes.unwrap().optional(),
        signing_alg: editable.signing_alg.unwrap().optional(),
      }),
      async handle({ params, body: { scopes, signing_alg: signingAlg }, by, version }) {
        const changes = { ...(scopes && { scopes }), ...(signingAlg && { signingAlg }) };
        return shown(await resources.update(params.identifier, changes, by, version));
      },
    }),
    endpoint({
      ...{ method: 'delete', path: '/resources/{identifier}', operationId: 'deleteResource', tag: 'APIs' },
      needs: ['gatehouse.applications:write'],
      summary: 'Deletes the API; no more tokens are made for it',
      ...{ params: byIdentifier, versioned: 'changes', status: 204 },
      handle: async ({ params, by, version }) => void (await resources.remove(params.identifier, by, version)),
    }),
  ];
}

function showResource({ identifier: name, scopes, signingAlg, source }: Resource) {
  return { identifier: name, scopes, signing_alg: signingAlg, source };
}
