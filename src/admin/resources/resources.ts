// The APIs (resource servers, RFC 8707) that access tokens are issued for. A change names the version that it is made for, and the row is
// locked meanwhile. A scope that is tied to a permission is meant for its holders, so only an actor who has the permission ties and unties it.

import { z } from 'zod';
import { type Resource as Api, agentSchemas } from '../../applications/resources.ts';
import { accessChange } from '../../applications/rules/field-rights.ts';
import { type Tx, transaction } from '../../base/storage/database.ts';
import { lockRow } from '../../base/storage/row-lock.ts';
import { t } from '../../base/texts/text.ts';
import { resource as declaredResource, resourceInput } from '../../config-file/schema.ts';
import type { Actor } from '../../core/audit/audit.ts';
import { keyAlgs } from '../../core/keys/rotation.ts';
import type { AdminServices } from '../admin-services.ts';
import type { Endpoint } from '../api/endpoint.ts';
import type { OnCreated } from '../api/idempotency.ts';
import { changesOf, givenIn, jsonOf } from '../api/parts.ts';
import { assertVersion, type Expected } from '../api/versions.ts';
import { assertFreshProof } from '../proof/sensitive-changes.ts';
import { answerOf, endpointsOf, type Resource } from '../resource.ts';

/** Scope -> permission. */
type Ties = Readonly<Record<string, string>>;

export type ResourceAdmin = ReturnType<typeof createResourceAdmin>;

/** Changes throw StepUpNeeded, forbidden, precondition_failed for another version, and not_found. */
export function createResourceAdmin(services: AdminServices) {
  const { db, sql, resources, authority } = services;

  async function assertExpected(identifier: string, expected: Expected, tx: Tx): Promise<Api> {
    await lockRow(tx, sql, 'resources', identifier);
    const resource = await resources.get(identifier, tx);
    assertVersion(expected, resource);
    return resource;
  }

  async function assertMayChange(
    before: Api | undefined,
    after: Pick<Api, 'scopePermissions' | 'access'>,
    by: Actor,
    tx: Tx,
  ) {
    await assertMayChangeScopePermissions(before?.scopePermissions ?? {}, after.scopePermissions, by, tx);
    for (const change of accessChange(before, after)) await authority.assertMay(by, change, tx);
  }

  async function assertMayChangeScopePermissions(before: Ties, after: Ties, by: Actor, tx: Tx): Promise<void> {
    const scopes = Object.keys({ ...before, ...after }).filter((scope) => before[scope] !== after[scope]);
    const permissions = scopes.flatMap((scope) => [before[scope] ?? [], after[scope] ?? []].flat());
    await authority.assertMay(by, { what: 'permissions', permissions }, tx);
  }

  return {
    list: resources.list,
    identifiers: resources.identifiers,
    get: resources.get,
    signingAlgs: resources.signingAlgs,
    warningOf: resources.warningOf,

    /** `onCreated` runs in the transaction. */
    create: (resource: Omit<Api, 'source'>, by: Actor, onCreated: OnCreated<Api> = async () => {}): Promise<Api> =>
      transaction(db, async (tx) => {
        await assertMayChange(undefined, resource, by, tx);
        const made = await resources.create(resource, by, tx);
        assertFreshProof(by, 'resource.create', made.identifier);
        await onCreated(made, tx);
        return made;
      }),

    update: (identifier: string, changes: Partial<Api>, by: Actor, expected: Expected = 'any'): Promise<Api> =>
      transaction(db, async (tx) => {
        const before = await assertExpected(identifier, expected, tx);
        await assertMayChange(before, { ...before, ...changes }, by, tx);
        assertFreshProof(by, 'resource.change', identifier);
        return resources.update(identifier, changes, by, tx);
      }),

    remove: (identifier: string, by: Actor, expected: Expected = 'any'): Promise<void> =>
      transaction(db, async (tx) => {
        const before = await assertExpected(identifier, expected, tx);
        // The same API could be registered again for everyone.
        await assertMayChange(before, { scopePermissions: {}, access: 'everyone' }, by, tx);
        assertFreshProof(by, 'resource.delete', identifier);
        await resources.remove(identifier, by, tx);
      }),
  };
}

const schema = z
  .object({
    identifier: z.string(),
    scopes: z.array(z.string()),
    scope_permissions: z
      .record(z.string(), z.string())
      .describe('Scope to the permission that a user needs to get it; a client that acts for itself never gets it'),
    scope_titles: declaredResource.shape.scope_titles,
    signing_alg: z.enum(keyAlgs),
    access: declaredResource.shape.access.describe('which users get tokens for it'),
    ...agentSchemas,
    source: z.enum(['local', 'file']).describe('file: declared in the configuration file'),
  })
  .meta({ id: 'Resource' });
const { identifier: _identifier, ...editable } = declaredResource.shape;

export const apiNoun = (resources: ResourceAdmin): Resource<Api> => ({
  names: ['Resource', 'Resources'],
  tag: 'APIs',
  api: '/resources',
  home: '/admin/apis',
  title: t('console.apis.title'),
  nameOf: ({ identifier }) => identifier,
  declared: { what: 'api', entryOf: ({ identifier, source }) => ({ section: 'resources', name: identifier, source }) },
  params: z.object({ identifier: z.string().min(1).max(255) }),
  read: ['gatehouse.applications:read'],
  write: ['gatehouse.applications:write'],
  keyOf: ({ identifier }) => identifier,
  get: (identifier) => resources.get(identifier),
  schema,
  json: (api) => jsonOf(schema, api, {}),
  version: (api) => api,
});

/** /api/admin/resources. */
export function resourceEndpoints(resources: ResourceAdmin): Endpoint[] {
  const noun = apiNoun(resources);
  const { list, create, get, update, remove } = endpointsOf(noun);
  return [
    list({
      summary: 'The APIs that access tokens are issued for',
      response: z.object({ items: z.array(schema) }),
      handle: async () => ({ items: (await resources.list()).map(noun.json) }),
    }),
    create({
      summary: 'Registers an API',
      body: declaredResource,
      run: ({ identifier, ...entry }, by, onCreated) =>
        resources.create(resourceInput(identifier, entry), by, onCreated),
    }),
    get({ summary: 'One API' }),
    update({
      summary: 'Changes the given fields',
      body: changesOf(editable),
      run: async (identifier, body, by, version) =>
        answerOf(noun, await resources.update(identifier, givenIn(body), by, version)),
    }),
    remove({ summary: 'Deletes the API; no more tokens are issued for it', run: resources.remove }),
  ];
}
