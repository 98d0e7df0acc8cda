// Changes of connections to upstream identity providers. Only full administrators make them, with a fresh sign-in: who controls an
// upstream can be any of its users.

import { invalidInput } from '../../base/http/errors.ts';
import type { DomainCheck } from '../../base/network/domains.ts';
import { messageOf } from '../../base/platform/errors.ts';
import { inChunks } from '../../base/storage/chunks.ts';
import { type Tx, transaction } from '../../base/storage/database.ts';
import { lockRow } from '../../base/storage/row-lock.ts';
import { fault } from '../../base/texts/faults.ts';
import type { PageText } from '../../base/texts/text.ts';
import type { Actor } from '../../core/audit/audit.ts';
import type { ConnectionTrial } from '../../federation/client-secrets.ts';
import type { Connection } from '../../federation/connections/connection.ts';
import type { DocumentKind, DocumentState } from '../../federation/connections/documents.ts';
import type { ConnectionDomain } from '../../federation/connections/domains.ts';
import type { DeclaredSecret } from '../../federation/connections/kinds/fields.ts';
import { type PasteValue, pasteValuesOf } from '../../federation/connections/presets/presets.ts';
import {
  type ConnectionEntry,
  checkConnection,
  type DeclaredConnection,
  entryOf,
  type SecretPurpose,
  secretPurposesOf,
} from '../../federation/connections/schema.ts';
import type { SecretInfo } from '../../federation/connections/secrets.ts';
import { falseIfForbidden } from '../../people/rbac/authority.ts';
import type { EndResult } from '../../protocols/logout/end-session.ts';
import { parseIdentityProviderMetadata } from '../../protocols/saml/metadata/parse-identity-provider.ts';
import type { AdminServices } from '../admin-services.ts';
import type { OnCreated } from '../api/idempotency.ts';
import { assertVersion, type Expected } from '../api/versions.ts';
import { assertFreshProof, type SensitiveChange } from '../proof/sensitive-changes.ts';

export interface ConnectionDetails {
  connection: Connection;
  /** Without secrets. */
  entry: DeclaredConnection;
  secrets: SecretInfo[];
  domains: readonly ConnectionDomain[];
  documents: DocumentState[];
  /** What the administrator pastes at the vendor. */
  values: PasteValue[];
}

export type ConnectionAdmin = ReturnType<typeof createConnectionAdmin>;

/** Changes throw StepUpNeeded, forbidden, owned_by_file, precondition_failed for another version, not_found and invalid_input. */
export function createConnectionAdmin(services: AdminServices) {
  const { db, sql, config, now, connections, connectionDocuments, domainChecks, clientSecrets, authority } = services;

  async function detailsOf(connection: Connection, tx?: Tx): Promise<ConnectionDetails> {
    const { id } = connection;
    const lists = await connections.lists(id, tx);
    return {
      connection,
      entry: entryOf(connection, lists),
      secrets: await connections.secretInfos(id, tx),
      domains: lists.domains,
      documents: await connectionDocuments.states(id),
      values: pasteValuesOf(connection, config.issuer),
    };
  }

  const assertMayChange = (by: Actor) => authority.assertMay(by, { what: 'connections' });

  /** The connection, its row locked. Throws unless it has the expected version. */
  async function lockForChange(id: string, expected: Expected, tx: Tx): Promise<ConnectionDetails> {
    await lockRow(tx, sql, 'connections', id);
    const details = await detailsOf(await connections.get(id, tx), tx);
    assertVersion(expected, connectionVersion(details));
    return details;
  }

  /** A change of one, with a fresh sign-in. */
  async function change<Result>(
    id: string,
    what: SensitiveChange,
    by: Actor,
    work: (connection: Connection, tx: Tx) => Promise<Result>,
  ): Promise<Result> {
    await assertMayChange(by);
    return transaction(db, async (tx) => {
      const connection = await connections.get(id, tx);
      assertFreshProof(by, what, connection.name);
      return work(connection, tx);
    });
  }

  /** Throws invalid_input with every fault. */
  function checkedEntry(input: Record<string, unknown>): ConnectionEntry {
    const checked = checkConnection(input);
    const faults = checked.ok ? metadataFaults(checked.value, now()) : checked.faults;
    if (checked.ok && faults.length === 0) return checked.value;
    throw invalidInput(faults);
  }

  return {
    /** Whether the actor may change connections, also those of directories (SCIM). */
    mayChange: (by: Actor): Promise<boolean> => assertMayChange(by).then(() => true, falseIfForbidden),
    async list(): Promise<ConnectionDetails[]> {
      const all: ConnectionDetails[] = [];
      for (const connection of await connections.list()) all.push(await detailsOf(connection));
      return all;
    },
    /** Throws not_found (404). */
    get: async (id: string): Promise<ConnectionDetails> => detailsOf(await connections.get(id)),
    /** The ids of rows that another program wrote; they can only be removed. */
    forged: connections.forgedIds,

    /** `onCreated` runs in the transaction. */
    async create(
      input: Record<string, unknown>,
      by: Actor,
      onCreated: OnCreated<ConnectionDetails> = async () => {},
    ): Promise<ConnectionDetails> {
      await assertMayChange(by);
      const entry = checkedEntry(input);
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
        const entry = checkedEntry(Object.fromEntries(merged));
        assertFreshProof(by, 'connection.change', entry.name);
        return detailsOf(await connections.update(entry, { by, tx }), tx);
      });
    },

    setEnabled: (id: string, enabled: boolean, by: Actor): Promise<void> =>
      change(id, enabled ? 'connection.enable' : 'connection.disable', by, async (_, tx) => {
        await connections.setEnabled(id, enabled, { by, tx });
      }),

    async remove(id: string, by: Actor, expected: Expected = 'any'): Promise<void> {
      await assertMayChange(by);
      await transaction(db, async (tx) => {
        if (expected !== 'any') await lockForChange(id, expected, tx);
        assertFreshProof(by, 'connection.delete', id);
        await connections.remove(id, { by, tx });
      });
    },

    /** `onCreated` runs in the transaction. */
    addSecret: (
      id: string,
      purpose: SecretPurpose,
      secret: DeclaredSecret,
      by: Actor,
      onCreated: OnCreated<SecretInfo> = async () => {},
    ): Promise<SecretInfo> =>
      change(id, 'connection.add-secret', by, async ({ kind }, tx) => {
        if (!secretPurposesOf(kind).includes(purpose))
          throw invalidInput([fault(['purpose'], 'not-of-kind', { kind })]);
        const added = await connections.addSecret(id, purpose, secret, { by, tx });
        await onCreated(added, tx);
        return added;
      }),

    removeSecret: (id: string, secretId: string, by: Actor): Promise<void> =>
      change(id, 'connection.remove-secret', by, async (_, tx) => {
        await connections.removeSecret(id, secretId, { by, tx });
      }),

    async checkDomain(id: string, domain: string, by: Actor): Promise<DomainCheck> {
      await assertMayChange(by);
      assertFreshProof(by, 'connection.change', id);
      return domainChecks.check(id, domain, by);
    },

    /** Tries its client ID and secret, or its directory, after a change; undefined where there is nothing to try. */
    tryNow: (connection: Connection): Promise<ConnectionTrial | undefined> => clientSecrets.check(connection),

    /** Reads its documents now; the fault of each. */
    async readDocuments(id: string, by: Actor): Promise<{ kind: DocumentKind; error: PageText | undefined }[]> {
      await assertMayChange(by);
      return connectionDocuments.readNow(await connections.get(id));
    },

    countSessions: async (id: string): Promise<number> => (await sessionsOf(services, id)).length,

    /** Ends them; returns the result of each that ended. */
    async endSessions(id: string, by: Actor): Promise<EndResult[]> {
      await assertMayChange(by);
      assertFreshProof(by, 'connection.end-sessions', id);
      const ended: EndResult[] = [];
      for (const uid of await sessionsOf(services, id)) {
        const result = await services.endSession.several([uid], 'ended-by-admin', by);
        if (result) ended.push(result);
      }
      return ended;
    },
  };
}

/** What the ETag of a connection is made of: what can be changed and where it comes from, not when a document was read. */
export function connectionVersion({ entry, connection, secrets }: ConnectionDetails): unknown {
  return { ...entry, source: connection.source, secrets: secrets.map(({ id }) => id) };
}

function metadataFaults(entry: ConnectionEntry, now: Date) {
  if (entry.kind !== 'saml') return [];
  // It would read a file of this server.
  if (entry.metadata_file !== undefined) return [fault(['metadata_file'], 'no-metadata-file')];
  if (entry.metadata === undefined) return [];
  try {
    const { entityId } = parseIdentityProviderMetadata(entry.metadata, now);
    if (entry.entity_id === undefined || entry.entity_id === entityId) return [];
    return [fault(['entity_id'], 'metadata-entity', { entityId })];
  } catch (error) {
    return [fault(['metadata'], 'english', { english: messageOf(error) })];
  }
}

/** The live ones: the row of an upstream session stays after it. */
async function sessionsOf({ db, sessions }: AdminServices, connectionId: string): Promise<string[]> {
  const rows = await db.asStored.upstreamSession.findMany({
    where: { connectionId },
    select: { sessionUid: true },
    distinct: ['sessionUid'],
  });
  const live = await inChunks(
    rows.map(({ sessionUid }) => sessionUid),
    sessions.findAll,
  );
  return live.map(({ uid }) => uid);
}
