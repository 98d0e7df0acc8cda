// Tokens of mailed links, password resets apart: 32 random bytes, of which only the hash is stored, good for one purpose,
// once, until they expire. A newer one of the same purpose voids the older.
import type { Clock } from '../platform/clock.ts';
import type { Db, Tx } from '../platform/db.ts';
import { randomId, randomToken, sha256 } from '../platform/random.ts';

export type LinkPurpose = 'verify-email' | 'change-email' | 'invite' | 'unlock';

export interface LinkToken {
  id: string;
  userId: string;
  purpose: LinkPurpose;
  /** The address that the link went to, or is to become the account's. */
  email: string;
}

export interface LinkTokens {
  issue(token: Omit<LinkToken, 'id'>, seconds: number, tx: Tx): Promise<string>;
  /** The live token of one of these purposes; looking does not use it up. */
  find(token: string, ...purposes: LinkPurpose[]): Promise<LinkToken | undefined>;
  /** Uses it up. False when somebody else did, or its time ran out. */
  consume(id: string, tx: Tx): Promise<boolean>;
}

const BYTES = 32;

export function createLinkTokens({ db, now }: { db: Db; now: Clock }): LinkTokens {
  const isOpen = () => ({ usedAt: null, expiresAt: { gt: now() } });

  return {
    async issue({ userId, purpose, email }, seconds, tx) {
      await tx.mailToken.deleteMany({ where: { userId, purpose } });
      const token = randomToken(BYTES);
      const at = now();
      await tx.mailToken.create({
        data: {
          id: randomId(),
          userId,
          purpose,
          tokenHash: sha256(token),
          data: JSON.stringify({ email }),
          expiresAt: new Date(at.getTime() + seconds * 1000),
          createdAt: at,
        },
      });
      return token;
    },

    async find(token, ...purposes) {
      const row = await db.mailToken.findFirst({
        where: { tokenHash: sha256(token), purpose: { in: purposes }, ...isOpen() },
      });
      if (!row) return undefined;
      const { email } = JSON.parse(row.data) as { email: string };
      return { id: row.id, userId: row.userId, purpose: row.purpose as LinkPurpose, email };
    },

    async consume(id, tx) {
      const { count } = await tx.mailToken.updateMany({ where: { id, ...isOpen() }, data: { usedAt: now() } });
      return count === 1;
    },
  };
}
