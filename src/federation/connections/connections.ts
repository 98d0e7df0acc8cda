// The registry of upstream identity providers, for the console, the API, the command line, the configuration file, and the
// protocols in federation/.
import { limits } from '../../base/limits.ts';
import { type Tx, transaction, withinTransaction } from '../../base/storage/database.ts';
import { cacheDirectory } from '../../base/storage/directory-cache.ts';
import type { Connection } from './connection.ts';
import { type Change, type ConnectionsContext, recordChange } from './context.ts';
import { type ConnectionDomain, listDomains } from './domains.ts';
import type { DeclaredSecret } from './kinds/fields.ts';
import { findConnection, getConnection, listConnections, listForged } from './read.ts';
import { listRoleMappings, type RoleMapping } from './role-mappings.ts';
import type { ConnectionEntry, SecretPurpose } from './schema.ts';
import {
  type DecryptedSecret,
  decryptSecrets,
  deleteSecret,
  encryptedSecrets,
  forgetRejection,
  listSecrets,
  type SecretInfo,
  secretsMatch,
  storeRejection,
  storeSecret,
} from './secrets.ts';
import {
  type ChangeFault,
  changeFault,
  createConnection,
  getChangeable,
  removeConnection,
  setEnabled,
  updateConnection,
} from './write.ts';

export type Connections = ReturnType<typeof createConnections>;

const ALL = 'all';

/** Every operation on connections. A change joins the transaction of its `change`, or is one of its own. */
export function createConnections(context: ConnectionsContext) {
  const { db, sql } = context;
  const cached = <T>(load: (key: string) => Promise<T>) =>
    cacheDirectory(sql, load, { max: limits.connections.cached });
  const enabled = cached(async () => (await listConnections(context, db)).filter((one) => one.enabled));
  const secretsInRows = cached((id) => encryptedSecrets(id, db));
  const mappings = cached((id) => listRoleMappings(context, id, db));
  const readProven = async (tx: Tx) => {
    const domains = await listDomains(context, undefined, tx);
    return new Map(domains.flatMap(({ domain, connectionId, provenAt }) => (provenAt ? [[domain, connectionId]] : [])));
  };
  const proven = cached(() => readProven(db));
  const findEnabled = async (id: string) => (await enabled(ALL))?.find((one) => one.id === id);

  return {
    /** Every connection, in the order of the buttons; without the rows that another program wrote. */
    list: (tx: Tx = db): Promise<Connection[]> => listConnections(context, tx),
    find: (id: string, tx: Tx = db): Promise<Connection | undefined> => findConnection(context, id, tx),
    /** Throws not_found (404). */
    get: (id: string, tx: Tx = db): Promise<Connection> => getConnection(context, id, tx),
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
    forgedIds: (): Promise<string[]> => listForged(context, db),
    create: (entry: ConnectionEntry, change: Change = {}): Promise<Connection> =>
      createConnection(context, entry, change),
    /** Replaces the declaration; secrets that the entry does not name stay. */
    update: (entry: ConnectionEntry, change: Change = {}): Promise<Connection> =>
      updateConnection(context, entry, change),
    /** Why a stored connection cannot become this entry; undefined when it can, or when there is none. */
    async changeFault(entry: ConnectionEntry): Promise<ChangeFault | undefined> {
      const before = await findConnection(context, entry.id, db);
      return before && changeFault(before, entry, db);
    },
    setEnabled: (id: string, enable: boolean, change: Change = {}): Promise<void> =>
      setEnabled(context, id, enable, change),
    remove: (id: string, change: Change = {}): Promise<void> => removeConnection(context, id, change),
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
        await getChangeable(context, id, source, tx);
        const added = await storeSecret(context, id, purpose, secret, tx);
        const data = { secretId: added.id, purpose, expiresAt: added.expiresAt };
        await recordChange(context, 'connection.secret-created', id, tx, by, data);
        return added;
      }),
    removeSecret: (id: string, secretId: string, { by, tx: outer, source = 'local' }: Change = {}): Promise<void> =>
      withinTransaction(db, outer, async (tx) => {
        await getChangeable(context, id, source, tx);
        await deleteSecret(id, secretId, tx);
        await recordChange(context, 'connection.secret-removed', id, tx, by, { secretId });
      }),
    /** The upstream rejected the secret: it is not sent again, and the administrators are told once. */
    secretRejected: (id: string, secretId: string, rejection: { reason: string; text: string }): Promise<void> =>
      transaction(db, async (tx) => {
        if (!(await storeRejection(context, secretId, rejection, tx))) return;
        const { name, kind } = await getConnection(context, id, tx);
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
    roleMappings: async (id: string, tx?: Tx): Promise<readonly RoleMapping[]> =>
      tx ? listRoleMappings(context, id, tx) : ((await mappings(id)) ?? []),
    domains: (id?: string, tx: Tx = db): Promise<ConnectionDomain[]> => listDomains(context, id, tx),
  };
}
