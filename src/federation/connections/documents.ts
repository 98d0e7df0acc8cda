// The documents of upstreams: discovery, JWKS and SAML metadata. The last good one stays in the database, so that an upstream
// that is down for an hour stops no sign-in whose keys are known. Keys may change with a document, the identity never.

import { z } from 'zod';
import { AppError } from '../../base/http/errors.ts';
import { limits } from '../../base/limits.ts';
import { isWithin } from '../../base/platform/clock.ts';
import { messageOf } from '../../base/platform/errors.ts';
import { sha256 } from '../../base/platform/random.ts';
import type { Db } from '../../base/storage/database.ts';
import { cacheDirectory } from '../../base/storage/directory-cache.ts';
import { check, faultLine } from '../../base/texts/faults.ts';
import { readStoredText, storedText } from '../../base/texts/stored-text.ts';
import { type PageText, type Text, t } from '../../base/texts/text.ts';
import { fetchedKeySet } from '../../core/keys/foreign-keys.ts';
import { FederationError } from '../faults.ts';
import type { Connection } from './connection.ts';
import type { Connections } from './connections.ts';
import type { ConnectionCore } from './context.ts';
import { webUri } from './kinds/fields.ts';

export interface ConnectionDocument {
  kind: DocumentKind;
  content: string;
  readAt: Date;
}
export type DocumentState = Omit<DocumentRow, 'content'> & { hasContent: boolean };

export type ConnectionDocuments = ReturnType<typeof createConnectionDocuments>;

type DocumentServices = ConnectionCore & {
  connections: Connections;
  parseMetadata: ParseMetadata;
  /** The document behind a URL, with the signature of a pinned certificate checked; throws with a sentence. */
  fetchMetadata(url: string, pinnedCertificate?: string): Promise<string>;
};

export function createConnectionDocuments(dependencies: DocumentServices) {
  const { db, now, connections } = dependencies;
  const { stored, current, readOnce } = createDocumentCache(dependencies);

  return {
    /** The last good document; reads it where there is none yet. Throws upstream_unavailable. Cached with the directory. */
    async get(connection: Connection, kind: DocumentKind): Promise<ConnectionDocument> {
      const { settings } = connection;
      if (kind === 'metadata' && 'metadata' in settings && settings.metadata !== undefined)
        return { kind, content: settings.metadata, readAt: new Date(0) };
      return documentOf(await current(connection, kind));
    },

    /** The last good document without reading anything from the network. */
    stored: async (id: string, kind: DocumentKind): Promise<string | undefined> =>
      (await stored(id, kind))?.content || undefined,

    /**
     * Reads the JWKS again because of a key ID that it lacks, at most once a minute, or SAML metadata because no key of it verifies an
     * answer, at most every ten minutes. Returns the last good one.
     */
    async getWithNewKeys(connection: Connection): Promise<ConnectionDocument> {
      const kind = connection.kind === 'saml' ? 'metadata' : 'jwks';
      const row = await stored(connection.id, kind);
      if (row && isWithin(limits.connections.unknownKeySeconds[kind], row.triedAt.getTime(), now()))
        return documentOf(row);
      return documentOf(await readOnce(connection, kind));
    },

    /** Reads every document of the connection now, and returns the fault of each. Unlike `get` it works for drafts. */
    async readNow(connection: Connection): Promise<{ kind: DocumentKind; error: PageText | undefined }[]> {
      const results: { kind: DocumentKind; error: PageText | undefined }[] = [];
      for (const kind of kindsOf(connection)) {
        const { lastError } = await readOnce(connection, kind);
        results.push({ kind, error: lastError ?? undefined });
        if (lastError !== null) break; // without discovery there is no address of the JWKS
      }
      return results;
    },

    /** Reads those that are due, for the job. Returns when the next one that was never read is due. */
    async refreshDue(signal: AbortSignal): Promise<Date | undefined> {
      const unread: Date[] = [];
      for (const connection of await connections.enabled()) {
        for (const kind of kindsOf(connection)) {
          if (signal.aborted) return undefined;
          const before = await readDocumentRow(dependencies, connection.id, kind);
          const row = !before || before.nextReadAt <= now() ? await readOnce(connection, kind) : before;
          if (row.content === '') unread.push(row.nextReadAt);
        }
      }
      return unread.sort((a, b) => a.getTime() - b.getTime())[0];
    },

    /** What is stored, of one connection or of all. */
    async states(connectionId?: string): Promise<DocumentState[]> {
      const rows = await listDocumentRows({ db }, connectionId);
      return rows.map(({ content, ...row }) => ({ ...row, hasContent: content !== '' }));
    },
  };
}

/** The stored documents in the directory cache; one that was never read is read from the upstream. */
function createDocumentCache(dependencies: DocumentServices) {
  const { sql, now } = dependencies;
  const read = createReader(dependencies);
  const keyOf = (id: string, kind: DocumentKind) => `${kind} ${id}`;
  const cached = cacheDirectory(
    sql,
    async (key) => {
      const [kind = '', id = ''] = key.split(' ');
      return readDocumentRow(dependencies, id, kind as DocumentKind);
    },
    { max: limits.connections.cached },
  );
  const stored = (id: string, kind: DocumentKind) => cached(keyOf(id, kind));
  // Sign-ins that arrive together share one call to the upstream.
  const running = new Map<string, Promise<DocumentRow>>();
  const readOnce = (connection: Connection, kind: DocumentKind): Promise<DocumentRow> => {
    const key = keyOf(connection.id, kind);
    const call = running.get(key) ?? read(connection, kind, discoveryOf).finally(() => running.delete(key));
    running.set(key, call);
    return call;
  };

  async function storedOrRead(connection: Connection, kind: DocumentKind): Promise<DocumentRow> {
    const row = await stored(connection.id, kind);
    if (row && row.content !== '') return row;
    if (row && isWithin(limits.connections.firstReadSeconds, row.triedAt.getTime(), now())) return row;
    return readOnce(connection, kind);
  }

  async function discoveryOf(connection: Connection): Promise<string> {
    return documentOf(await storedOrRead(connection, 'discovery')).content;
  }

  return { stored, current: storedOrRead, readOnce };
}

/** The documents that a connection reads from the network. */
export function kindsOf({ kind, settings }: Connection): DocumentKind[] {
  if (kind === 'oidc') return ['discovery', 'jwks'];
  return kind === 'saml' && settings.metadata_url !== undefined ? ['metadata'] : [];
}

function documentOf({ kind, content, readAt, lastError }: DocumentRow): ConnectionDocument {
  if (content !== '') return { kind, content, readAt };
  // No valid document was ever read, and reading it failed now too.
  const reason = String(lastError ?? `The document (${kind}) was never read.`);
  throw new FederationError('upstream_unavailable', { rule: 'answer', reason, expected: `a document (${kind})` });
}

/** Makes the function that reads a document from the upstream and stores the outcome; it returns the row either way. */
function createReader(dependencies: DocumentServices) {
  const { audit, logger, outgoing, parseMetadata, fetchMetadata } = dependencies;

  async function load(
    connection: Connection,
    kind: DocumentKind,
    discoveryOf: (connection: Connection) => Promise<string>,
  ): Promise<string> {
    if (connection.kind === 'saml')
      return fetchMetadata(connection.settings.metadata_url ?? '', connection.settings.metadata_certificate);
    if (connection.kind !== 'oidc') throw new Error('This connection type has no documents.');
    const url =
      kind === 'jwks'
        ? (JSON.parse(await discoveryOf(connection)) as { jwks_uri: string }).jwks_uri
        : discoveryUrl(connection.settings);
    // A redirect could lead from https to http, where an attacker on the network can replace the keys.
    const response = await outgoing(url, { redirect: 'error', headers: { accept: 'application/json' } });
    if (!response.ok)
      throw invalidDocument(t('console.connection-document.status', { url, status: String(response.status) }));
    return response.text();
  }

  return async function read(
    connection: Connection,
    kind: DocumentKind,
    discoveryOf: (connection: Connection) => Promise<string>,
  ): Promise<DocumentRow> {
    const { id } = connection;
    const before = await readDocumentRow(dependencies, id, kind);
    const last = before?.content || undefined;
    try {
      const text = await load(connection, kind, discoveryOf);
      const content = checkedDocument(kind, connection, text, { parse: parseMetadata, before: last });
      if (last !== undefined && last !== content) {
        const data = { connection: id, document: kind, before: sha256(last), after: sha256(content) };
        await audit.record({ type: 'connection.document-changed', outcome: 'success', data });
      }
      return await storeDocument(dependencies, id, kind, content);
    } catch (error) {
      const reason = reasonOf(error);
      const message = String(reason);
      logger.warn({ connection: id, document: kind, reason: message }, 'a document of an upstream could not be read');
      // Once for each time that it begins to fail.
      if (!before?.failingSince) {
        const data = { connection: id, document: kind, message };
        await audit.record({ type: 'connection.document-failed', outcome: 'failure', reason: kind, data });
      }
      return storeError(dependencies, id, kind, reason, before);
    }
  };
}

/** Why it could not be read, for the administrator. */
function reasonOf(error: unknown): PageText {
  if (error instanceof FederationError) return error.reason;
  if (error instanceof AppError) return error.text;
  return messageOf(error);
}

/** OpenID Connect Discovery 4: below the issuer, whose slash at the end is removed. */
function discoveryUrl({ issuer, discovery_url }: { issuer: string; discovery_url?: string | undefined }): string {
  return discovery_url ?? `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`;
}

// The rows of documents. The MAC covers the content, so that a database writer cannot replace the keys of an upstream.

interface DocumentRow {
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

async function readDocumentRow(
  { db }: { db: Db },
  connectionId: string,
  kind: DocumentKind,
): Promise<DocumentRow | undefined> {
  const row = await db.connectionDocument.findUnique({ where: { connectionId_kind: { connectionId, kind } } });
  return row ? fromRow(row) : undefined;
}

async function listDocumentRows({ db }: { db: Db }, connectionId?: string): Promise<DocumentRow[]> {
  const rows = await db.connectionDocument.findMany({
    where: connectionId === undefined ? {} : { connectionId },
    orderBy: [{ connectionId: 'asc' }, { kind: 'asc' }],
  });
  return rows.flatMap((row) => fromRow(row) ?? []);
}

/** Stores a good document. */
async function storeDocument(
  { db, now }: ConnectionCore,
  connectionId: string,
  kind: DocumentKind,
  content: string,
): Promise<DocumentRow> {
  const readAt = now();
  const nextReadAt = addSeconds(readAt, limits.connections.readSeconds);
  const data = { content, readAt, nextReadAt, failingSince: null, lastError: null };
  await db.connectionDocument.upsert({
    where: { connectionId_kind: { connectionId, kind } },
    create: { connectionId, kind, ...data },
    update: data,
    select: { kind: true },
  });
  return { connectionId, kind, triedAt: readAt, ...data };
}

/** Stores that the document could not be read; the last good one stays. */
async function storeError(
  { db, now }: ConnectionCore,
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
  await db.connectionDocument.upsert({
    where: { connectionId_kind: { connectionId, kind } },
    create: { connectionId, kind, content, ...state },
    // Never the content: another node may have read a good one meanwhile.
    update: before ? state : { ...state, content },
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

function fromRow(row: Stored): DocumentRow | undefined {
  const { mac: _mac, ...rest } = row;
  const hasFailed = row.content !== '' && row.failingSince !== null;
  // There is no column for it: a failure puts the next reading off by `retrySeconds` (storeError).
  const triedAt = hasFailed ? addSeconds(row.nextReadAt, -limits.connections.retrySeconds) : row.readAt;
  const lastError = row.lastError === null ? null : readStoredText(row.lastError);
  return { ...rest, lastError, kind: row.kind as DocumentKind, triedAt };
}

function addSeconds(date: Date, seconds: number): Date {
  return new Date(date.getTime() + seconds * 1000);
}

// What a document of an upstream must say before it is used: the identity that the connection declares, endpoints that may be
// called, and keys. Pure but for the metadata parser.

export type DocumentKind = 'discovery' | 'jwks' | 'metadata';

/** What this folder needs to know of SAML metadata. */
interface ReadMetadata {
  entityId: string;
  signingCertificates: readonly { expiresAt: Date }[];
  /** Endpoints that cannot be used. */
  leftOut: readonly { what: string; location: string; fault: string }[];
}
/** Throws with a sentence for the administrator. */
export type ParseMetadata = (xml: string) => ReadMetadata;

/** Why a document can't be used, for the administrator. */
const invalidDocument = (message: Text, cause?: unknown): AppError =>
  new AppError('upstream_answer_invalid', { message, ...(cause !== undefined && { cause }) });

/** OpenID Connect Discovery 3: what is used here; every URL in it must be one that may be called. */
const discovery = z.looseObject({
  issuer: z.string(),
  authorization_endpoint: webUri,
  token_endpoint: webUri,
  jwks_uri: webUri,
  userinfo_endpoint: webUri.optional(),
  end_session_endpoint: webUri.optional(),
});

/**
 * The document in the form that is stored. Throws upstream_answer_invalid, and what `parse` throws.
 *
 * @param before the last good one, whose entity ID stays where the connection declares none
 */
function checkedDocument(
  kind: DocumentKind,
  connection: Connection,
  content: string,
  ofMetadata: { parse: ParseMetadata; before: string | undefined },
): string {
  if (kind === 'metadata') return checkedMetadata(connection, content, ofMetadata);
  const parsed = jsonOf(content);
  return kind === 'jwks' ? checkedKeys(parsed) : checkedDiscovery(connection, parsed);
}

function checkedMetadata(
  { settings }: Connection,
  content: string,
  { parse, before }: { parse: ParseMetadata; before: string | undefined },
): string {
  const { entityId, signingCertificates } = parse(content);
  const declared = 'entity_id' in settings ? settings.entity_id : undefined;
  const expected = declared ?? (before === undefined ? undefined : parse(before).entityId);
  if (expected !== undefined && entityId !== expected)
    throw invalidDocument(t('console.connection-document.other-entity-id', { found: entityId, expected }));
  const isPinned = 'certificates' in settings && settings.certificates.length > 0;
  if (!isPinned && signingCertificates.length === 0)
    throw invalidDocument(t('console.connection-document.no-certificate'));
  return content;
}

function checkedKeys(parsed: unknown): string {
  const { keys } = keySetIn(parsed);
  if (keys.length === 0) throw invalidDocument(t('console.connection-document.no-key'));
  return JSON.stringify({ keys });
}

function checkedDiscovery({ kind, settings }: Connection, parsed: unknown): string {
  const document = assertValid(discovery, parsed, (fault) =>
    t('console.connection-document.invalid-discovery', { fault }),
  );
  const issuer = kind === 'oidc' ? settings.issuer : undefined;
  // Character by character (OpenID Connect Discovery 4.3): a slash at the end counts.
  if (document.issuer !== issuer)
    throw invalidDocument(
      t('console.connection-document.other-issuer', { found: document.issuer, expected: String(issuer) }),
    );
  return JSON.stringify(document);
}

/** Shared secrets in a JWKS must never verify a signature, so it leaves them out. */
function keySetIn(parsed: unknown) {
  try {
    return fetchedKeySet(parsed);
  } catch (cause) {
    const fault = messageOf(cause);
    throw invalidDocument(t('console.connection-document.invalid-jwks', { fault }), cause);
  }
}

function jsonOf(content: string): unknown {
  try {
    return JSON.parse(content);
  } catch (cause) {
    throw invalidDocument(t('console.connection-document.not-json'), cause);
  }
}

function assertValid<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  invalid: (fault: string) => Text,
): z.output<Schema> {
  const checked = check(schema, value);
  if (checked.ok) return checked.value;
  const [found] = checked.faults;
  throw invalidDocument(invalid(found ? faultLine(found) : 'unknown error'));
}
