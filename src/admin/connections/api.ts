// /api/admin/connections: the upstream identity providers at which users sign in. docs/connections.md describes every field.
import { z } from 'zod';
import { ownedByFile } from '../../base/http/errors.ts';
import { present } from '../../base/platform/defined.ts';
import { t } from '../../base/texts/text.ts';
import { type ConnectionKind, connectionKinds } from '../../federation/connections/connection.ts';
import { presets } from '../../federation/connections/presets/presets.ts';
import { entrySchemas, type SecretPurpose, secretPurposeByField } from '../../federation/connections/schema.ts';
import type { SecretInfo } from '../../federation/connections/secrets.ts';
import { fieldsOf, type JsonSchema, mergePatchOf } from '../api/described-bodies.ts';
import type { Endpoint } from '../api/endpoint.ts';
import type { OnCreated } from '../api/idempotency.ts';
import { domainCheck, domainProof, domainProofJson, done, iso, jsonOf, time } from '../api/parts.ts';
import { answerOf, createdAnswerOf, endpointsOf, type Resource } from '../resource.ts';
import { type ConnectionAdmin, type ConnectionDetails, connectionVersion } from './actions.ts';

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
  const ids = vendors.map(({ id }) => id);
  const hasOtherKinds = (id: string) => presets().some((one) => one.id === id && one.kind !== kind);
  const ofOneKind = ids.filter((id) => !hasOtherKinds(id));
  const ofSeveral = ids.filter(hasOtherKinds);
  return {
    type: 'object',
    properties: {
      ...properties,
      preset: { type: 'string', enum: [...new Set(['generic', ...ids])], default: 'generic' },
    },
    additionalProperties: false,
    anyOf: present([
      { properties: { preset: { const: 'generic' } }, required },
      ofOneKind.length > 0 && { properties: { preset: { enum: ofOneKind } }, required: ['preset', ...left] },
      ofSeveral.length > 0 && { properties: { preset: { enum: ofSeveral } }, required: ['preset', 'kind', ...left] },
    ]),
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
    group_mappings: mappings.optional().describe('Group of the upstream to a group, or to several'),
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
    group_mappings: z.record(z.string(), z.array(z.string())),
    values: z.record(z.string(), z.string()).describe('What to enter at the provider, such as redirect_uri'),
    secrets: z.array(secret).describe('Without their values'),
    domain_proofs: z.array(domainProof),
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

/** One more secret of a connection. */
export const newSecret = z.strictObject({
  purpose: z.enum(purposes),
  value: z.string().min(1).max(16_384),
  expires_at: z.iso
    .datetime({ offset: true })
    .or(z.iso.date())
    .optional()
    .describe('When it ends at the provider, for warnings'),
});

export const connectionNoun = (connections: ConnectionAdmin): Resource<ConnectionDetails> => ({
  names: ['Connection', 'Connections'],
  tag: 'Connections',
  api: '/connections',
  home: '/admin/connections',
  title: t('console.navigation.connections'),
  nameOf: ({ connection }) => connection.name,
  declared: {
    what: 'connection',
    entryOf: ({ connection: { id, source } }) => ({ section: 'connections', name: id, source }),
  },
  params: byConnection,
  read: ['gatehouse.connections:read'],
  write: ['gatehouse.connections:write'],
  keyOf: ({ connection: { id } }) => id,
  get: connections.get,
  async getForChange(id) {
    const details = await connections.get(id);
    if (details.connection.source === 'file') throw ownedByFile('connection', details.connection);
    return details;
  },
  schema: connection,
  json: connectionJson,
  version: connectionVersion,
});

/** /api/admin/connections. */
export function connectionEndpoints(connections: ConnectionAdmin): Endpoint[] {
  const noun = connectionNoun(connections);
  const { list, create, get, update, remove, action } = endpointsOf(noun);

  /** The result of a trial, where there is one. */
  const trialOf = async (one: ConnectionDetails['connection']) => {
    const result = await connections.tryNow(one);
    return result ? { trial: { outcome: result.outcome, error: result.error ?? null } } : {};
  };
  /** A saved connection, after it was tried: a rejected secret is among its secrets then. */
  const tried = async ({ connection: one }: ConnectionDetails) => {
    const result = await trialOf(one);
    const { body, ...rest } = answerOf(noun, await connections.get(one.id));
    return { body: { ...body, ...result }, ...rest };
  };

  return [
    list({
      summary: 'The upstream identity providers, in the order of the buttons',
      response: z.object({ items: z.array(connection) }),
      handle: async () => ({ items: (await connections.list()).map(connectionJson) }),
    }),
    create({
      summary: 'Adds an upstream identity provider',
      description: 'Only full administrators: anyone who controls an upstream can sign in as every one of its users.',
      body: input,
      response: triedConnection,
      run: connections.create,
      // Only what is stored counts for a repeated request: a trial writes, too.
      answer: async (made: ConnectionDetails, tx) => ({
        ...createdAnswerOf(noun, made),
        ...(!tx && (await tried(made))),
      }),
    }),
    get({ summary: 'One upstream identity provider' }),
    update({
      summary: 'Changes the given fields',
      description: 'A secret that is given replaces all stored ones of its kind; to keep them, add one below /secrets.',
      body: changes,
      response: triedConnection,
      run: async (...change) => tried(await connections.update(...change)),
    }),
    remove({ summary: 'Deletes it, with the links of users to it', run: connections.remove }),
    action('addConnectionSecret', 'POST /secrets', {
      summary: 'Stores one more secret; it is used from now on',
      body: newSecret,
      response: secret.extend({ trial }),
      status: 201,
      idempotent: true,
      async run({ key, body: { purpose, ...given }, by, record }) {
        const onCreated: OnCreated<SecretInfo> = (one, tx) => record({ body: secretJson(one) }, tx);
        const added = await connections.addSecret(key, purpose, given, by, onCreated);
        const result = await trialOf((await connections.get(key)).connection);
        const stored = (await connections.get(key)).secrets.find(({ id }) => id === added.id) ?? added;
        return { body: { ...secretJson(stored), ...result } };
      },
    }),
    action('removeConnectionSecret', 'DELETE /secrets/{secret}', {
      summary: 'Removes a secret',
      params: byConnection.extend({ secret: z.string().min(1).max(64) }),
      status: 204,
      run: async ({ key, params: { secret: one = '' }, by }) => void (await connections.removeSecret(key, one, by)),
    }),
    action('checkConnectionDomain', 'POST /domains/{domain}/check', {
      summary: 'Looks up the DNS record of a domain now',
      params: byConnection.extend({ domain: z.string().min(1).max(253) }),
      response: domainCheck,
      run: async ({ key, params, by }) => ({
        body: { result: await connections.checkDomain(key, params.domain ?? '', by) },
      }),
    }),
    action('refreshConnectionDocuments', 'POST /documents/refresh', {
      summary: 'Reads discovery, JWKS or metadata again now',
      response: z.object({ items: z.array(z.object({ kind: z.string(), error: z.string().nullable() })) }),
      async run({ key, by }) {
        const items = await connections.readDocuments(key, by);
        return { body: { items: items.map(({ kind, error }) => ({ kind, error: error ? String(error) : null })) } };
      },
    }),
    action('endConnectionSessions', 'POST /sessions/end', {
      summary: 'Ends every session that began at this upstream',
      response: done,
      async run({ key, by }) {
        await connections.endSessions(key, by);
        return { body: { done: true as const } };
      },
    }),
  ];
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
    group_mappings: entry.group_mappings as Record<string, string[]>,
    values: Object.fromEntries(values.map(({ key, value }) => [key, value])),
    secrets: secrets.map(secretJson),
    domain_proofs: domains.map(domainProofJson),
    documents: documents.map((one) =>
      jsonOf(document, one, {
        read_at: one.hasContent ? iso(one.readAt) : null,
        error: one.lastError && String(one.lastError),
      }),
    ),
  };
}

const secretJson = (one: SecretInfo) => jsonOf(secret, one, {});
