// Finds the connection that an action changes, with everything that belongs to it, and checks the rights of the actor and the
// version that the change was made of.

import { forbidden } from '../../base/http/errors.ts';
import type { Tx } from '../../base/storage/database.ts';
import { lockRow } from '../../base/storage/row-lock.ts';
import { t } from '../../base/texts/text.ts';
import type { Actor } from '../../core/audit/audit.ts';
import type { Connection } from '../../federation/connections/connection.ts';
import type { DocumentState } from '../../federation/connections/documents.ts';
import type { ConnectionDomain } from '../../federation/connections/domains.ts';
import { type PasteValue, pasteValuesOf } from '../../federation/connections/presets/presets.ts';
import { type DeclaredConnection, entryOf } from '../../federation/connections/schema.ts';
import type { SecretInfo } from '../../federation/connections/secrets.ts';
import type { AdminServices } from '../admin-services.ts';
import { assertVersion, type Expected } from '../api/versions.ts';

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

export type ManageableConnections = ReturnType<typeof createManageableConnections>;

export function createManageableConnections(services: AdminServices) {
  const {
    db,
    sql,
    config: { issuer },
    connections,
    connectionDocuments: documents,
    authority,
  } = services;

  async function detailsOf(connection: Connection, tx?: Tx): Promise<ConnectionDetails> {
    const { id } = connection;
    const domains = await connections.domains(id, tx);
    const roleMappings = await connections.roleMappings(id, tx ?? db);
    return {
      connection,
      entry: entryOf(connection, { domains, roleMappings }),
      secrets: await connections.secretInfos(id, tx),
      domains,
      documents: await documents.states(id),
      values: pasteValuesOf(connection, issuer),
    };
  }

  /** A user needs the role admin, whatever the scopes of the token; an application without a user needs the scope admin:*. */
  async function mayChange({ actorId, grantedRights }: Actor): Promise<boolean> {
    if (actorId !== undefined) return (await authority.rightsOfUser(actorId)) === 'everything';
    return grantedRights === undefined || grantedRights === 'everything';
  }

  return {
    detailsOf,
    /** Whether the actor may change connections. */
    mayChange,

    /** Locks its row. Throws not_found, and precondition_failed unless it has the expected version. */
    async lockForChange(id: string, expected: Expected, tx: Tx): Promise<ConnectionDetails> {
      await lockRow(tx, sql, 'connections', id);
      const details = await detailsOf(await connections.get(id, tx), tx);
      assertVersion(expected, connectionVersion(details));
      return details;
    },

    /** Throws forbidden. */
    async assertMayChange(by: Actor): Promise<void> {
      if (await mayChange(by)) return;
      throw forbidden('forbidden', { message: t('console.connections.only-full-change') });
    },
  };
}

/** What the ETag of a connection is made of: what can be changed and where it comes from, not when a document was read. */
export function connectionVersion({ entry, connection, secrets }: ConnectionDetails): unknown {
  return { ...entry, source: connection.source, secrets: secrets.map(({ id }) => id) };
}
