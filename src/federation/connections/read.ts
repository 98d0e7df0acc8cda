// Reads connections. A row whose MAC is wrong is no connection: it raises an alarm and nobody signs in by it.
import { notFound } from '../../base/http/errors.ts';
import type { Tx } from '../../base/storage/database.ts';
import { t } from '../../base/texts/text.ts';
import { type Connection, connectionOf } from './connection.ts';
import type { ConnectionsContext } from './context.ts';

type ReadContext = Pick<ConnectionsContext, 'protectedRows'>;

/** Every connection that this server wrote, in the order of the buttons. */
export async function listConnections({ protectedRows }: ReadContext, tx: Tx): Promise<Connection[]> {
  const rows = await tx.asStored.connection.findMany({ orderBy: [{ position: 'asc' }, { id: 'asc' }] });
  return rows.filter((row) => protectedRows.isGenuine('connections', row, row.mac)).map(connectionOf);
}

/** The ids of the rows that another program wrote. */
export async function listForged({ protectedRows }: ReadContext, tx: Tx): Promise<string[]> {
  const rows = await tx.asStored.connection.findMany({ orderBy: { id: 'asc' } });
  return rows.filter((row) => !protectedRows.isGenuine('connections', row, row.mac)).map(({ id }) => id);
}

export async function findConnection(
  { protectedRows }: ReadContext,
  id: string,
  tx: Tx,
): Promise<Connection | undefined> {
  const row = await tx.asStored.connection.findUnique({ where: { id } });
  return row && protectedRows.isGenuine('connections', row, row.mac) ? connectionOf(row) : undefined;
}

/** Throws not_found (404). */
export async function getConnection(context: ReadContext, id: string, tx: Tx): Promise<Connection> {
  const connection = await findConnection(context, id, tx);
  if (!connection) throw notFound({ message: t('console.connections.fault.missing', { id }) });
  return connection;
}
