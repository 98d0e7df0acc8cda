// The registry of upstream identity providers, for the console, the API, the command line, the configuration file, and the
// protocols in federation/.
import { conflict, notFound, ownedByFile } from '../../base/http/errors.ts';
import { limits } from '../../base/limits.ts';
import { sha256 } from '../../base/platform/random.ts';
import { isUniqueConstraintError, type Tx, transaction, withinTransaction } from '../../base/storage/database.ts';
import { cacheDirectory } from '../../base/storage/directory-cache.ts';
import { type Fault, fault, faultText, formatPath } from '../../base/texts/faults.ts';
import { t } from '../../base/texts/text.ts';
import { takeConnectionMemberships } from '../../people/groups/groups.ts';
import { takeConnectionRoles } from '../../people/rbac/connection-roles.ts';
import { type Connection, type ConnectionColumns, connectionOf } from './connection.ts';
import { type Change, type ConnectionsContext, recordChange } from './context.ts';
import { type ConnectionDomain, listDomains, setDomains } from './domains.ts';
import type { DeclaredSecret } from './kinds/fields.ts';
import { listMappings, type Mappings, setGroupMappings, setRoleMappings } from './role-mappings.ts';
import { type ConnectionEntry, type ConnectionLists, entryOf, partsOf, type SecretPurpose } from './schema.ts';
import {
  type DecryptedSecret,
  decryptSecrets,
  deleteSecret,
  encryptedSecrets,
  forgetRejection,
  listSecrets,
  replaceSecrets,
  type SecretInfo,
  secretsMatch,
  storeRejection,
  storeSecret,
} from './secrets.ts';

export type Connections = ReturnType<typeof createConnections>;

const ALL = 'all';

/** Every operation on connections. A change joins the transaction of its `change`, or is one of its own. */
export function createConnections(context: ConnectionsContext) {
  const { db, sql } = context;
  const cached = <T>(load: (key: string) => Promise<T>) =>
    cacheDirectory(sql, load, { max: limits.connections.cached });
  const enabled = cached(async () => (await listConnections(db)).filter((one) => one.enabled));
  const secretsInRows = cached((id) => encryptedSecrets(id, db));
  const mappings = cached((id) => listMappings(id, db));
  const readProven = async (tx: Tx) => {
    const domains = await listDomains(undefined, tx);
    return new Map(domains.flatMap(({ domain, connectionId, provenAt }) => (provenAt ? [[domain, connectionId]] : [])));
  };
  const proven = cached(() => readProven(db));
  const findEnabled = async (id: string) => (await enabled(ALL))?.find((one) => one.id === id);

  return {
    /** Every connection, in the order of the buttons; without the rows that another program wrote. */
    list: (tx: Tx = db): Promise<Connection[]> => listConnections(tx),
    find: (id: string, tx: Tx = db): Promise<Connection | undefined> => findConnection(id, tx),
    /** Throws not_found (404). */
    get: (id: string, tx: Tx = db): Promise<Connection> => getConnection(id, tx),
    /** The enabled ones; cached with the directory, so callers must not change them. */
    enabled: async (): Promise<readonly Connection[]> => (await enabled(ALL)) ?? [],
    /** An enabled connection, undefined for any other id; cached. */
    findEnabled,
    /** The enabled connection with this proven domain (ASCII, lower case); cached. */
    async forDomain(domain: string): Promise<Connection | undefined> {
      const id = (await proven(ALL))?.get(domain);
      return id === undefined ? undefined : findEnabled(id);
    },
    /** The proven domains of the connection; cached outside a transaction. */
    async provenDomains(id: string, tx?: Tx): Promise<string[]> {
      const all = [...((await (tx ? readProven(tx) : proven(ALL))) ?? [])];
      return all.flatMap(([domain, connectionId]) => (connectionId === id ? [domain] : []));
    },
    /** The ids of rows that another program wrote. They can only be removed. */
    forgedIds: (): Promise<string[]> => listForged(db),
    create: (entry: ConnectionEntry, change: Change = {}): Promise<Connection> =>
      createConnection(context, entry, change),
    /** Replaces the declaration; secrets that the entry does not name stay. */
    update: (entry: ConnectionEntry, change: Change = {}): Promise<Connection> =>
      updateConnection(context, entry, change),
    /** Why a stored connection cannot become this entry; undefined when it can, or when there is none. */
    async changeFault(entry: ConnectionEntry): Promise<Fault | undefined> {
      const before = await findConnection(entry.id, db);
      return before && changeFault(before, entry, db);
    },
    setEnabled: (id: string, enable: boolean, change: Change = {}): Promise<void> =>
      setEnabled(context, id, enable, change),
    remove: (id: string, change: Change = {}): Promise<void> => removeConnection(context, id, change),
    /** Hands a connection of the configuration file back; false where it owns none of this id. */
    async release(id: string, tx: Tx): Promise<boolean> {
      const data = { source: 'local', updatedAt: context.now() };
      return (await tx.connection.updateMany({ where: { id, source: 'file' }, data })).count > 0;
    },
    /** Without values, newest first. */
    secretInfos: (id: string, tx: Tx = db): Promise<SecretInfo[]> => listSecrets(context, id, tx),
    /** The values to use, the best one first; empty where there is none. Their rows are cached. */
    decryptedSecrets: async (id: string, purpose: SecretPurpose): Promise<DecryptedSecret[]> =>
      decryptSecrets(context, id, purpose, (await secretsInRows(id)) ?? []),
    /** Whether exactly these are stored. */
    secretsMatch: (
      id: string,
      purpose: SecretPurpose,
      declared: readonly DeclaredSecret[],
      tx: Tx = db,
    ): Promise<boolean> => secretsMatch(context, id, purpose, declared, tx),
    addSecret: (
      id: string,
      purpose: SecretPurpose,
      secret: DeclaredSecret,
      { by, tx: outer, source = 'local' }: Change = {},
    ): Promise<SecretInfo> =>
      withinTransaction(db, outer, async (tx) => {
        await getChangeable(id, source, tx);
        const added = await storeSecret(context, id, purpose, secret, tx);
        const data = { secretId: added.id, purpose, expiresAt: added.expiresAt };
        await recordChange(context, 'connection.secret-created', id, tx, by, data);
        return added;
      }),
    removeSecret: (id: string, secretId: string, { by, tx: outer, source = 'local' }: Change = {}): Promise<void> =>
      withinTransaction(db, outer, async (tx) => {
        await getChangeable(id, source, tx);
        await deleteSecret(id, secretId, tx);
        await recordChange(context, 'connection.secret-removed', id, tx, by, { secretId });
      }),
    /** The upstream rejected the secret: it is not sent again, and the administrators are told once. */
    secretRejected: (id: string, secretId: string, rejection: { reason: string; text: string }): Promise<void> =>
      transaction(db, async (tx) => {
        if (!(await storeRejection(context, secretId, rejection, tx))) return;
        const { name, kind } = await getConnection(id, tx);
        const { reason, text: detail } = rejection;
        const data = { connection: id, secretId, detail };
        await context.audit.record({ type: 'connection.secret-rejected', outcome: 'failure', reason, data }, tx);
        await context.notifyAdministrators(
          { kind: 'connection-rejected', connection: name, connectionId: id, detail, isDirectory: kind === 'ldap' },
          tx,
        );
      }),
    /** The upstream accepts a secret that it rejected before. */
    secretAccepted: (_id: string, secretId: string): Promise<void> =>
      transaction(db, (tx) => forgetRejection(secretId, tx)),
    /** Cached for an id; callers must not change them. */
    mappings: async (id: string, tx?: Tx): Promise<Mappings> =>
      tx ? listMappings(id, tx) : ((await mappings(id)) ?? { roleMappings: [], groupMappings: [] }),
    /** What is declared beside the connection. */
    lists: (id: string, tx: Tx = db): Promise<ConnectionLists> => listsOf(id, tx),
    domains: (id?: string, tx: Tx = db): Promise<ConnectionDomain[]> => listDomains(id, tx),
  };
}

// Creates, changes, enables and deletes connections, each with its audit event in one transaction.

/** Throws conflict (409) for a taken id or domain, invalid_input (400) for an unknown role. */
function createConnection(
  context: ConnectionsContext,
  entry: ConnectionEntry,
  { by, tx: outer, source = 'local' }: Change,
): Promise<Connection> {
  return withinTransaction(context.db, outer, async (tx) => {
    const row = rowOf(entry, source);
    const at = context.now();
    await tx.connection.create({ data: { ...row, createdAt: at, updatedAt: at } }).catch((error: unknown) => {
      if (!isUniqueConstraintError(error)) throw error;
      throw conflict('conflict', { message: t('console.connections.fault.exists', { id: entry.id }), cause: error });
    });
    const secrets = await storeRelatedRows(context, entry, { by: by ?? {}, source }, tx);
    const connection = await getConnection(entry.id, tx);
    const after = await declaredParts(connection, tx);
    await recordChange(context, 'connection.created', entry.id, tx, by, { source, after, changedSecrets: secrets });
    return connection;
  });
}

/**
 * Replaces the declaration of a connection; secrets that it does not name stay. The kind and preset stay, and so does the identity
 * of the upstream: a user of another issuer is another user, although the subjects may be equal. Throws conflict (409).
 */
function updateConnection(
  context: ConnectionsContext,
  entry: ConnectionEntry,
  { by, tx: outer, source = 'local' }: Change,
): Promise<Connection> {
  return withinTransaction(context.db, outer, async (tx) => {
    const before = await getChangeable(entry.id, source, tx);
    const old = await declaredParts(before, tx);
    const found = await changeFault(before, entry, tx);
    if (found) throw conflict('conflict', { message: faultText(found, formatPath(found.path)) });
    const row = rowOf(entry, source);
    await tx.connection.update({ where: { id: row.id }, data: { ...row, updatedAt: context.now() } });
    const secrets = await storeRelatedRows(context, entry, { by: by ?? {}, source }, tx);
    if (documentSource(before.settings) !== documentSource(partsOf(entry).settings))
      await tx.connectionDocument.deleteMany({ where: { connectionId: row.id } });
    const connection = await getConnection(row.id, tx);
    const difference = changedFields(old, await declaredParts(connection, tx));
    if (Object.keys(difference.after).length > 0 || secrets.length > 0)
      await recordChange(context, 'connection.updated', row.id, tx, by, { ...difference, changedSecrets: secrets });
    return connection;
  });
}

/** Nothing happens when the connection is in that state already. */
function setEnabled(
  context: ConnectionsContext,
  id: string,
  enabled: boolean,
  { by, tx: outer, source = 'local' }: Change,
): Promise<void> {
  return withinTransaction(context.db, outer, async (tx) => {
    const before = await getChangeable(id, source, tx);
    if (before.enabled === enabled) return;
    await tx.connection.update({ where: { id }, data: { enabled, updatedAt: context.now() } });
    await recordChange(context, enabled ? 'connection.enabled' : 'connection.disabled', id, tx, by);
  });
}

/** Also removes its secrets, domains, mappings and the links of users to it. A row that another program wrote can be removed, too. */
function removeConnection(
  context: ConnectionsContext,
  id: string,
  { by, tx: outer, source = 'local' }: Change,
): Promise<void> {
  return withinTransaction(context.db, outer, async (tx) => {
    const row = await tx.asStored.connection.findUnique({ where: { id } });
    if (!row) throw notFound({ message: t('console.connections.fault.missing', { id }) });
    const isGenuine = (await findConnection(id, tx)) !== undefined;
    const before = isGenuine ? await getChangeable(id, source, tx) : undefined;
    const old = before && (await declaredParts(before, tx));
    await takeConnectionRoles(context, id, by ?? {}, tx);
    await takeConnectionMemberships(context, id, by ?? {}, tx);
    await tx.connection.delete({ where: { id }, select: { id: true } });
    await recordChange(context, 'connection.deleted', id, tx, by, { name: row.name, before: old ?? null });
  });
}

/** The connection, when a change from `source` may touch it; throws owned_by_file (403) or not_found (404). */
async function getChangeable(id: string, source: 'local' | 'file', tx: Tx): Promise<Connection> {
  const connection = await getConnection(id, tx);
  if (connection.source === 'file' && source !== 'file') throw ownedByFile('connection', connection);
  return connection;
}

/** The whole declaration without secrets, for the audit log: metadata as a hash. */
async function declaredParts(connection: Connection, tx: Tx): Promise<Record<string, unknown>> {
  const { id, metadata, ...entry } = entryOf(connection, await listsOf(connection.id, tx));
  const document = typeof metadata === 'string' && `${metadata.length} characters, SHA-256 ${sha256(metadata)}`;
  return { ...entry, source: connection.source, ...(document && { metadata: document }) };
}

async function listsOf(id: string, tx: Tx): Promise<ConnectionLists> {
  return { domains: await listDomains(id, tx), ...(await listMappings(id, tx)) };
}

async function storeRelatedRows(
  context: ConnectionsContext,
  entry: ConnectionEntry,
  change: { by: Change['by']; source: Change['source'] },
  tx: Tx,
): Promise<SecretPurpose[]> {
  const { id, domains, roleMappings, groupMappings, secrets } = partsOf(entry);
  await setDomains(context, id, domains, { isDeclared: change.source === 'file' }, tx);
  await setRoleMappings(context, id, roleMappings, change, tx);
  await setGroupMappings(context, id, groupMappings, change, tx);
  const changed: SecretPurpose[] = [];
  for (const [purpose, values] of Object.entries(secrets) as [
    SecretPurpose,
    NonNullable<(typeof secrets)[SecretPurpose]>,
  ][])
    if (await replaceSecrets(context, id, purpose, values, tx)) changed.push(purpose);
  return changed;
}

function rowOf(entry: ConnectionEntry, source: string): ConnectionColumns {
  const { id, kind, preset, name, enabled, order: position, settings } = partsOf(entry);
  return { id, kind, preset, name, enabled, position, settings: JSON.stringify(settings), source };
}

/** Why the declaration of `before` cannot become `entry`; undefined when it can. */
async function changeFault(before: Connection, entry: ConnectionEntry, tx: Tx): Promise<Fault | undefined> {
  const { kind, preset, settings } = partsOf(entry);
  const other = before.kind !== kind ? 'kind' : before.preset !== preset ? 'preset' : undefined;
  if (other !== undefined) return fault([other], 'fixed');
  const field = identityFields.find((name) => pick(before.settings, [name]) !== pick(settings, [name]));
  if (field === undefined) return undefined;
  // Subjects are unique within an issuer only: another one could name any user of this connection.
  if ((await tx.externalIdentity.count({ where: { connectionId: before.id } })) === 0) return undefined;
  return fault([field], 'linked');
}

const identityFields = ['issuer', 'entity_id', 'subject_claim', 'subject_attribute', 'base_dn', 'userinfo_url'];
const documentFields = ['issuer', 'discovery_url', 'metadata_url', 'metadata', 'metadata_certificate', 'entity_id'];

function documentSource(settings: object): string {
  return pick(settings, documentFields);
}

function pick(settings: object, fields: readonly string[]): string {
  return JSON.stringify(fields.map((field) => (settings as Record<string, unknown>)[field] ?? null));
}

function changedFields(old: Record<string, unknown>, now: Record<string, unknown>) {
  const fields = [...new Set([...Object.keys(old), ...Object.keys(now)])];
  const different = fields.filter((field) => JSON.stringify(old[field]) !== JSON.stringify(now[field]));
  const of = (from: Record<string, unknown>) =>
    Object.fromEntries(different.map((field) => [field, from[field] ?? null]));
  return { before: of(old), after: of(now) };
}

// Reads connections. A row whose MAC is wrong is no connection: it raises an alarm and nobody signs in by it.

/** Every connection that this server wrote, in the order of the buttons. */
async function listConnections(tx: Tx): Promise<Connection[]> {
  return (await tx.connection.findMany({ orderBy: [{ position: 'asc' }, { id: 'asc' }] })).map(connectionOf);
}

/** The ids of the rows that another program wrote. */
async function listForged(tx: Tx): Promise<string[]> {
  const genuine = new Set((await tx.connection.findMany({ select: { id: true } })).map(({ id }) => id));
  const stored = await tx.asStored.connection.findMany({ select: { id: true }, orderBy: { id: 'asc' } });
  return stored.map(({ id }) => id).filter((id) => !genuine.has(id));
}

async function findConnection(id: string, tx: Tx): Promise<Connection | undefined> {
  const row = await tx.connection.findUnique({ where: { id } });
  return row ? connectionOf(row) : undefined;
}

/** Throws not_found (404). */
async function getConnection(id: string, tx: Tx): Promise<Connection> {
  const connection = await findConnection(id, tx);
  if (!connection) throw notFound({ message: t('console.connections.fault.missing', { id }) });
  return connection;
}
