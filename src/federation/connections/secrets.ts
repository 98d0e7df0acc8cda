// Client secrets, private keys and bind passwords at rest: encrypted, because the upstream wants the value. Several may be
// stored while one is rotated, each with the time at which it ends at the upstream.
import { conflict, notFound } from '../../base/http/errors.ts';
import { limits } from '../../base/limits.ts';
import { randomId, safeEqual } from '../../base/platform/random.ts';
import type { Tx } from '../../base/storage/database.ts';
import { t } from '../../base/texts/text.ts';
import type { ConnectionsContext } from './context.ts';
import type { DeclaredSecret } from './kinds/fields.ts';
import type { SecretPurpose } from './schema.ts';

/** A stored secret without its value. */
export interface SecretInfo {
  id: string;
  purpose: SecretPurpose;
  createdAt: Date;
  expiresAt: Date | null;
  /** When the upstream rejected it, why (an audit reason), and in which words. */
  rejectedAt: Date | null;
  rejectedReason: string | null;
  rejectedText: string | null;
}
export type DecryptedSecret = SecretInfo & { value: string };

const newestFirst = [{ createdAt: 'desc' }, { id: 'asc' }] as const;

/** Without the values. The end is the sealed one, as in readSecrets. */
export async function listSecrets({ vault }: ConnectionsContext, connectionId: string, tx: Tx): Promise<SecretInfo[]> {
  const rows = await tx.connectionSecret.findMany({ where: { connectionId }, orderBy: [...newestFirst] });
  const secrets = rows.flatMap((row) => decrypted(vault, row) ?? []);
  return secrets.map(({ value: _value, ...info }) => info);
}

/** The values for a purpose: unexpired ones first, then newest first. The date is a note of the administrator, and may be wrong. */
export async function readSecrets(
  context: ConnectionsContext,
  connectionId: string,
  purpose: SecretPurpose,
  tx: Tx,
): Promise<DecryptedSecret[]> {
  return decryptSecrets(context, connectionId, purpose, await encryptedSecrets(connectionId, tx));
}

type EncryptedSecret = Awaited<ReturnType<typeof encryptedSecrets>>[number];

/** The rows of a connection, newest first. */
export function encryptedSecrets(connectionId: string, tx: Tx) {
  return tx.connectionSecret.findMany({ where: { connectionId }, orderBy: [...newestFirst] });
}

/** The same as `readSecrets`, from rows that were read before. */
export function decryptSecrets(
  { vault, now }: ConnectionsContext,
  connectionId: string,
  purpose: SecretPurpose,
  rows: readonly EncryptedSecret[],
): DecryptedSecret[] {
  const ofPurpose = rows.filter((row) => row.connectionId === connectionId && row.purpose === purpose);
  const secrets = ofPurpose.flatMap((row) => decrypted(vault, row) ?? []);
  const isExpired = ({ expiresAt }: SecretInfo) => expiresAt !== null && expiresAt <= now();
  return [...secrets.filter((secret) => !isExpired(secret)), ...secrets.filter(isExpired)];
}

/** Stores one more secret. Throws conflict (409) when there are too many. */
export async function storeSecret(
  { vault, now }: ConnectionsContext,
  connectionId: string,
  purpose: SecretPurpose,
  { value, expires_at }: DeclaredSecret,
  tx: Tx,
): Promise<SecretInfo> {
  if ((await tx.connectionSecret.count({ where: { connectionId, purpose } })) >= limits.connections.maxSecrets) {
    const message = t('console.connections.fault.too-many-secrets', { count: limits.connections.maxSecrets });
    throw conflict('conflict', { message });
  }
  const id = randomId();
  const expiresAt = expiryOf(expires_at);
  const content: SealedContent = {
    connection: connectionId,
    purpose,
    value,
    expires: expiresAt?.toISOString() ?? null,
  };
  const valueSealed = vault.seal(JSON.stringify(content), contextOf(id));
  const rejection = { rejectedAt: null, rejectedReason: null, rejectedText: null };
  const row = { id, connectionId, purpose, createdAt: now(), expiresAt, ...rejection };
  await tx.connectionSecret.create({ data: { ...row, valueSealed } });
  const { connectionId: _connection, ...info } = row;
  return info;
}

/** Rejections that end by themselves, and at which the upstream counts no further attempt: locked, outside of the hours. */
const TEMPORARY = ['directory_account_locked', 'directory_not_now', 'directory_constraint'];

/** Whether the upstream rejected the secret, so that it is not sent: for good, or for a while where the rejection ends by itself. */
export function isRejected({ rejectedAt, rejectedReason }: SecretInfo, now: Date): boolean {
  if (rejectedAt === null) return false;
  if (!TEMPORARY.includes(rejectedReason ?? '')) return true;
  return rejectedAt.getTime() + limits.ldap.rejectedAgainSeconds * 1000 > now.getTime();
}

/**
 * The secret because of which nobody can sign in: the newest password of a directory, where the directory has rejected each that is stored;
 * the newest client secret or key, which is the one that is sent.
 * @param secrets the newest first
 */
export function rejectedSecret(secrets: readonly SecretInfo[], now: Date): SecretInfo | undefined {
  const passwords = secrets.filter(({ purpose }) => purpose === 'bind-password');
  if (passwords.length > 0) return passwords.every((one) => isRejected(one, now)) ? passwords[0] : undefined;
  const newestOf = new Map<SecretPurpose, SecretInfo>();
  for (const one of secrets) if (!newestOf.has(one.purpose)) newestOf.set(one.purpose, one);
  return [...newestOf.values()].find((one) => isRejected(one, now));
}

/** Stores that the upstream rejected the secret. False where that was known, here or at another node. */
export async function storeRejection(
  { now }: ConnectionsContext,
  id: string,
  { reason, text }: { reason: string; text: string },
  tx: Tx,
): Promise<boolean> {
  const data = { rejectedAt: now(), rejectedReason: reason, rejectedText: text };
  const first = await tx.connectionSecret.updateMany({ where: { id, rejectedAt: null }, data });
  if (first.count === 0) await tx.connectionSecret.updateMany({ where: { id }, data });
  return first.count > 0;
}

export async function forgetRejection(id: string, tx: Tx): Promise<void> {
  const data = { rejectedAt: null, rejectedReason: null, rejectedText: null };
  await tx.connectionSecret.updateMany({ where: { id, rejectedAt: { not: null } }, data });
}

/** Makes these the secrets of a purpose: the missing ones are added, the others removed. False when nothing changes. */
export async function replaceSecrets(
  context: ConnectionsContext,
  connectionId: string,
  purpose: SecretPurpose,
  declared: readonly DeclaredSecret[],
  tx: Tx,
): Promise<boolean> {
  const stored = await readSecrets(context, connectionId, purpose, tx);
  const unchanged = stored.filter((secret) => declared.some((one) => isSame(secret, one)));
  const added = declared.filter((one) => !stored.some((secret) => isSame(secret, one)));
  if (added.length === 0 && unchanged.length === stored.length) return false;
  await tx.connectionSecret.deleteMany({
    where: { connectionId, purpose, id: { notIn: unchanged.map(({ id }) => id) } },
  });
  for (const one of added) await storeSecret(context, connectionId, purpose, one, tx);
  return true;
}

/** Whether the stored secrets of a purpose are exactly these. */
export async function secretsMatch(
  context: ConnectionsContext,
  connectionId: string,
  purpose: SecretPurpose,
  declared: readonly DeclaredSecret[],
  tx: Tx,
): Promise<boolean> {
  const stored = await readSecrets(context, connectionId, purpose, tx);
  return stored.length === declared.length && declared.every((one) => stored.some((secret) => isSame(secret, one)));
}

/** Throws not_found (404). */
export async function deleteSecret(connectionId: string, secretId: string, tx: Tx): Promise<void> {
  const { count } = await tx.connectionSecret.deleteMany({ where: { id: secretId, connectionId } });
  if (count === 0) throw notFound({ message: t('console.connections.fault.no-secret') });
}

interface SealedContent {
  connection: string;
  purpose: string;
  value: string;
  /** ISO 8601. The column only shows it to other programs: one that writes to the database must not choose which secret is sent. */
  expires: string | null;
}

interface Row {
  id: string;
  connectionId: string;
  purpose: string;
  valueSealed: string;
  createdAt: Date;
  rejectedAt: Date | null;
  rejectedReason: string | null;
  rejectedText: string | null;
}

/** Undefined for a row that was moved from another connection or purpose: its secret would be sent to the wrong server. */
function decrypted(
  vault: ConnectionsContext['vault'],
  { id, connectionId, purpose, valueSealed, createdAt, rejectedAt, rejectedReason, rejectedText }: Row,
): DecryptedSecret | undefined {
  const { value, expires, ...owner } = JSON.parse(vault.open(valueSealed, contextOf(id)).toString()) as SealedContent;
  if (owner.connection !== connectionId || owner.purpose !== purpose) return undefined;
  const expiresAt = expires ? new Date(expires) : null;
  const rejection = { rejectedAt, rejectedReason, rejectedText };
  return { id, purpose: purpose as SecretPurpose, createdAt, expiresAt, ...rejection, value };
}

function expiryOf(text: string | undefined): Date | null {
  return text === undefined ? null : new Date(text);
}

function isSame(stored: DecryptedSecret, { value, expires_at }: DeclaredSecret): boolean {
  const end = expiryOf(expires_at)?.getTime() ?? null;
  return safeEqual(stored.value, value) && (stored.expiresAt?.getTime() ?? null) === end;
}

function contextOf(id: string): string {
  return `connection_secrets:${id}`;
}
