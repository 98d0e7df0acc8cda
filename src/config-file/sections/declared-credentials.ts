// Passwords and TOTP secrets that the file declares. They are set when the declaration is new or has changed, and only
// then: when a user has changed a leaked password, the next start must not restore the old one. So the last declaration is
// stored for each account, as a hash.

import { eachChunk, inChunks } from '../../base/storage/chunks.ts';
import type { Tx } from '../../base/storage/database.ts';
import { removeValues, storeValue } from '../../core/settings/settings.ts';
import type { Passwords } from '../../people/credentials/password.ts';
import { parseTotpKey, totpKeyText } from '../../people/mfa/factors/totp-key.ts';
import { type FieldChange, type Planning, secretChange, secretSet } from '../planning.ts';
import type { DeclaredUser } from '../schema.ts';

/** What to set; computed before the transaction, because hashing is slow. */
export type CredentialChange = {
  fields: FieldChange[];
  store(userId: string, tx: Tx): Promise<void>;
};
type Remembered = { password?: string; totp?: string };

/** Of the keys of the declarations, in the table of settings. */
export const CREDENTIALS_PREFIX = 'declared-credentials:';
const PURPOSE = 'declared-totp';

/** Deletes the stored declarations of accounts that do not exist any more. */
export async function forgetDeleted(tx: Tx): Promise<void> {
  const rows = await tx.setting.findMany({ where: { key: { startsWith: CREDENTIALS_PREFIX } }, select: { key: true } });
  const ids = rows.map(({ key }) => key.slice(CREDENTIALS_PREFIX.length));
  const select = { id: true } as const;
  const accounts = await inChunks(ids, (piece) => tx.asStored.user.findMany({ where: { id: { in: piece } }, select }));
  const existing = new Set(accounts.map(({ id }) => id));
  const gone = ids.filter((id) => !existing.has(id)).map((id) => `${CREDENTIALS_PREFIX}${id}`);
  await eachChunk(gone, async (piece) => {
    await removeValues(tx, piece);
  });
}

/** What the declared credentials of a user change; undefined: nothing. Reads the last declarations once, for all users. */
export async function credentialChanges(planning: Planning) {
  const { db, hidesSecrets } = planning;
  const rows = hidesSecrets ? [] : await db.setting.findMany({ where: { key: { startsWith: CREDENTIALS_PREFIX } } });
  const remembered = new Map(rows.map(({ key, value }) => [key.slice(CREDENTIALS_PREFIX.length), value]));
  return async (entry: DeclaredUser, stored: StoredHash | undefined): Promise<CredentialChange | undefined> => {
    if (hidesSecrets) return hiddenChange(entry);
    const last = stored && remembered.get(stored.id);
    return credentialChange(entry, stored, last === undefined ? undefined : JSON.parse(last), planning);
  };
}

interface StoredHash {
  id: string;
  hash: string | null;
}

/** The change of a plan that hides secrets: every declared credential would be set. */
function hiddenChange(entry: DeclaredUser): CredentialChange | undefined {
  const declared = (['password', 'password_hash', 'totp_secret'] as const).filter((name) => entry[name] !== undefined);
  if (declared.length === 0) return undefined;
  return {
    fields: declared.map(secretSet),
    store: () => Promise.reject(new Error('a plan that hides secrets cannot be applied')),
  };
}

async function credentialChange(
  entry: DeclaredUser,
  stored: StoredHash | undefined,
  remembered: Remembered | undefined,
  { passwords, credentials, endSession, mfa, vault, now }: Planning,
): Promise<CredentialChange | undefined> {
  const { totp_secret: totp } = entry;
  const secret = totp === undefined ? undefined : totpKeyText(parseTotpKey(totp));
  const newTotp = secret !== undefined && !(remembered?.totp && vault.macMatches(secret, remembered.totp, PURPOSE));
  const hash = await declaredHash(entry, stored, remembered, passwords);
  if (hash === undefined && !newTotp) return undefined;
  const newPassword = hash !== undefined && hash !== stored?.hash;
  const fields = [
    ...(newPassword ? [secretChange(entry.password === undefined ? 'password_hash' : 'password')] : []),
    ...(newTotp ? [secretChange('totp_secret')] : []),
  ];
  return {
    fields,
    async store(userId, tx) {
      if (newPassword) await credentials.importHash(userId, hash, {}, tx);
      if (newTotp) await mfa.totp.importSecret(userId, totp ?? '', {}, tx);
      if (stored && fields.length > 0) await endSession.all(userId, 'password-reset', {}, tx);
      const value: Remembered = {
        ...remembered,
        ...(hash === undefined ? {} : { password: hash }),
        ...(newTotp ? { totp: vault.mac(secret, PURPOSE) } : {}),
      };
      await storeValue(tx, `${CREDENTIALS_PREFIX}${userId}`, value, { source: 'file', at: now() });
    },
  };
}

// The hash to store; undefined when the declaration has not changed.
async function declaredHash(
  { password, password_hash: hash }: DeclaredUser,
  stored: StoredHash | undefined,
  remembered: Remembered | undefined,
  passwords: Passwords,
): Promise<string | undefined> {
  const last = remembered?.password;
  if (hash !== undefined) return hash === last ? undefined : hash;
  if (password === undefined) return undefined;
  if (last !== undefined && (await passwords.verify(last, password)).ok) return undefined;
  // An account that already has this password keeps its hash.
  if (stored?.hash && (await passwords.verify(stored.hash, password)).ok) return stored.hash;
  return passwords.hash(password);
}
