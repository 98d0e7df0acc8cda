// Changes of connections to upstream identity providers. Only full administrators make them, with a fresh sign-in: who controls an
// upstream can be any of its users.

import { formatPath } from '../../applications/validation.ts';
import type { Actor } from '../../audit/audit.ts';
import type { DomainCheck, DomainChecks } from '../../connections/check-domains.ts';
import type { Connection } from '../../connections/connection.ts';
import type { Connections } from '../../connections/connections.ts';
import type { ParseMetadata } from '../../connections/document-checks.ts';
import type { ConnectionDocuments, DocumentState } from '../../connections/documents.ts';
import type { ConnectionDomain } from '../../connections/domains.ts';
import { type DeclaredConnection, entryOf } from '../../connections/entry.ts';
import type { DeclaredSecret } from '../../connections/kinds/fields.ts';
import { type PasteValue, pasteValuesOf } from '../../connections/paste-values.ts';
import {
  type ConnectionEntry,
  checkConnection,
  type SecretPurpose,
  secretPurposesOf,
} from '../../connections/schema.ts';
import type { SecretInfo } from '../../connections/secrets.ts';
import { badRequest, forbidden } from '../../http/errors.ts';
import type { EndSession } from '../../logout/end-session.ts';
import type { Authority } from '../../rbac/authority.ts';
import { type Db, type Tx, transaction } from '../../storage/database.ts';
import { lockRow } from '../../storage/row-lock.ts';
import type { Sql } from '../../storage/statements.ts';
import type { OnCreated } from '../api/idempotency.ts';
import { assertVersion, type Expected } from '../api/versions.ts';
import { assertFreshProof } from '../proof/sensitive-changes.ts';

export interface ConnectionDetails {
  connection: Connection;
  /** Without secrets. */
  entry: DeclaredConnection;
  secrets: SecretInfo[];
  domains: ConnectionDomain[];
  documents: DocumentState[];
  /** What the administrator pastes at the vendor. */
  values: PasteValue[];
}

export interface ConnectionAdmin {
  list(): Promise<ConnectionDetails[]>;
  /** Throws not_found (404). */
  get(id: string): Promise<ConnectionDetails>;
  /** The ids of rows that another program wrote; they can only be removed. */
  forged(): Promise<string[]>;
  /** `onCreated` runs in the transaction. */
  create(
    input: Record<string, unknown>,
    by: Actor,
    onCreated?: OnCreated<ConnectionDetails>,
  ): Promise<ConnectionDetails>;
  /** Changes the given fields; null gives a field its default. */
  update(id: string, changes: Record<string, unknown>, by: Actor, expected?: Expected): Promise<ConnectionDetails>;
  setEnabled(id: string, enabled: boolean, by: Actor): Promise<void>;
  remove(id: string, by: Actor, expected?: Expected): Promise<void>;
  addSecret(
    id: string,
    purpose: SecretPurpose,
    secret: DeclaredSecret,
    by: Actor,
    onCreated?: OnCreated<SecretInfo>,
  ): Promise<SecretInfo>;
  removeSecret(id: string, secretId: string, by: Actor): Promise<void>;
  checkDomain(id: string, domain: string, by: Actor): Promise<DomainCheck>;
  /** Reads its documents now; the fault of each. */
  readDocuments(id: string, by: Actor): Promise<{ kind: string; error: string | undefined }[]>;
  /** How many single sign-on sessions came from it. */
  countSessions(id: string): Promise<number>;
  /** Ends them; returns how many ended. */
  endSessions(id: string, by: Actor): Promise<number>;
  /** Whether the actor may change connections. */
  mayChange(by: Actor): Promise<boolean>;
}

export interface ConnectionAdminDependencies {
  db: Db;
  sql: Sql;
  issuer: string;
  connections: Connections;
  documents: ConnectionDocuments;
  domainChecks: Pick<DomainChecks, 'check'>;
  authority: Pick<Authority, 'rightsOf'>;
  endSession: Pick<EndSession, 'several'>;
  parseMetadata: ParseMetadata;
}

/** Changes throw StepUpNeeded, forbidden, owned_by_file, precondition_failed for another version, not_found and invalid_input. */
export function createConnectionAdmin(dependencies: ConnectionAdminDependencies): ConnectionAdmin {
  const { db, sql, issuer, connections, documents, domainChecks, endSession } = dependencies;

  async function detailsOf(connection: Connection, tx?: Tx): Promise<ConnectionDetails> {
    const { id } = connection;
    const domains = await connections.domains(id, tx);
    const roleMappings = await connections.roleMappings(id, tx ?? db);
    return {
      connection,
      entry: entryOf(connection, { domains, roleMappings }),
      secrets: await connections.secrets(id, tx),
      domains,
      documents: await documents.states(id),
      values: pasteValuesOf(connection, issuer),
    };
  }

  /** The version that If-Match names covers what can be changed, and not when a document was read. */
  async function current(id: string, expected: Expected, tx: Tx): Promise<ConnectionDetails> {
    await lockRow(tx, sql, 'connections', id);
    const details = await detailsOf(await connections.get(id, tx), tx);
    assertVersion(expected, versionOf(details));
    return details;
  }

  async function assertMayChange(by: Actor): Promise<void> {
    if (await mayChange(by)) return;
    throw forbidden('forbidden', { message: 'Only full administrators change connections.' });
  }

  /** A user needs the role admin, whatever the scopes of the token; an application without a user needs the scope admin:*. */
  async function mayChange({ actorId, holds }: Actor): Promise<boolean> {
    if (actorId !== undefined) return (await dependencies.authority.rightsOf(actorId)) === 'everything';
    return holds === undefined || holds === 'everything';
  }

  return {
    mayChange,
    async list() {
      const all: ConnectionDetails[] = [];
      for (const connection of await connections.list()) all.push(await detailsOf(connection));
      return all;
    },
    get: async (id) => detailsOf(await connections.get(id)),
    forged: connections.forged,

    async create(input, by, onCreated = async () => {}) {
      await assertMayChange(by);
      const entry = entryFrom(input, dependencies.parseMetadata);
      return transaction(db, async (tx) => {
        const connection = await connections.create(entry, { by, tx });
        assertFreshProof(by, 'connection.create', connection.name);
        const details = await detailsOf(connection, tx);
        await onCreated(details, tx);
        return details;
      });
    },

    async update(id, changes, by, expected = 'any') {
      await assertMayChange(by);
      return transaction(db, async (tx) => {
        const { entry: before } = await current(id, expected, tx);
        const merged = Object.entries({ ...before, ...changes, id }).filter(([, value]) => value !== null);
        const entry = entryFrom(Object.fromEntries(merged), dependencies.parseMetadata);
        assertFreshProof(by, 'connection.change', entry.name);
        return detailsOf(await connections.update(entry, { by, tx }), tx);
      });
    },

    async setEnabled(id, enabled, by) {
      await assertMayChange(by);
      await transaction(db, async (tx) => {
        const { name } = await connections.get(id, tx);
        assertFreshProof(by, enabled ? 'connection.enable' : 'connection.disable', name);
        await connections.setEnabled(id, enabled, { by, tx });
      });
    },

    async remove(id, by, expected = 'any') {
      await assertMayChange(by);
      await transaction(db, async (tx) => {
        if (expected !== 'any') await current(id, expected, tx);
        assertFreshProof(by, 'connection.delete', id);
        await connections.remove(id, { by, tx });
      });
    },

    async addSecret(id, purpose, secret, by, onCreated = async () => {}) {
      await assertMayChange(by);
      return transaction(db, async (tx) => {
        const { name, kind } = await connections.get(id, tx);
        if (!secretPurposesOf(kind).includes(purpose))
          throw badRequest('invalid_input', { fields: [{ field: 'purpose', message: `is none of kind ${kind}` }] });
        assertFreshProof(by, 'connection.add-secret', name);
        const added = await connections.addSecret(id, purpose, secret, { by, tx });
        await onCreated(added, tx);
        return added;
      });
    },

    async removeSecret(id, secretId, by) {
      await assertMayChange(by);
      await transaction(db, async (tx) => {
        const { name } = await connections.get(id, tx);
        assertFreshProof(by, 'connection.remove-secret', name);
        await connections.removeSecret(id, secretId, { by, tx });
      });
    },

    async checkDomain(id, domain, by) {
      await assertMayChange(by);
      assertFreshProof(by, 'connection.change', id);
      return domainChecks.check(id, domain, by);
    },

    async readDocuments(id, by) {
      await assertMayChange(by);
      return documents.readNow(await connections.get(id));
    },

    countSessions: async (id) => (await sessionsOf(db, id)).length,

    async endSessions(id, by) {
      await assertMayChange(by);
      assertFreshProof(by, 'connection.end-sessions', id);
      const uids = await sessionsOf(db, id);
      let count = 0;
      for (const uid of uids) if (await endSession.several([uid], 'ended-by-admin', by)) count += 1;
      return count;
    },
  };
}

/** What If-Match compares: the declaration and where it comes from. */
export function versionOf({ entry, connection, secrets }: ConnectionDetails): unknown {
  return { ...entry, source: connection.source, secrets: secrets.map(({ id }) => id) };
}

/** Throws invalid_input with every fault. */
function entryFrom(input: Record<string, unknown>, parseMetadata: ParseMetadata): ConnectionEntry {
  const checked = checkConnection(input);
  const faults = checked.ok ? documentFaults(checked.value, parseMetadata) : checked.faults;
  if (checked.ok && faults.length === 0) return checked.value;
  throw badRequest('invalid_input', {
    fields: faults.map(({ path, message }) => ({ field: formatPath(path), message })),
  });
}

function documentFaults(entry: ConnectionEntry, parse: ParseMetadata) {
  if (entry.kind !== 'saml') return [];
  // It would read a file of this server.
  if (entry.metadata_file !== undefined)
    return [{ path: ['metadata_file'], message: 'cannot be read here: use metadata' }];
  if (entry.metadata === undefined) return [];
  try {
    const { entityId } = parse(entry.metadata);
    if (entry.entity_id === undefined || entry.entity_id === entityId) return [];
    return [{ path: ['entity_id'], message: `does not agree with the metadata, which says ${entityId}` }];
  } catch (error) {
    return [{ path: ['metadata'], message: error instanceof Error ? error.message : String(error) }];
  }
}

async function sessionsOf(db: Db, connectionId: string): Promise<string[]> {
  const rows = await db.upstreamSession.findMany({
    where: { connectionId },
    select: { sessionUid: true },
    distinct: ['sessionUid'],
  });
  return rows.map(({ sessionUid }) => sessionUid);
}
