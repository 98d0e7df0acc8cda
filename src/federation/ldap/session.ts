// A connection to a directory for one sign-in: TLS before any password, a time limit for each step and for all, no referral.
import { isIP } from 'node:net';
import { rootCertificates } from 'node:tls';
import { Client, type Entry, type Filter, ResultCodeError } from 'ldapts';
import type { LdapSettings } from '../../connections/kinds/ldap.ts';
import { limits } from '../../limits.ts';
import { type Attributes, runInChildSpan } from '../../platform/tracing.ts';
import { directoryUnavailable, rejectionOf, SIZE_LIMIT_EXCEEDED } from './errors.ts';

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
  /** Binds as the account that searches; without a DN anonymously. Throws upstream_unavailable. */
  bindToSearch(dn: string | undefined, password: string | undefined): Promise<void>;
  /** Undefined: the password is right; otherwise why not, for the audit log. Throws upstream_unavailable. */
  bindAsUser(dn: string, password: string): Promise<string | undefined>;
  search(search: Search): Promise<{ entries: Entry[]; isCut: boolean }>;
}

type Transport = Pick<LdapSettings, 'url' | 'start_tls' | 'ca'>;

/** Runs `work` on a new connection, which is closed after it. Throws upstream_unavailable. */
export async function withDirectory<T>(
  settings: Transport,
  work: (session: DirectorySession) => Promise<T>,
): Promise<T> {
  const { connectSeconds, stepSeconds, signInSeconds } = limits.ldap;
  const client = new Client({
    url: settings.url,
    connectTimeout: connectSeconds * 1000,
    timeout: stepSeconds * 1000,
    ...(isTls(settings) && { tlsOptions: tlsOptions(settings) }),
  });
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(
      () => reject(directoryUnavailable('the sign-in', new Error('time limit'))),
      signInSeconds * 1000,
    );
  });
  const done = runInChildSpan('ldap', { kind: 'client', attributes: spanAttributes(settings) }, () =>
    run(client, settings, work),
  );
  try {
    return await Promise.race([done, late]);
  } finally {
    clearTimeout(timer);
    done.catch(() => {});
    client.unbind().catch(() => {});
  }
}

async function run<T>(
  client: Client,
  settings: Transport,
  work: (session: DirectorySession) => Promise<T>,
): Promise<T> {
  if (settings.start_tls) await startTls(client, settings);
  return work(sessionOn(client, settings));
}

/** Exchanges the plain connection for TLS (RFC 4513 3.1). */
async function startTls(client: Client, settings: Transport): Promise<void> {
  await step('StartTLS', () => client.startTLS(tlsOptions(settings)));
  // Plain bytes that came before TLS would become a part of the first answer within it.
  const parser: { buffer?: Buffer } = Reflect.get(client, 'messageParser');
  if (parser.buffer !== undefined && parser.buffer.length > 0)
    throw directoryUnavailable('StartTLS', new Error('the directory sent plain bytes after its answer to StartTLS'));
}

function sessionOn(client: Client, settings: Transport): DirectorySession {
  // The LDAP client would reconnect automatically, but without StartTLS.
  const assertOpen = () => {
    if (settings.start_tls && !client.isConnected) throw new Error('the connection was closed');
  };
  return {
    bindToSearch: (dn, password) =>
      step('the bind of the account that searches', async () => {
        assertOpen();
        if (dn !== undefined && !password) throw new Error('it has no password');
        await client.bind(dn ?? '', dn === undefined ? '' : password);
      }),

    bindAsUser: (dn, password) =>
      step('the bind of the user', async () => {
        // Without a password or a DN the bind is anonymous and succeeds (RFC 4513 5.1.2).
        if (dn === '' || password === '') throw new Error('a bind needs a DN and a password');
        assertOpen();
        try {
          await client.bind(dn, password);
          return undefined;
        } catch (error) {
          const reason = rejectionOf(error);
          if (reason === undefined) throw error;
          return reason;
        }
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
      ...{ scope, filter, attributes, explicitBufferAttributes: binary, derefAliases: 'never' },
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

const isTls = ({ url }: Transport) => /^ldaps:/i.test(url);

function tlsOptions({ url, ca }: Transport) {
  const host = new URL(url).hostname.replace(/^\[|\]$/g, '');
  return {
    host,
    ...(isIP(host) === 0 && { servername: host }),
    ca: [...rootCertificates, ...ca],
    minVersion: 'TLSv1.2' as const,
    rejectUnauthorized: true,
  };
}

function spanAttributes({ url }: Transport): Attributes {
  const { hostname, port, protocol } = new URL(url);
  const usualPort = protocol === 'ldaps:' ? 636 : 389;
  return { 'network.protocol.name': 'ldap', 'server.address': hostname, 'server.port': Number(port) || usualPort };
}
