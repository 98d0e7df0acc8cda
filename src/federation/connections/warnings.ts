// What an administrator should look at: secrets that were rejected, secrets and certificates that expire, documents that cannot be read, domains without
// their TXT record, and rows that another program wrote. For the overview of the console, `gatehouse doctor` and mail.

import { X509Certificate } from 'node:crypto';
import type { Base } from '../../base/base.ts';
import { limits } from '../../base/limits.ts';
import { sha256 } from '../../base/platform/random.ts';
import { transaction } from '../../base/storage/database.ts';
import { isFirstUse } from '../../base/storage/seen-ids.ts';
import { type Text, t } from '../../base/texts/text.ts';
import type { Core } from '../../core/core.ts';
import type { ScheduledJob } from '../../core/jobs/scheduler.ts';
import type { KeyUse } from '../../core/keys/rotation.ts';
import type { Connection, SamlConnection } from './connection.ts';
import type { Connections } from './connections.ts';
import type { ConnectionDocuments, ParseMetadata } from './documents.ts';
import { networkSentence } from './network-sentences.ts';
import { rejectedSecret, type SecretInfo } from './secrets.ts';

export interface ConnectionWarning {
  /** Absent for a row that another program wrote. */
  connection?: Connection;
  code: 'ends' | 'own-certificate' | 'document' | 'domain' | 'endpoint' | 'forged' | 'rejected';
  /** One sentence with the name of the connection. */
  text: Text;
  /** When `what` expires. */
  until?: Date;
  /** Names it in the key of a notice that was sent, so the words stay the same in all versions. */
  what?: string;
  /** Users cannot sign in, or will not be able to within a week. */
  isUrgent: boolean;
}

const DAY_MS = 86_400_000;
const names = {
  'client-secret': 'the client secret',
  'private-key': 'the private key',
  'bind-password': 'the password for the directory',
  certificate: 'the last signing certificate',
} as const;

/** The warnings of all enabled connections. It reads the database only. */
export async function connectionWarnings(
  dependencies: Base & {
    connections: Connections;
    documents: ConnectionDocuments;
    parseMetadata: ParseMetadata;
    /** The active certificates of this server as SAML service provider. */
    ownCertificates(): Promise<{ use: KeyUse; until: Date }[]>;
  },
): Promise<ConnectionWarning[]> {
  const { connections } = dependencies;
  const warnings = (await connections.forgedIds()).map(
    (id): ConnectionWarning => ({
      code: 'forged',
      isUrgent: true,
      text: t('console.connection-warning.forged', { id }),
    }),
  );
  const enabled = await connections.enabled();
  if (enabled.some(({ kind }) => kind === 'saml')) warnings.push(...(await expiringOwnCertificates(dependencies)));
  for (const connection of enabled) {
    warnings.push(...(await rejectedSecrets(connection, dependencies)));
    warnings.push(...(await expiringSecrets(connection, dependencies)));
    warnings.push(...(await expiringCertificates(connection, dependencies)));
    warnings.push(...(await unusableEndpoints(connection, dependencies)));
    warnings.push(...(await unreadDocuments(connection, dependencies)));
    warnings.push(...(await unprovenDomains(connection, dependencies)));
  }
  return warnings;
}

/** Where no other secret is left that the upstream has not rejected. */
async function rejectedSecrets(
  connection: Connection,
  { connections, now }: Base & { connections: Connections },
): Promise<ConnectionWarning[]> {
  const rejected = rejectedSecret(await connections.secretInfos(connection.id), now());
  if (!rejected?.rejectedAt) return [];
  const { name } = connection;
  const isPassword = rejected.purpose === 'bind-password';
  const text = t(`console.connection-warning.${isPassword ? 'rejected' : 'client-rejected'}`, {
    name,
    day: isoDay(rejected.rejectedAt),
    error: networkSentence(rejected.rejectedText ?? '') ?? rejected.rejectedText ?? '',
  });
  return [{ connection, code: 'rejected', text, isUrgent: true }];
}

async function expiringSecrets(connection: Connection, { connections, now }: Base & { connections: Connections }) {
  const secrets = await connections.secretInfos(connection.id);
  const purposes = [...new Set(secrets.map(({ purpose }) => purpose))];
  return purposes.flatMap((purpose) => {
    // During a rotation several are valid: only the last expiry matters.
    const end = lastExpiry(secrets.filter((secret) => secret.purpose === purpose));
    return end ? expiryWarnings(connection, purpose, end, now()) : [];
  });
}

function lastExpiry(secrets: readonly SecretInfo[]): Date | undefined {
  const ends = secrets.map(({ expiresAt }) => expiresAt?.getTime() ?? Number.POSITIVE_INFINITY);
  const last = Math.max(...ends);
  return Number.isFinite(last) ? new Date(last) : undefined;
}

async function expiringCertificates(
  connection: Connection,
  { documents, parseMetadata, now }: Base & { documents: ConnectionDocuments; parseMetadata: ParseMetadata },
): Promise<ConnectionWarning[]> {
  if (connection.kind !== 'saml') return [];
  const { certificates } = connection.settings;
  const content = await metadataOf(connection, documents);
  const ends = certificates.map((pem) => new Date(new X509Certificate(pem).validTo).getTime());
  if (ends.length === 0 && content !== undefined) ends.push(...expiryDatesIn(content, parseMetadata));
  if (ends.length === 0) return [];
  return expiryWarnings(connection, 'certificate', new Date(Math.max(...ends)), now());
}

async function metadataOf({ id, settings }: SamlConnection, documents: ConnectionDocuments) {
  return settings.metadata ?? (await documents.stored(id, 'metadata'));
}

/** Endpoints in the metadata that are left out because they have no usable address. */
async function unusableEndpoints(
  connection: Connection,
  { documents, parseMetadata }: { documents: ConnectionDocuments; parseMetadata: ParseMetadata },
): Promise<ConnectionWarning[]> {
  const content = connection.kind === 'saml' ? await metadataOf(connection, documents) : undefined;
  if (content === undefined) return [];
  const { name } = connection;
  return leftOutOf(content, parseMetadata).map(({ what, location, fault }) => ({
    connection,
    code: 'endpoint',
    isUrgent: false,
    text: t('console.connection-warning.endpoint', { name, what, location, fault }),
  }));
}

function leftOutOf(content: string, parseMetadata: ParseMetadata) {
  try {
    return parseMetadata(content).leftOut;
  } catch {
    return []; // a fault of its document
  }
}

function expiryDatesIn(content: string, parseMetadata: ParseMetadata): number[] {
  try {
    return parseMetadata(content).signingCertificates.map(({ expiresAt }) => expiresAt.getTime());
  } catch {
    return []; // metadata that is too old is a fault of its document
  }
}

async function expiringOwnCertificates({
  ownCertificates,
  now,
}: Base & {
  /** The active certificates of this server as SAML service provider. */
  ownCertificates(): Promise<{ use: KeyUse; until: Date }[]>;
}) {
  return (await ownCertificates()).flatMap(({ use: keyUse, until }): ConnectionWarning[] => {
    const use = keyUse === 'saml-sp' ? 'signing' : 'encryption';
    const end = soonExpiring(until, now());
    if (!end) return [];
    const { days, isUrgent } = end;
    const text =
      days < 0
        ? t('console.connection-warning.own-expired', { use, day: isoDay(until) })
        : days === 0
          ? t('console.connection-warning.own-expires-today', { use })
          : t('console.connection-warning.own-expires-in', { use, count: days });
    const what = `the ${use} certificate of this server as SAML service provider`;
    return [{ code: 'own-certificate', what, until, text, isUrgent }];
  });
}

function expiryWarnings(
  connection: Connection,
  expires: keyof typeof names,
  until: Date,
  now: Date,
): ConnectionWarning[] {
  const end = soonExpiring(until, now);
  if (!end) return [];
  const { days, isUrgent } = end;
  const { name } = connection;
  // A selector of a message has no hyphen.
  const what = expires.replace('-', '_');
  const text =
    days < 0
      ? t('console.connection-warning.expired', { name, what, day: isoDay(until) })
      : days === 0
        ? t('console.connection-warning.expires-today', { name, what })
        : t('console.connection-warning.expires-in', { name, what, count: days });
  return [{ connection, code: 'ends', what: names[expires], until, text, isUrgent }];
}

/** As `gatehouse doctor` prints dates. */
const isoDay = (at: Date): string => at.toISOString().slice(0, 10);

function soonExpiring(until: Date, now: Date): { days: number; isUrgent: boolean } | undefined {
  const days = Math.floor((until.getTime() - now.getTime()) / DAY_MS);
  if (days >= limits.connections.warnDays) return undefined;
  return { days, isUrgent: days < limits.connections.remindDays };
}

async function unreadDocuments(
  connection: Connection,
  { documents, now }: Base & { documents: ConnectionDocuments },
): Promise<ConnectionWarning[]> {
  const since = now().getTime() - limits.connections.failingDays * DAY_MS;
  return (await documents.states(connection.id))
    .filter(({ failingSince, hasContent }) => failingSince && (failingSince.getTime() <= since || !hasContent))
    .map(({ kind, lastError, hasContent }) => ({
      connection,
      code: 'document',
      isUrgent: !hasContent,
      text: t('console.connection-warning.document', {
        name: connection.name,
        document: kind,
        error: lastError
          ? (networkSentence(String(lastError)) ?? lastError)
          : t('console.connection-warning.unknown-error'),
      }),
    }));
}

async function unprovenDomains(
  connection: Connection,
  { connections }: { connections: Connections },
): Promise<ConnectionWarning[]> {
  return (await connections.domains(connection.id))
    .filter(({ provenAt, checkedAt }) => provenAt === null && checkedAt !== null)
    .map(({ domain, record }) => ({
      connection,
      code: 'domain',
      isUrgent: false,
      text: t('console.connection-warning.domain', { name: connection.name, domain, record: record.name }),
    }));
}

// The periodic jobs of connections: documents and domain proofs that are due, and mail about what ends.

export function connectionJobs(
  services: Base & {
    documents: { refreshDue(signal: AbortSignal): Promise<Date | undefined> };
    domainChecks: { checkDue(signal: AbortSignal): Promise<void> };
    groupDomains: { checkDue(signal: AbortSignal): Promise<void> };
    notifyOfExpiry: ScheduledJob['run'];
  },
): ScheduledJob[] {
  const { documents, domainChecks, groupDomains, notifyOfExpiry, now } = services;
  const everySeconds = limits.connections.pollSeconds;
  let next: Date | undefined;
  return [
    {
      name: 'connection-documents',
      everySeconds,
      async run(signal) {
        next = await documents.refreshDue(signal);
      },
      againInSeconds() {
        const seconds = next && Math.max(1, (next.getTime() - now().getTime()) / 1000);
        next = undefined;
        return seconds;
      },
    },
    {
      name: 'domain-proofs',
      everySeconds,
      async run(signal) {
        await domainChecks.checkDue(signal);
        await groupDomains.checkDue(signal);
      },
    },
    { name: 'connection-ends', everySeconds: 24 * 3600, run: notifyOfExpiry },
  ];
}

const REMEMBER_MS = 90 * 86_400_000;

/** Queues the mails that are due and returns how many secrets and certificates they are about. Run by one instance, once a day. */
export function createExpiryNotices(services: Core & { warnings(): Promise<ConnectionWarning[]> }) {
  const { db, sql, now, warnings, notifyAdministrators } = services;
  return async function notify(): Promise<number> {
    let notices = 0;
    for (const { connection, what, until, text, isUrgent } of await warnings()) {
      if (!what || !until) continue;
      const key = [connection?.id ?? '', what, until.getTime(), isUrgent].join('\n');
      const rememberUntil = new Date(Math.max(until.getTime(), now().getTime()) + REMEMBER_MS);
      const isNew = await transaction(db, async (tx) => {
        // In the transaction of the mails, so that neither exists without the other.
        if (!(await isFirstUse(sql.in(tx), `connection-end:${sha256(key)}`, rememberUntil))) return false;
        const about = connection ? { connection: connection.name, connectionId: connection.id } : {};
        await notifyAdministrators({ kind: 'connection-end', text: String(text), until, ...about }, tx);
        return true;
      });
      if (isNew) notices += 1;
    }
    return notices;
  };
}
