// The rows of documents. The MAC covers the content, so that a database writer cannot replace the keys of an upstream.
import { limits } from '../../base/limits.ts';
import { readStoredText, storedText } from '../../base/texts/stored-text.ts';
import type { PageText } from '../../base/texts/text.ts';
import type { ConnectionsContext } from './context.ts';
import type { DocumentKind } from './document-checks.ts';

export interface DocumentRow {
  connectionId: string;
  kind: DocumentKind;
  /** Empty: it was never read. */
  content: string;
  readAt: Date;
  nextReadAt: Date;
  /** The last time that it was read, or that this failed. */
  triedAt: Date;
  failingSince: Date | null;
  lastError: PageText | null;
}

type DocumentRowsContext = Pick<ConnectionsContext, 'db' | 'protectedRows'>;
type WriteContext = DocumentRowsContext & Pick<ConnectionsContext, 'now'>;

export async function readDocumentRow(
  { db, protectedRows }: DocumentRowsContext,
  connectionId: string,
  kind: DocumentKind,
): Promise<DocumentRow | undefined> {
  const row = await db.asStored.connectionDocument.findUnique({ where: { connectionId_kind: { connectionId, kind } } });
  return row ? fromRow(row, protectedRows) : undefined;
}

export async function listDocumentRows(
  { db, protectedRows }: DocumentRowsContext,
  connectionId?: string,
): Promise<DocumentRow[]> {
  const rows = await db.asStored.connectionDocument.findMany({
    where: connectionId === undefined ? {} : { connectionId },
    orderBy: [{ connectionId: 'asc' }, { kind: 'asc' }],
  });
  return rows.flatMap((row) => fromRow(row, protectedRows) ?? []);
}

/** Stores a good document. */
export async function storeDocument(
  { db, protectedRows, now }: WriteContext,
  connectionId: string,
  kind: DocumentKind,
  content: string,
): Promise<DocumentRow> {
  const readAt = now();
  const nextReadAt = addSeconds(readAt, limits.connections.readSeconds);
  const mac = protectedRows.macOf('connection_documents', { connectionId, kind, content });
  const data = { content, mac, readAt, nextReadAt, failingSince: null, lastError: null };
  await db.connectionDocument.upsert({
    where: { connectionId_kind: { connectionId, kind } },
    create: { connectionId, kind, ...data },
    update: data,
    select: { kind: true },
  });
  return { connectionId, kind, triedAt: readAt, ...data };
}

/** Stores that the document could not be read; the last good one stays. */
export async function storeFailure(
  { db, protectedRows, now }: WriteContext,
  connectionId: string,
  kind: DocumentKind,
  reason: PageText,
  before: DocumentRow | undefined,
): Promise<DocumentRow> {
  const at = now();
  const content = before?.content ?? '';
  const failingSince = before?.failingSince ?? at;
  const state = {
    nextReadAt: addSeconds(at, retrySeconds(content, at.getTime() - failingSince.getTime())),
    failingSince,
    lastError: storedText(reason),
    // Without a document: when it was tried.
    readAt: content === '' ? at : (before?.readAt ?? at),
  };
  const mac = protectedRows.macOf('connection_documents', { connectionId, kind, content });
  await db.connectionDocument.upsert({
    where: { connectionId_kind: { connectionId, kind } },
    create: { connectionId, kind, content, mac, ...state },
    // Never the content: another node may have read a good one meanwhile.
    update: before ? state : { ...state, content, mac },
    select: { kind: true },
  });
  return { connectionId, kind, content, triedAt: at, ...state, lastError: reason };
}

/** A document that was never read is tried again soon, and then less and less often: users can't sign in without it. */
function retrySeconds(content: string, failingMs: number): number {
  const { firstRetrySeconds, retrySeconds: longest } = limits.connections;
  if (content !== '') return longest;
  return Math.min(longest, Math.max(firstRetrySeconds, (3 * failingMs) / 1000));
}

type Stored = Omit<DocumentRow, 'kind' | 'triedAt' | 'lastError'> & {
  kind: string;
  lastError: string | null;
  mac: string;
};

function fromRow(row: Stored, protectedRows: DocumentRowsContext['protectedRows']): DocumentRow | undefined {
  const { mac, ...rest } = row;
  if (!protectedRows.isGenuine('connection_documents', row, mac)) return undefined;
  const hasFailed = row.content !== '' && row.failingSince !== null;
  const triedAt = hasFailed ? addSeconds(row.nextReadAt, -limits.connections.retrySeconds) : row.readAt;
  const lastError = row.lastError === null ? null : readStoredText(row.lastError);
  return { ...rest, lastError, kind: row.kind as DocumentKind, triedAt };
}

function addSeconds(date: Date, seconds: number): Date {
  return new Date(date.getTime() + seconds * 1000);
}
