// Passwords and TOTP secrets that the file declares. They are set when the declaration is new or has changed, and only
// then: a person who changed a leaked password must not find the old one restored at the next start. So what was last
// declared is remembered beside the account, as hashes.
import type { Passwords } from '../credentials/password.ts';
import { cleanSecret } from '../mfa/totp.ts';
import { inChunks } from '../platform/chunks.ts';
import type { Db, Tx } from '../platform/db.ts';
import type { CredentialNeeds } from './ports.ts';
import type { DeclaredUser } from './schema.ts';
import { type FieldChange, secretChange } from './steps.ts';

/** What is to be set, computed before the transaction: hashing takes its time. */
export type CredentialChange = {
  fields: FieldChange[];
  store(userId: string, tx: Tx): Promise<void>;
};
type Remembered = { password?: string; totp?: string };

const PREFIX = 'declared-credentials:';
const PURPOSE = 'declared-totp';

/** What the file declared last, by account. */
export async function rememberedCredentials(db: Db): Promise<Map<string, Remembered>> {
  const rows = await db.setting.findMany({ where: { key: { startsWith: PREFIX } } });
  return new Map(rows.map(({ key, value }) => [key.slice(PREFIX.length), JSON.parse(value) as Remembered]));
}

/** Forgets what was declared for accounts that are gone, however they went. */
export async function forgetDeleted(tx: Tx): Promise<void> {
  const rows = await tx.setting.findMany({ where: { key: { startsWith: PREFIX } }, select: { key: true } });
  const ids = rows.map(({ key }) => key.slice(PREFIX.length));
  const select = { id: true } as const;
  const there = await inChunks(ids, (piece) => tx.user.findMany({ where: { id: { in: piece } }, select }));
  const kept = new Set(there.map(({ id }) => id));
  const gone = ids.filter((id) => !kept.has(id)).map((id) => `${PREFIX}${id}`);
  await inChunks(gone, async (piece) => {
    await tx.setting.deleteMany({ where: { key: { in: piece } } });
    return [];
  });
}

/** What the declaration of a user's credentials changes, or undefined. */
export async function credentialChange(
  entry: DeclaredUser,
  stored: { hash: string | null } | undefined,
  remembered: Remembered | undefined,
  needs: CredentialNeeds,
): Promise<CredentialChange | undefined> {
  const { passwords, vault, now } = needs;
  const secret = entry.totp_secret === undefined ? undefined : cleanSecret(entry.totp_secret);
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
      if (newPassword) await needs.importHash(userId, hash, {}, tx);
      if (newTotp) await needs.totp.importSecret(userId, secret, {}, tx);
      if (stored && fields.length > 0) await needs.endAllSessions(userId, 'password-reset', {}, tx);
      const value: Remembered = {
        ...remembered,
        ...(hash === undefined ? {} : { password: hash }),
        ...(newTotp ? { totp: vault.mac(secret, PURPOSE) } : {}),
      };
      const row = { value: JSON.stringify(value), source: 'file', updatedAt: now() };
      const key = `${PREFIX}${userId}`;
      await tx.setting.upsert({ where: { key }, create: { key, ...row }, update: row });
    },
  };
}

// The hash that the declaration stands for; undefined when it says what it said before.
async function declaredHash(
  { password, password_hash: hash }: DeclaredUser,
  stored: { hash: string | null } | undefined,
  remembered: Remembered | undefined,
  passwords: Pick<Passwords, 'hash' | 'verify'>,
): Promise<string | undefined> {
  const last = remembered?.password;
  if (hash !== undefined) return hash === last ? undefined : hash;
  if (password === undefined) return undefined;
  if (last !== undefined && (await passwords.verify(last, password)).ok) return undefined;
  // An account that already has this very password keeps its hash.
  if (stored?.hash && (await passwords.verify(stored.hash, password)).ok) return stored.hash;
  return passwords.hash(password);
}
