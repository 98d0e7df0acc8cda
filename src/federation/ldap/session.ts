// A connection to a directory for one sign-in: TLS before any password, a time limit for each step and for all, no referral. Of several
// servers the first that answers is used.
import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { createSecureContext, rootCertificates, type SecureContext } from 'node:tls';
import { Client, type Entry, type Filter, ResultCodeError } from 'ldapts';
import type { Config } from '../../base/config.ts';
import { limits } from '../../base/limits.ts';
import { systemStopwatch } from '../../base/platform/clock.ts';
import { type Attributes, runInChildSpan } from '../../base/platform/tracing.ts';
import { directoryUrls, type LdapSettings } from '../connections/kinds/ldap.ts';
import { FederationError } from '../faults.ts';
import { type BindRejection, directoryUnavailable, rejectionOf, SIZE_LIMIT_EXCEEDED } from './errors.ts';

export interface Search {
  base: string;
  scope: 'base' | 'sub';
  filter: Filter;
  attributes: string[];
  /** Attributes that are bytes. */
  binary?: string[];
  /** More hits than this are reported as `isCut`. */
  max: number;
}

export interface DirectorySession {
  /** Binds as the account that searches; without a DN anonymously. Returns why the directory rejects it. Throws upstream_unavailable. */
  bindToSearch(dn: string | undefined, password: string | undefined): Promise<BindRejection | undefined>;
  /** Undefined: the password is right; otherwise why not. Throws upstream_unavailable. */
  bindAsUser(dn: string, password: string): Promise<BindRejection | undefined>;
  search(search: Search): Promise<{ entries: Entry[]; isCut: boolean }>;
}

type Transport = Pick<LdapSettings, 'url' | 'start_tls' | 'ca'> & Pick<Config, 'authorityFiles'>;
type Server = Omit<Transport, 'url'> & { url: string };

export interface DirectoryWork<T> {
  /** The first use of the connection. When the server does not answer, the next one is tried. */
  open(session: DirectorySession): Promise<void>;
  work(session: DirectorySession): Promise<T>;
}

/** Runs `work` on a new connection, which is closed after it. Throws upstream_unavailable. */
export async function withDirectory<T>(settings: Transport, { open, work }: DirectoryWork<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(
      () => reject(directoryUnavailable('the sign-in', new Error('time limit'))),
      limits.ldap.signInSeconds * 1000,
    );
  });
  const clients: Client[] = [];
  let isEnded = false;
  const isOver = () => isEnded;
  const done = runInChildSpan('ldap', { kind: 'client', attributes: spanAttributes(settings) }, async () =>
    work(await firstServer(settings, { open, clients, isOver })),
  );
  try {
    return await Promise.race([done, late]);
  } finally {
    isEnded = true;
    clearTimeout(timer);
    done.catch(() => {});
    for (const client of clients) client.unbind().catch(() => {});
  }
}

/** When each server, by its URL, last failed; those are tried after the others for a while. */
const failedAt = new Map<string, number>();

async function firstServer(
  settings: Transport,
  { open, clients, isOver }: { open: DirectoryWork<unknown>['open']; clients: Client[]; isOver: () => boolean },
): Promise<DirectorySession> {
  const hasFailed = (url: string) =>
    (failedAt.get(url) ?? Number.NEGATIVE_INFINITY) > systemStopwatch() - limits.ldap.serverDownSeconds * 1000;
  const urls = directoryUrls(settings);
  const ordered = [...urls.filter((url) => !hasFailed(url)), ...urls.filter(hasFailed)];
  for (const [at, url] of ordered.entries()) {
    const server = { ...settings, url };
    const client = clientOf(server);
    clients.push(client);
    try {
      await step('the connection', () => connect(client));
      if (settings.start_tls) await startTls(client, server);
      const session = sessionOn(client, isOver);
      await open(session);
      failedAt.delete(url);
      return session;
    } catch (error) {
      // An answer of the server is that of the directory.
      if (!isOutage(error)) throw error;
      failedAt.set(url, systemStopwatch());
      if (at === ordered.length - 1) throw error;
    }
  }
  throw directoryUnavailable('the connection', new Error('no server'));
}

/** Nothing, or that it can't serve now: busy, unavailable (RFC 4511 4.1.9). */
function isOutage(error: unknown): boolean {
  if (!(error instanceof FederationError)) return false;
  const { rule, cause } = error;
  return rule === 'connection' || (cause instanceof ResultCodeError && [51, 52].includes(cause.code));
}

function clientOf(server: Server): Client {
  return new Client({
    url: server.url,
    connectTimeout: limits.ldap.connectSeconds * 1000,
    timeout: limits.ldap.stepSeconds * 1000,
    ...(/^ldaps:/i.test(server.url) && { tlsOptions: tlsOptions(server) }),
  });
}

/** The LDAP client connects at its first operation only, which is a bind in its turn (directory.ts). */
async function connect(client: Client): Promise<void> {
  await Reflect.apply(Reflect.get(client, '_connect') as () => Promise<void>, client, []);
}

/** Exchanges the plain connection for TLS (RFC 4513 3.1). */
async function startTls(client: Client, settings: Server): Promise<void> {
  await step('StartTLS', () => client.startTLS(tlsOptions(settings)));
  // Plain bytes that came before TLS would become a part of the first answer within it.
  const parser: { buffer?: Buffer } = Reflect.get(client, 'messageParser');
  if (parser.buffer !== undefined && parser.buffer.length > 0)
    throw directoryUnavailable('StartTLS', new Error('the directory sent plain bytes after its answer to StartTLS'));
}

function sessionOn(client: Client, isOver: () => boolean): DirectorySession {
  // The LDAP client would reconnect automatically, but without StartTLS, and after the time limit.
  const assertOpen = () => {
    if (isOver()) throw new Error('time limit');
    if (!client.isConnected) throw new Error('the connection was closed');
  };
  const bind = async (dn: string, password: string) => {
    assertOpen();
    try {
      await client.bind(dn, password);
      return undefined;
    } catch (error) {
      const rejection = rejectionOf(error);
      if (rejection === undefined) throw error;
      return rejection;
    }
  };
  return {
    bindToSearch: (dn, password) =>
      step('the bind of the account that searches', async () => {
        if (dn !== undefined && !password) throw new Error('it has no password');
        return bind(dn ?? '', dn === undefined ? '' : (password ?? ''));
      }),

    bindAsUser: (dn, password) =>
      step('the bind of the user', async () => {
        // Without a password or a DN the bind is anonymous and succeeds (RFC 4513 5.1.2).
        if (dn === '' || password === '') throw new Error('a bind needs a DN and a password');
        return bind(dn, password);
      }),

    search: (search) =>
      step('the search', async () => {
        assertOpen();
        return find(client, search);
      }),
  };
}

async function find(client: Client, search: Search): Promise<{ entries: Entry[]; isCut: boolean }> {
  const { base, scope, filter, attributes, binary = [], max } = search;
  const isPaged = max > PAGE;
  try {
    // References to other servers are not followed: they would get the password.
    const { searchEntries } = await client.search(base, {
      scope,
      filter,
      attributes,
      explicitBufferAttributes: binary,
      derefAliases: 'never',
      timeLimit: limits.ldap.stepSeconds,
      ...(isPaged ? { paged: { pageSize: PAGE } } : { sizeLimit: max + 1 }),
    });
    return { entries: searchEntries.slice(0, max), isCut: searchEntries.length > max };
  } catch (error) {
    if (error instanceof ResultCodeError && error.code === SIZE_LIMIT_EXCEEDED) return { entries: [], isCut: true };
    throw error;
  }
}

const PAGE = 500;

async function step<T>(doing: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw directoryUnavailable(doing, error);
  }
}

/** Made of some hundred certificates, so it serves many connections. */
const contexts = new Map<string, { context: SecureContext; until: number }>();

function secureContextOf({ ca, authorityFiles }: Server): SecureContext {
  const key = ca.join('\n');
  const cached = contexts.get(key);
  if (cached && cached.until > systemStopwatch()) return cached.context;
  const context = createSecureContext({ ca: [...systemAuthorities(authorityFiles), ...ca], minVersion: 'TLSv1.2' });
  contexts.set(key, { context, until: systemStopwatch() + limits.ldap.authoritiesSeconds * 1000 });
  return context;
}

function tlsOptions(server: Server) {
  const host = new URL(server.url).hostname.replace(/^\[|\]$/g, '');
  return {
    host,
    ...(isIP(host) === 0 && { servername: host }),
    secureContext: secureContextOf(server),
    rejectUnauthorized: true,
  };
}

function spanAttributes(settings: Transport): Attributes {
  const [url = ''] = directoryUrls(settings);
  const { hostname, port, protocol } = new URL(url);
  const usualPort = protocol === 'ldaps:' ? 636 : 389;
  return { 'network.protocol.name': 'ldap', 'server.address': hostname, 'server.port': Number(port) || usualPort };
}

// The certificates of authorities that the machine trusts: those of Node.js (Mozilla's), and those that the operator has installed.

/** Where distributions keep the bundle; the first that exists counts. OpenSSL reads SSL_CERT_FILE instead where it is set. */
const BUNDLES = [
  '/etc/ssl/certs/ca-certificates.crt', // Debian, Ubuntu, Alpine
  '/etc/pki/tls/certs/ca-bundle.crt', // Fedora, RHEL
  '/etc/ssl/ca-bundle.pem', // openSUSE
  '/etc/ssl/cert.pem', // Alpine, BSD, macOS
];

/** In PEM form. Read at each call, so that a new certificate counts without a restart. */
export function systemAuthorities({ system, extra }: Config['authorityFiles']): string[] {
  const bundle = system
    ? certificatesIn(system)
    : (BUNDLES.map(certificatesIn).find((found) => found.length > 0) ?? []);
  return [...new Set([...rootCertificates, ...bundle, ...(extra ? certificatesIn(extra) : [])])];
}

/** None of a file that cannot be read. */
function certificatesIn(file: string): string[] {
  try {
    return readFileSync(file, 'utf8').match(/-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g) ?? [];
  } catch {
    return [];
  }
}
