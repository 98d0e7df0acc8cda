// What an Active Directory domain says about itself: the name in front of a login (CORP\name), and when it locks an account.
import type { Entry } from 'ldapts';
import { limits } from '../../base/limits.ts';
import type { Clock } from '../../base/platform/clock.ts';
import type { LdapConnection } from '../connections/connection.ts';
import { equals, filterWith } from './filter.ts';
import { valuesOf } from './identity.ts';
import type { DirectorySession } from './session.ts';

export interface DirectoryLockout {
  /** So many wrong passwords lock the account. */
  threshold: number;
  /** The directory counts from zero after so long without a wrong password. */
  windowSeconds: number;
}

export interface Domain {
  /** Of the domain itself, by the names that may be in front of a login, in lower case. */
  names: string[];
  /** Undefined: it could not be read. Threshold 0: accounts are never locked. */
  lockout: DirectoryLockout | undefined;
}

export type ReadDomain = (session: DirectorySession, connection: LdapConnection) => Promise<Domain>;

/** Reads it once in some minutes for each connection. */
export function createReadDomain(now: Clock): ReadDomain {
  const cached = new Map<string, { domain: Domain; until: number }>();
  return async (session, { id, settings }) => {
    const root = domainRootOf(settings.base_dn);
    const key = `${id} ${settings.url} ${root}`;
    const found = cached.get(key);
    if (found && found.until > now().getTime()) return found.domain;
    const domain = await readDomain(session, root);
    cached.set(key, { domain, until: now().getTime() + limits.ldap.domainSeconds * 1000 });
    return domain;
  };
}

async function readDomain(session: DirectorySession, root: string): Promise<Domain> {
  const anything = filterWith('(objectClass=*)', 'dn', '');
  const one = async (base: string, attributes: string[]) =>
    (await session.search({ base, scope: 'base', filter: anything, attributes, max: 1 }).catch(() => undefined))
      ?.entries[0];
  const domain = await one(root, [THRESHOLD, WINDOW]);
  const configuration = textOf(await one('', ['configurationNamingContext']), 'configurationNamingContext');
  const partitions = configuration === undefined ? undefined : `CN=Partitions,${configuration}`;
  const partition =
    partitions === undefined
      ? undefined
      : await session
          .search({ base: partitions, scope: 'sub', max: 1, filter: equals('nCName', root), attributes: NAMES })
          .catch(() => undefined);
  const dnsName = [...root.matchAll(/dc=([^,]+)/gi)].map(([, label = '']) => label.trim()).join('.');
  const stated = NAMES.flatMap((name) => textOf(partition?.entries[0], name) ?? []);
  // Where the partitions can't be read, the first label of the DNS name is the usual one.
  const names = stated.length > 0 ? stated : [dnsName.split('.', 1).join('')];
  return {
    names: [...new Set([...names, dnsName].map((name) => name.toLowerCase()))].filter((name) => name !== ''),
    lockout: lockoutIn(domain, THRESHOLD, WINDOW),
  };
}

const NAMES = ['nETBIOSName', 'dnsRoot'];
const THRESHOLD = 'lockoutThreshold';
const WINDOW = 'lockOutObservationWindow';

/** The policy of the password settings object that applies to the user (MS-ADTS 3.1.1.4.5.36); most accounts may not read it. */
export async function lockoutOfUser(
  session: DirectorySession,
  entry: Entry,
): Promise<DirectoryLockout | 'unreadable' | undefined> {
  const dn = textOf(entry, 'msDS-ResultantPSO');
  if (dn === undefined) return undefined;
  const [threshold, window] = ['msDS-LockoutThreshold', 'msDS-LockoutObservationWindow'] as const;
  const search = { base: dn, scope: 'base', max: 1 } as const;
  const filter = filterWith('(objectClass=*)', 'dn', '');
  const found = await session.search({ ...search, filter, attributes: [threshold, window] }).catch(() => undefined);
  return lockoutIn(found?.entries[0], threshold, window) ?? 'unreadable';
}

/** The window is negative, in intervals of 100 ns. */
function lockoutIn(entry: Entry | undefined, threshold: string, window: string): DirectoryLockout | undefined {
  const [count, interval] = [textOf(entry, threshold), textOf(entry, window)];
  if (count === undefined || !/^\d{1,9}$/.test(count)) return undefined;
  const seconds = Math.abs(Number(interval ?? 0)) / 10_000_000;
  // Without an end, an administrator unlocks: a month is as good as that.
  const windowSeconds = seconds > 0 && seconds < MONTH ? seconds : MONTH;
  return { threshold: Number(count), windowSeconds };
}

const MONTH = 30 * 86_400;

function textOf(entry: Entry | undefined, name: string): string | undefined {
  const [value] = entry === undefined ? [] : valuesOf(entry, name);
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** The logins to search for, the best one first; none when the login names another domain. */
export function loginsOf(login: string, { names }: Domain): string[] {
  const [, domain, name] = /^([^\\]+)\\([^\\]+)$/.exec(login.trim()) ?? [];
  if (domain !== undefined && name !== undefined) return names.includes(domain.toLowerCase()) ? [name] : [];
  // Without userPrincipalName the name is that of the account at the DNS name of the domain (MS-ADTS 5.1.1.1.1).
  const at = login.lastIndexOf('@');
  return at > 0 &&
    names.includes(
      login
        .slice(at + 1)
        .trim()
        .toLowerCase(),
    )
    ? [login, login.slice(0, at)]
    : [login];
}

// Distinguished names (RFC 4514): whether an entry is below a base, and the suffix of a domain.

/**
 * Whether the entry is the base or below it. Names are compared after normalization of case, spaces and escapes
 * (RFC 4514).
 */
export function isBelow(dn: string, base: string): boolean {
  const [entry, parent] = [rdnsOf(dn), rdnsOf(base)];
  if (entry === undefined || parent === undefined || parent.length === 0 || entry.length < parent.length) return false;
  return parent.every((part, at) => part === entry[entry.length - parent.length + at]);
}

/** The trailing `dc=` parts: the root of the domain; the DN itself when it has none. */
export function domainRootOf(dn: string): string {
  return /(?:^|,)\s*(dc=[^,\\]+(?:\s*,\s*dc=[^,\\]+)*)\s*$/i.exec(dn)?.[1] ?? dn;
}

/** The RDNs, normalized; undefined for a text that is no DN. */
function rdnsOf(dn: string): string[] | undefined {
  const parts = dn.split(/(?<=(?:^|[^\\])(?:\\\\)*)[,;]/);
  const normalized = parts.map((part) => {
    const [, type = '', value = ''] = /^\s*([A-Za-z0-9.-]+)\s*=\s*(.*?)\s*$/s.exec(part) ?? [];
    return type === '' ? undefined : `${type}=${unescaped(value)}`.toLowerCase();
  });
  return normalized.includes(undefined) ? undefined : (normalized as string[]);
}

function unescaped(value: string): string {
  const bytes: Buffer[] = [];
  for (const [, hex, character, plain] of value.matchAll(/\\([0-9a-f]{2})|\\(.)|([^\\]+)/gisu)) {
    bytes.push(hex === undefined ? Buffer.from(character ?? plain ?? '') : Buffer.from(hex, 'hex'));
  }
  return Buffer.concat(bytes).toString('utf8');
}
