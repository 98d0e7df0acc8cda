// Tokens of mailed links: 32 random bytes, of which only the hash is stored. A token serves one purpose, works once and
// expires. A new token of the same purpose replaces the older one. Tokens of password resets have a table of their own.
// The token `accepted` is in a cookie: with it an invited person signs in after the form of the invitation.

import type { Base } from '../../base/base.ts';
import { limits } from '../../base/limits.ts';
import { randomId, randomToken, sha256 } from '../../base/platform/random.ts';
import { inChunks } from '../../base/storage/chunks.ts';
import type { Db, Tx } from '../../base/storage/database.ts';

const mailPurposes = ['verify-email', 'change-email', 'invite', 'accepted', 'unlock'] as const;
export type LinkPurpose = (typeof mailPurposes)[number] | 'reset-password';

export interface LinkToken<Purpose extends LinkPurpose = LinkPurpose> {
  id: string;
  userId: string;
  purpose: Purpose;
  /** The address that the link was mailed to; for `change-email` the new address. Not stored for a password reset. */
  email: Purpose extends 'reset-password' ? undefined : string;
  /** Of `accepted`: what was proven (RFC 8176). */
  amr?: string[];
}

/** `needed`: the user has no way to sign in, and no invitation that was not accepted. */
export const invitationStates = ['needed', 'invited', 'opened', 'accepted', 'expired', 'bounced'] as const;
export type InvitationState = (typeof invitationStates)[number];

/** What became of the last invitation of a user. */
export interface InvitationView {
  /** `bounced`: the mail server rejected it, or took nothing until the link expired. */
  state: Exclude<InvitationState, 'needed'>;
  sentAt: Date;
  expiresAt: Date;
  openedAt: Date | null;
  acceptedAt: Date | null;
}

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
    const data = JSON.parse(row.data) as { email: string; amr?: string[] };
    return { ...data, id: row.id, userId: row.userId, purpose: row.purpose };
  }

  return {
    /** Stores a new token and returns it; it expires after `seconds`. Older ones of the same account and purpose are deleted. */
    async issue<Purpose extends LinkPurpose>(
      { userId, purpose, ...data }: Omit<LinkToken<Purpose>, 'id'>,
      seconds: number,
      tx: Tx,
    ): Promise<string> {
      const token = randomToken(limits.resetToken.bytes);
      const createdAt = now();
      const expiresAt = new Date(createdAt.getTime() + seconds * 1000);
      const row = { id: randomId(), userId, tokenHash: sha256(token), expiresAt, usedAt: null, createdAt };
      if (purpose === 'reset-password') {
        await tx.passwordResetToken.deleteMany({ where: { userId } });
        await tx.passwordResetToken.create({ data: row });
      } else {
        await tx.mailToken.deleteMany({ where: { userId, purpose } });
        await tx.mailToken.create({ data: { ...row, purpose, data: JSON.stringify(data) } });
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

    /** The page of an invitation was displayed: by its reader, or by a program that checks links. */
    async markOpened({ id }: LinkToken<'invite'>): Promise<void> {
      await db.mailToken.updateMany({ where: { id, openedAt: null }, data: { openedAt: now() } });
    },
  };
}

/** The last invitations of these users. */
export async function invitationsOf(
  userIds: readonly string[],
  at: Date,
  db: Db,
): Promise<Map<string, InvitationView>> {
  const rows = await inChunks(userIds, (piece) =>
    db.asStored.mailToken.findMany({ where: { userId: { in: piece }, purpose: 'invite' } }),
  );
  return new Map(
    rows.map((row) => {
      const { userId, createdAt: sentAt, expiresAt, openedAt, usedAt: acceptedAt } = row;
      return [userId, { state: stateAt(row, at), sentAt, expiresAt, openedAt, acceptedAt }];
    }),
  );
}

function stateAt(
  token: { usedAt: Date | null; bouncedAt: Date | null; openedAt: Date | null; expiresAt: Date },
  at: Date,
): InvitationView['state'] {
  if (token.usedAt) return 'accepted';
  if (token.bouncedAt) return 'bounced';
  if (token.expiresAt <= at) return 'expired';
  return token.openedAt ? 'opened' : 'invited';
}

/** The state of an account that has a way to sign in, or none. */
export function invitationState(last: InvitationView | undefined, hasWayIn: boolean): InvitationState | null {
  const isOver = last === undefined || last.state === 'accepted';
  return isOver && !hasWayIn ? 'needed' : (last?.state ?? null);
}

/** Notes on the invitation that the mail of `sentAt` is about whether the mail server rejected it. A later one has a later token. */
export async function noteDelivery(
  { userId, sentAt, bouncedAt }: { userId: string; sentAt: Date; bouncedAt: Date | null },
  tx: Tx,
): Promise<void> {
  const where = { userId, purpose: 'invite', createdAt: { lte: sentAt } };
  await tx.mailToken.updateMany({ where, data: { bouncedAt } });
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
