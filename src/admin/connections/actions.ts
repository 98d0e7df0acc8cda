// Changes of connections to upstream identity providers. Only full administrators make them, with a fresh sign-in: who controls an
// upstream can be any of its users.
import type { Actor } from '../../audit/audit.ts';
import type { DomainCheck, DomainChecks } from '../../connections/check-domains.ts';
import type { Connections } from '../../connections/connections.ts';
import type { DocumentKind, ParseMetadata } from '../../connections/document-checks.ts';
import type { ConnectionDocuments } from '../../connections/documents.ts';
import type { ClientSecrets, ConnectionTrial } from '../../federation/client-secrets.ts';
import type { EndSession } from '../../logout/end-session.ts';
import type { Sessions } from '../../oidc/store/sessions/sessions.ts';
import { transaction } from '../../storage/database.ts';
import type { PageText } from '../../texts/text.ts';
import type { OnCreated } from '../api/idempotency.ts';
import type { Expected } from '../api/versions.ts';
import { assertFreshProof } from '../proof/sensitive-changes.ts';
import { checkedEntry } from './checked-entry.ts';
import {
  type ConnectionDetails,
  createManageableConnections,
  type ManageableConnections,
  type ManageableConnectionsDependencies,
} from './manageable-connections.ts';
import { type SecretActions, secretActions } from './secret-actions.ts';
import { type SessionActions, sessionActions } from './session-actions.ts';

export interface ConnectionAdmin extends SecretActions, SessionActions, Pick<ManageableConnections, 'mayChange'> {
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
  checkDomain(id: string, domain: string, by: Actor): Promise<DomainCheck>;
  /** Tries its client ID and secret, or its directory, after a change; undefined where there is nothing to try. */
  tryNow(id: string, by: Actor): Promise<ConnectionTrial | undefined>;
  /** Reads its documents now; the fault of each. */
  readDocuments(id: string, by: Actor): Promise<{ kind: DocumentKind; error: PageText | undefined }[]>;
}

export interface ConnectionAdminDependencies extends ManageableConnectionsDependencies {
  connections: Connections;
  documents: ConnectionDocuments;
  domainChecks: DomainChecks;
  clientSecrets: ClientSecrets;
  endSession: EndSession;
  sessions: Sessions;
  parseMetadata: ParseMetadata;
}

/** Changes throw StepUpNeeded, forbidden, owned_by_file, precondition_failed for another version, not_found and invalid_input. */
export function createConnectionAdmin(dependencies: ConnectionAdminDependencies): ConnectionAdmin {
  const { connections, documents, domainChecks, clientSecrets } = dependencies;
  const manageable = createManageableConnections(dependencies);

  return {
    mayChange: manageable.mayChange,
    async list() {
      const all: ConnectionDetails[] = [];
      for (const connection of await connections.list()) all.push(await manageable.detailsOf(connection));
      return all;
    },
    get: async (id) => manageable.detailsOf(await connections.get(id)),
    forged: connections.forgedIds,

    ...declarationActions(dependencies, manageable),
    ...lifecycleActions(dependencies, manageable),
    ...secretActions(dependencies, manageable),
    ...sessionActions(dependencies, manageable),

    async checkDomain(id, domain, by) {
      await manageable.assertMayChange(by);
      assertFreshProof(by, 'connection.change', id);
      return domainChecks.check(id, domain, by);
    },

    async tryNow(id, by) {
      await manageable.assertMayChange(by);
      return clientSecrets.check(await connections.get(id));
    },

    async readDocuments(id, by) {
      await manageable.assertMayChange(by);
      return documents.readNow(await connections.get(id));
    },
  };
}

function declarationActions(
  { db, connections, parseMetadata }: ConnectionAdminDependencies,
  { assertMayChange, detailsOf, lockForChange }: ManageableConnections,
): Pick<ConnectionAdmin, 'create' | 'update'> {
  return {
    async create(input, by, onCreated = async () => {}) {
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

    async update(id, changes, by, expected = 'any') {
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
  { db, connections }: ConnectionAdminDependencies,
  { assertMayChange, lockForChange }: ManageableConnections,
): Pick<ConnectionAdmin, 'setEnabled' | 'remove'> {
  return {
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
        if (expected !== 'any') await lockForChange(id, expected, tx);
        assertFreshProof(by, 'connection.delete', id);
        await connections.remove(id, { by, tx });
      });
    },
  };
}
