// Changes of connections to upstream identity providers. Only full administrators make them, with a fresh sign-in: who controls an
// upstream can be any of its users.

import { invalidInput } from '../../base/http/errors.ts';
import { inChunks } from '../../base/storage/chunks.ts';
import { type Db, transaction } from '../../base/storage/database.ts';
import { fault } from '../../base/texts/faults.ts';
import type { PageText } from '../../base/texts/text.ts';
import type { Actor } from '../../core/audit/audit.ts';
import type { ConnectionTrial } from '../../federation/client-secrets.ts';
import type { DomainCheck } from '../../federation/connections/check-domains.ts';
import type { Connection } from '../../federation/connections/connection.ts';
import type { Connections } from '../../federation/connections/connections.ts';
import type { DocumentKind, ParseMetadata } from '../../federation/connections/documents.ts';
import type { DeclaredSecret } from '../../federation/connections/kinds/fields.ts';
import {
  type ConnectionEntry,
  checkConnection,
  type SecretPurpose,
  secretPurposesOf,
} from '../../federation/connections/schema.ts';
import type { SecretInfo } from '../../federation/connections/secrets.ts';
import type { EndResult } from '../../protocols/logout/end-session.ts';
import { parseIdentityProviderMetadata } from '../../protocols/saml/metadata/parse-identity-provider.ts';
import type { AdminServices } from '../admin-services.ts';
import type { OnCreated } from '../api/idempotency.ts';
import type { Expected } from '../api/versions.ts';
import { assertFreshProof } from '../proof/sensitive-changes.ts';
import {
  type ConnectionDetails,
  createManageableConnections,
  type ManageableConnections,
} from './manageable-connections.ts';

export type ConnectionAdmin = ReturnType<typeof createConnectionAdmin>;

/** Changes throw StepUpNeeded, forbidden, owned_by_file, precondition_failed for another version, not_found and invalid_input. */
export function createConnectionAdmin(services: AdminServices) {
  const { connections, connectionDocuments: documents, domainChecks, clientSecrets } = services;
  const manageable = createManageableConnections(services);

  return {
    mayChange: manageable.mayChange,
    async list(): Promise<ConnectionDetails[]> {
      const all: ConnectionDetails[] = [];
      for (const connection of await connections.list()) all.push(await manageable.detailsOf(connection));
      return all;
    },
    /** Throws not_found (404). */
    get: async (id: string): Promise<ConnectionDetails> => manageable.detailsOf(await connections.get(id)),
    /** The ids of rows that another program wrote; they can only be removed. */
    forged: connections.forgedIds,

    ...declarationActions(services, manageable),
    ...lifecycleActions(services, manageable),
    ...secretActions(services, manageable),
    ...sessionActions(services, manageable),

    async checkDomain(id: string, domain: string, by: Actor): Promise<DomainCheck> {
      await manageable.assertMayChange(by);
      assertFreshProof(by, 'connection.change', id);
      return domainChecks.check(id, domain, by);
    },

    /** Tries its client ID and secret, or its directory, after a change; undefined where there is nothing to try. */
    tryNow: (connection: Connection): Promise<ConnectionTrial | undefined> => clientSecrets.check(connection),

    /** Reads its documents now; the fault of each. */
    async readDocuments(id: string, by: Actor): Promise<{ kind: DocumentKind; error: PageText | undefined }[]> {
      await manageable.assertMayChange(by);
      return documents.readNow(await connections.get(id));
    },
  };
}

function declarationActions(
  { db, connections, now }: AdminServices,
  { assertMayChange, detailsOf, lockForChange }: ManageableConnections,
) {
  const parseMetadata: ParseMetadata = (xml) => parseIdentityProviderMetadata(xml, now());
  return {
    /** `onCreated` runs in the transaction. */
    async create(
      input: Record<string, unknown>,
      by: Actor,
      onCreated: OnCreated<ConnectionDetails> = async () => {},
    ): Promise<ConnectionDetails> {
      await assertMayChange(by);
      const entry = checkedEntry(input, parseMetadata);
      return transaction(db, async (tx) => {
        const connection = await connections.create(entry, { by, tx });
        assertFreshProof(by, 'connection.create', connection.name);
        const details = await detailsOf(connection, tx);
        await onCreated(details, tx);
        return details;
      });
    },

    /** Changes the given fields; null gives a field its default. */
    async update(
      id: string,
      changes: Record<string, unknown>,
      by: Actor,
      expected: Expected = 'any',
    ): Promise<ConnectionDetails> {
      await assertMayChange(by);
      return transaction(db, async (tx) => {
        const { entry: before } = await lockForChange(id, expected, tx);
        const merged = Object.entries({ ...before, ...changes, id }).filter(([, value]) => value !== null);
        const entry = checkedEntry(Object.fromEntries(merged), parseMetadata);
        assertFreshProof(by, 'connection.change', entry.name);
        return detailsOf(await connections.update(entry, { by, tx }), tx);
      });
    },
  };
}

function lifecycleActions(
  { db, connections }: AdminServices,
  { assertMayChange, lockForChange }: ManageableConnections,
) {
  return {
    async setEnabled(id: string, enabled: boolean, by: Actor): Promise<void> {
      await assertMayChange(by);
      await transaction(db, async (tx) => {
        const { name } = await connections.get(id, tx);
        assertFreshProof(by, enabled ? 'connection.enable' : 'connection.disable', name);
        await connections.setEnabled(id, enabled, { by, tx });
      });
    },

    async remove(id: string, by: Actor, expected: Expected = 'any'): Promise<void> {
      await assertMayChange(by);
      await transaction(db, async (tx) => {
        if (expected !== 'any') await lockForChange(id, expected, tx);
        assertFreshProof(by, 'connection.delete', id);
        await connections.remove(id, { by, tx });
      });
    },
  };
}

/** Throws invalid_input with every fault. */
function checkedEntry(input: Record<string, unknown>, parseMetadata: ParseMetadata): ConnectionEntry {
  const checked = checkConnection(input);
  const faults = checked.ok ? metadataFaults(checked.value, parseMetadata) : checked.faults;
  if (checked.ok && faults.length === 0) return checked.value;
  throw invalidInput(faults);
}

function metadataFaults(entry: ConnectionEntry, parse: ParseMetadata) {
  if (entry.kind !== 'saml') return [];
  // It would read a file of this server.
  if (entry.metadata_file !== undefined) return [fault(['metadata_file'], 'no-metadata-file')];
  if (entry.metadata === undefined) return [];
  try {
    const { entityId } = parse(entry.metadata);
    if (entry.entity_id === undefined || entry.entity_id === entityId) return [];
    return [fault(['entity_id'], 'metadata-entity', { entityId })];
  } catch (error) {
    return [fault(['metadata'], 'english', { english: error instanceof Error ? error.message : String(error) })];
  }
}

interface SessionActions {
  countSessions(id: string): Promise<number>;
  /** Ends them; returns the result of each that ended. */
  endSessions(id: string, by: Actor): Promise<EndResult[]>;
}

function sessionActions(services: AdminServices, { assertMayChange }: ManageableConnections): SessionActions {
  const { endSession } = services;
  return {
    countSessions: async (id) => (await sessionsOf(services, id)).length,

    async endSessions(id, by) {
      await assertMayChange(by);
      assertFreshProof(by, 'connection.end-sessions', id);
      const ended: EndResult[] = [];
      for (const uid of await sessionsOf(services, id)) {
        const result = await endSession.several([uid], 'ended-by-admin', by);
        if (result) ended.push(result);
      }
      return ended;
    },
  };
}

/** The live ones: the row of an upstream session stays after it. */
async function sessionsOf({ db, sessions }: AdminServices, connectionId: string): Promise<string[]> {
  const rows = await db.asStored.upstreamSession.findMany({
    where: { connectionId },
    select: { sessionUid: true },
    distinct: ['sessionUid'],
  });
  return (
    await inChunks(
      rows.map(({ sessionUid }) => sessionUid),
      sessions.findAll,
    )
  ).map(({ uid }) => uid);
}

interface SecretActions {
  /** `onCreated` runs in the transaction. */
  addSecret(
    id: string,
    purpose: SecretPurpose,
    secret: DeclaredSecret,
    by: Actor,
    onCreated?: OnCreated<SecretInfo>,
  ): Promise<SecretInfo>;
  removeSecret(id: string, secretId: string, by: Actor): Promise<void>;
}

function secretActions(
  { db, connections }: { db: Db; connections: Connections },
  { assertMayChange }: ManageableConnections,
): SecretActions {
  return {
    async addSecret(id, purpose, secret, by, onCreated = async () => {}) {
      await assertMayChange(by);
      return transaction(db, async (tx) => {
        const { name, kind } = await connections.get(id, tx);
        if (!secretPurposesOf(kind).includes(purpose))
          throw invalidInput([fault(['purpose'], 'not-of-kind', { kind })]);
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
  };
}
