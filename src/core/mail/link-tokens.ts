// Tokens of mailed links: 32 random bytes, of which only the hash is stored. A token serves one purpose, works once and
// expires. A new token of the same purpose replaces the older one. Tokens of password resets have a table of their own.

import type { Base } from '../../base/base.ts';
import { limits } from '../../base/limits.ts';
import { randomId, randomToken, sha256 } from '../../base/platform/random.ts';
import type { Tx } from '../../base/storage/database.ts';

const mailPurposes = ['verify-email', 'change-email', 'invite', 'unlock'] as const;
export type LinkPurpose = (typeof mailPurposes)[number] | 'reset-password';

export interface LinkToken<Purpose extends LinkPurpose = LinkPurpose> {
  id: string;
  userId: string;
  purpose: Purpose;
  /** The address that the link was mailed to; for `change-email` the new address. Not stored for a password reset. */
  email: Purpose extends 'reset-password' ? undefined : string;
}

export type LinkTokens = ReturnType<typeof createLinkTokens>;

export function createLinkTokens({ db, now }: Base) {
  const usable = () => ({ usedAt: null, expiresAt: { gt: now() } });

  async function findReset(tokenHash: string) {
    const row = await db.passwordResetToken.findFirst({ where: { tokenHash, ...usable() } });
    if (!row) return null;
    return { id: row.id, userId: row.userId, purpose: 'reset-password', email: undefined };
  }

  async function findOther(tokenHash: string, purposes: LinkPurpose[]) {
    const row = await db.mailToken.findFirst({ where: { tokenHash, purpose: { in: purposes }, ...usable() } });
    if (!row) return null;
    const { email } = JSON.parse(row.data) as { email: string };
    return { id: row.id, userId: row.userId, purpose: row.purpose, email };
  }

  return {
    /** Stores a new token and returns it; it expires after `seconds`. Older ones of the same account and purpose are deleted. */
    async issue<Purpose extends LinkPurpose>(
      { userId, purpose, email }: Omit<LinkToken<Purpose>, 'id'>,
      seconds: number,
      tx: Tx,
    ): Promise<string> {
      const token = randomToken(limits.resetToken.bytes);
      const createdAt = now();
      const expiresAt = new Date(createdAt.getTime() + seconds * 1000);
      const row = { id: randomId(), userId, tokenHash: sha256(token), expiresAt, createdAt };
      if (purpose === 'reset-password') {
        await tx.passwordResetToken.deleteMany({ where: { userId } });
        await tx.passwordResetToken.create({ data: row });
      } else {
        await tx.mailToken.deleteMany({ where: { userId, purpose } });
        await tx.mailToken.create({ data: { ...row, purpose, data: JSON.stringify({ email }) } });
      }
      return token;
    },

    /** The token if it is unused, has not expired and has one of these purposes. Does not use it up. */
    async find<Purpose extends LinkPurpose>(
      token: string,
      ...purposes: Purpose[]
    ): Promise<LinkToken<Purpose> | undefined> {
      const tokenHash = sha256(token);
      const isReset = purposes.some((purpose) => purpose === 'reset-password');
      const found = (isReset ? await findReset(tokenHash) : null) ?? (await findOther(tokenHash, purposes));
      return (found ?? undefined) as LinkToken<Purpose> | undefined;
    },

    /** Uses the token up; false when it was used or has expired meanwhile. Of parallel calls one returns true. */
    async consume({ id, purpose }: LinkToken, tx: Tx): Promise<boolean> {
      const use = { where: { id, ...usable() }, data: { usedAt: now() } };
      const { count } =
        purpose === 'reset-password' ? await tx.passwordResetToken.updateMany(use) : await tx.mailToken.updateMany(use);
      return count === 1;
    },
  };
}

/** Deletes the unused tokens of an account: all of them, or those with one of these purposes. */
export async function deleteLinkTokens(
  tx: Tx,
  userId: string,
  purposes: readonly LinkPurpose[] = [...mailPurposes, 'reset-password'],
): Promise<void> {
  if (purposes.includes('reset-password')) await tx.passwordResetToken.deleteMany({ where: { userId, usedAt: null } });
  await tx.mailToken.deleteMany({ where: { userId, purpose: { in: [...purposes] }, usedAt: null } });
}
