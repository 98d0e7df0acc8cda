// /api/admin/connections: the upstream identity providers at which users sign in. docs/connections.md describes every field.
import { z } from 'zod';
import type { Actor } from '../../core/audit/audit.ts';
import { type ConnectionKind, connectionKinds } from '../../federation/connections/connection.ts';
import { presets } from '../../federation/connections/presets/presets.ts';
import { entrySchemas, type SecretPurpose, secretPurposeByField } from '../../federation/connections/schema.ts';
import type { SecretInfo } from '../../federation/connections/secrets.ts';
import { fieldsOf, type JsonSchema, mergePatchOf } from '../api/described-bodies.ts';
import { type Endpoint, endpoint } from '../api/endpoint.ts';
import { done, iso, time } from '../api/parts.ts';
import type { ConnectionAdmin } from './actions.ts';
import { type ConnectionDetails, connectionVersion } from './manageable-connections.ts';

const READ = 'gatehouse.connections:read' as const;
const WRITE = 'gatehouse.connections:write' as const;
const tag = 'Connections';
const purposes = Object.values(secretPurposeByField) as [SecretPurpose, ...SecretPurpose[]];

/** The fields of each kind; a file beside the configuration file is none of the API. */
const shapes = connectionKinds.map((kind) => {
  const { metadata_file: _file, ...shape } = { metadata_file: undefined, ...entrySchemas[kind].shape };
  return { kind, shape };
});

/** An entry of one kind: with a vendor's preset only what that does not fill in is required, and the kind where it has several. */
function entryOf(kind: ConnectionKind, shape: z.core.$ZodShape): JsonSchema {
  const { properties, required } = fieldsOf(shape);
  const vendors = presets().filter((one) => one.kind === kind && one.id !== 'generic');
  const left = required.filter((field) => field !== 'kind' && !vendors.some(({ defaults }) => field in defaults({})));
  const kindsOf = (id: string) => presets().filter((one) => one.id === id).length;
  const ofVendors = (ids: string[], more: string[]) =>
    ids.length === 0 ? [] : [{ properties: { preset: { enum: ids } }, required: ['preset', ...more, ...left] }];
  const ids = vendors.map(({ id }) => id);
  return {
    type: 'object',
    properties: {
      ...properties,
      preset: { type: 'string', enum: [...new Set(['generic', ...ids])], default: 'generic' },
    },
    additionalProperties: false,
    anyOf: [
      { properties: { preset: { const: 'generic' } }, required },
      ...ofVendors(
        ids.filter((id) => kindsOf(id) === 1),
        [],
      ),
      ...ofVendors(
        ids.filter((id) => kindsOf(id) > 1),
        ['kind'],
      ),
    ],
  };
}

const mappings = z.record(z.string(), z.union([z.string(), z.array(z.string())]));
const input = z
  .looseObject({
    id: z.string().describe('The slug in its routes: a-z, 0-9 and -'),
    kind: z.enum(connectionKinds).optional().describe('Not needed where the preset has one kind only'),
    preset: z.string().optional().describe('Such as google, entra, github or keycloak; generic by default'),
    name: z.string().describe('On the button'),
    enabled: z.boolean().optional(),
    domains: z.array(z.string()).optional().describe('Each has to be proven by a DNS record'),
    role_mappings: mappings.optional().describe('Group of the upstream to a role, or to several'),
  })
  .describe('Further fields by kind and preset: docs/connections.md')
  .meta({ id: 'ConnectionInput', anyOf: shapes.map(({ kind, shape }) => entryOf(kind, shape)) });
const changes = z
  .looseObject({})
  .describe('The fields to change, as in ConnectionInput; null gives a field its default')
  .meta({ id: 'ConnectionChanges', anyOf: shapes.map(({ shape }) => mergePatchOf(shape)) });
const secret = z
  .object({
    id: z.string(),
    purpose: z.enum(purposes),
    created_at: time,
    expires_at: time.nullable(),
    rejected_at: time.nullable().describe('When the provider rejected it, since when it is not sent'),
    rejected_text: z.string().nullable().describe('What the provider answered then'),
  })
  .meta({ id: 'ConnectionSecret' });
const domain = z
  .object({
    domain: z.string(),
    record_name: z.string().describe('Where the TXT record is looked up'),
    record_value: z.string().describe('What it must be'),
    proven_at: time.nullable(),
    checked_at: time.nullable(),
  })
  .meta({ id: 'ConnectionDomain' });
const document = z
  .object({
    kind: z.enum(['discovery', 'jwks', 'metadata']),
    read_at: time.nullable(),
    next_read_at: time,
    failing_since: time.nullable(),
    error: z.string().nullable(),
  })
  .meta({ id: 'ConnectionDocument' });
const connection = z
  .looseObject({
    id: z.string(),
    kind: z.enum(connectionKinds),
    preset: z.string(),
    name: z.string(),
    enabled: z.boolean(),
    order: z.int(),
    source: z.enum(['local', 'file']),
    domains: z.array(z.string()),
    role_mappings: z.record(z.string(), z.array(z.string())),
    values: z.record(z.string(), z.string()).describe('What to enter at the provider, such as redirect_uri'),
    secrets: z.array(secret).describe('Without their values'),
    domain_proofs: z.array(domain),
    documents: z.array(document),
  })
  .meta({ id: 'Connection' });
const trial = z
  .object({
    outcome: z
      .enum(['accepted', 'rejected', 'unknown'])
      .describe('`unknown`: it did not answer, or its answer says nothing about the secret'),
    error: z.string().nullable().describe('What was wrong, in its words or in those of the network'),
  })
  .optional()
  .describe(
    'Whether the provider accepts the client ID and secret, or the directory its settings; absent where that cannot be tried',
  )
  .meta({ id: 'ConnectionTrial' });
const triedConnection = connection.extend({ trial });
const byConnection = z.object({ id: z.string().min(1).max(64) });

/** /connections. */
export function connectionEndpoints(connections: ConnectionAdmin): Endpoint[] {
  return [
    ...collectionEndpoints(connections),
    ...singleEndpoints(connections),
    ...secretEndpoints(connections),
    ...maintenanceEndpoints(connections),
  ];
}

function collectionEndpoints(connections: ConnectionAdmin): Endpoint[] {
  return [
    endpoint({
      method: 'get',
      path: '/connections',
      operationId: 'listConnections',
      tag,
      needs: [READ],
      summary: 'The upstream identity providers, in the order of the buttons',
      response: z.object({ items: z.array(connection) }),
      handle: async () => ({ body: { items: (await connections.list()).map(connectionJson) } }),
    }),
    endpoint({
      method: 'post',
      path: '/connections',
      operationId: 'createConnection',
      tag,
      needs: [WRITE],
      summary: 'Adds an upstream identity provider',
      description: 'Only full administrators: anyone who controls an upstream can sign in as every one of its users.',
      body: input,
      response: triedConnection,
      status: 201,
      versioned: 'shows',
      idempotent: true,
      async handle({ body, by, record }) {
        const created = (made: ConnectionDetails) => ({
          ...answer(made),
          location: `/connections/${made.connection.id}`,
        });
        const { id } = (await connections.create(body, by, (made, tx) => record(created(made), tx))).connection;
        return { ...(await triedAnswer(connections, id, by)), location: `/connections/${id}` };
      },
    }),
  ];
}

function singleEndpoints(connections: ConnectionAdmin): Endpoint[] {
  const path = '/connections/{id}';
  return [
    endpoint({
      method: 'get',
      path,
      operationId: 'getConnection',
      tag,
      needs: [READ],
      summary: 'One upstream identity provider',
      params: byConnection,
      response: connection,
      versioned: 'shows',
      handle: async ({ params }) => answer(await connections.get(params.id)),
    }),
    endpoint({
      method: 'patch',
      path,
      operationId: 'updateConnection',
      tag,
      needs: [WRITE],
      summary: 'Changes the given fields',
      description: 'A secret that is given replaces all stored ones of its kind; to keep them, add one below /secrets.',
      params: byConnection,
      body: changes,
      response: triedConnection,
      versioned: 'changes',
      async handle({ params, body, by, version }) {
        await connections.update(params.id, body, by, version);
        return triedAnswer(connections, params.id, by);
      },
    }),
    endpoint({
      method: 'delete',
      path,
      operationId: 'deleteConnection',
      tag,
      needs: [WRITE],
      summary: 'Deletes it, with the links of users to it',
      params: byConnection,
      versioned: 'changes',
      status: 204,
      handle: async ({ params, by, version }) => void (await connections.remove(params.id, by, version)),
    }),
  ];
}

function secretEndpoints(connections: ConnectionAdmin): Endpoint[] {
  const path = '/connections/{id}/secrets';
  return [
    endpoint({
      method: 'post',
      path,
      operationId: 'addConnectionSecret',
      tag,
      needs: [WRITE],
      summary: 'Stores one more secret; it is used from now on',
      params: byConnection,
      body: z.strictObject({
        purpose: z.enum(purposes),
        value: z.string().min(1).max(16_384),
        expires_at: z.iso.datetime({ offset: true }).optional().describe('When it ends at the provider, for warnings'),
      }),
      response: secret.extend({ trial }),
      status: 201,
      idempotent: true,
      async handle({ params, body: { purpose, ...given }, by, record }) {
        const answerOf = (one: SecretInfo) => ({ body: secretJson(one) });
        const onCreated = (one: SecretInfo, tx: Parameters<typeof record>[1]) => record(answerOf(one), tx);
        const added = await connections.addSecret(params.id, purpose, given, by, onCreated);
        const trialed = await trialJson(connections, params.id, by);
        const stored = (await connections.get(params.id)).secrets.find(({ id }) => id === added.id) ?? added;
        return { body: { ...secretJson(stored), ...trialed } };
      },
    }),
    endpoint({
      method: 'delete',
      path: `${path}/{secret}`,
      operationId: 'removeConnectionSecret',
      tag,
      needs: [WRITE],
      summary: 'Removes a secret',
      params: byConnection.extend({ secret: z.string().min(1).max(64) }),
      status: 204,
      handle: async ({ params, by }) => void (await connections.removeSecret(params.id, params.secret, by)),
    }),
  ];
}

function maintenanceEndpoints(connections: ConnectionAdmin): Endpoint[] {
  return [
    endpoint({
      method: 'post',
      path: '/connections/{id}/domains/{domain}/check',
      operationId: 'checkConnectionDomain',
      tag,
      needs: [WRITE],
      summary: 'Looks up the DNS record of a domain now',
      params: byConnection.extend({ domain: z.string().min(1).max(253) }),
      response: z.object({ result: z.enum(['proven', 'missing', 'unreachable']) }),
      handle: async ({ params, by }) => ({
        body: { result: await connections.checkDomain(params.id, params.domain, by) },
      }),
    }),
    endpoint({
      method: 'post',
      path: '/connections/{id}/documents/refresh',
      operationId: 'refreshConnectionDocuments',
      tag,
      needs: [WRITE],
      summary: 'Reads discovery, JWKS or metadata again now',
      params: byConnection,
      response: z.object({ items: z.array(z.object({ kind: z.string(), error: z.string().nullable() })) }),
      async handle({ params, by }) {
        const items = await connections.readDocuments(params.id, by);
        return { body: { items: items.map(({ kind, error }) => ({ kind, error: error ? String(error) : null })) } };
      },
    }),
    endpoint({
      method: 'post',
      path: '/connections/{id}/sessions/end',
      operationId: 'endConnectionSessions',
      tag,
      needs: [WRITE],
      summary: 'Ends every session that began at this upstream',
      params: byConnection,
      response: done,
      async handle({ params, by }) {
        await connections.endSessions(params.id, by);
        return { body: { done: true as const } };
      },
    }),
  ];
}

/** The result of a trial, where there is one. */
async function trialJson(connections: ConnectionAdmin, id: string, by: Actor) {
  const result = await connections.tryNow(id, by);
  return result ? { trial: { outcome: result.outcome, error: result.error ?? null } } : {};
}

/** A saved connection, after it was tried: a rejected secret is among its secrets then. */
async function triedAnswer(connections: ConnectionAdmin, id: string, by: Actor) {
  const result = await trialJson(connections, id, by);
  const { body, version } = answer(await connections.get(id));
  return { body: { ...body, ...result }, version };
}

/** A connection, with the version for the ETag. */
function answer(details: ConnectionDetails) {
  return { body: connectionJson(details), version: connectionVersion(details) };
}

function connectionJson({ connection: one, entry, secrets, domains, documents, values }: ConnectionDetails) {
  return {
    ...entry,
    kind: one.kind,
    preset: one.preset,
    name: one.name,
    enabled: one.enabled,
    order: one.position,
    source: one.source,
    domains: entry.domains as string[],
    role_mappings: entry.role_mappings as Record<string, string[]>,
    values: Object.fromEntries(values.map(({ key, value }) => [key, value])),
    secrets: secrets.map(secretJson),
    domain_proofs: domains.map(({ domain: name, record, provenAt, checkedAt }) => ({
      domain: name,
      record_name: record.name,
      record_value: record.value,
      proven_at: iso(provenAt),
      checked_at: iso(checkedAt),
    })),
    documents: documents.map(({ kind, hasContent, readAt, nextReadAt, failingSince, lastError }) => ({
      kind,
      read_at: hasContent ? iso(readAt) : null,
      next_read_at: iso(nextReadAt),
      failing_since: iso(failingSince),
      error: lastError && String(lastError),
    })),
  };
}

function secretJson({ id, purpose, createdAt, expiresAt, rejectedAt, rejectedText }: SecretInfo) {
  const rejection = { rejected_at: iso(rejectedAt), rejected_text: rejectedText };
  return { id, purpose, created_at: iso(createdAt), expires_at: iso(expiresAt), ...rejection };
}
