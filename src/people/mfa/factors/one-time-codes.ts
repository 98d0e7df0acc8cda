// Six-digit codes for email and SMS: they work for ten minutes, once, with a few tries. A keyed hash is stored,
// because a plain hash of one of a million values could be searched. code-delivery.ts sends them.
import { limits } from '../../../base/limits.ts';
import type { Clock } from '../../../base/platform/clock.ts';
import { randomId, randomToken } from '../../../base/platform/random.ts';
import type { Vault } from '../../../base/platform/vault.ts';
import { type Db, transaction } from '../../../base/storage/database.ts';

/** `phone`: to a number that is not verified yet. */
export type CodeChannel = 'email' | 'sms' | 'phone';
export type CodeOutcome = 'ok' | 'wrong' | 'expired' | 'too-many-tries';

export type OneTimeCodes = ReturnType<typeof createOneTimeCodes>;

const { digits, seconds, tries } = limits.oneTimeCode;
const PURPOSE = 'one-time codes';

export function createOneTimeCodes({ db, vault, now }: { db: Db; vault: Vault; now: Clock }) {
  // Bound to the row, so that equal digits have different hashes, and to the recipient: a code that was sent to one number
  // does not verify another.
  const bound = (id: string, to: string, code: string) => `${id}:${to}:${code.normalize('NFKC').replace(/[\s-]/g, '')}`;

  return {
    /** A new code for this address or number; earlier codes of the channel stop working. */
    async issue(userId: string, channel: CodeChannel, to: string): Promise<string> {
      const id = randomId();
      const code = newCode();
      const at = now();
      await transaction(db, async (tx) => {
        await tx.oneTimeCode.deleteMany({ where: { userId, channel } });
        const expiresAt = new Date(at.getTime() + seconds * 1000);
        const codeHash = vault.mac(bound(id, to, code), PURPOSE);
        await tx.oneTimeCode.create({ data: { id, userId, channel, codeHash, expiresAt, createdAt: at } });
      });
      return code;
    },

    /** Counts the try before it compares, so that parallel guesses get no additional tries. */
    async verify(userId: string, channel: CodeChannel, to: string, code: string): Promise<CodeOutcome> {
      const row = await db.oneTimeCode.findFirst({
        where: { userId, channel, usedAt: null, expiresAt: { gt: now() } },
        orderBy: { createdAt: 'desc' },
      });
      if (!row) return 'expired';
      const counted = await db.oneTimeCode.updateMany({
        where: { id: row.id, usedAt: null, tries: { lt: tries } },
        data: { tries: { increment: 1 } },
      });
      if (counted.count === 0) return 'too-many-tries';
      if (!vault.macMatches(bound(row.id, to, code), row.codeHash, PURPOSE)) return 'wrong';
      const { count } = await db.oneTimeCode.updateMany({
        where: { id: row.id, usedAt: null },
        data: { usedAt: now() },
      });
      return count === 1 ? 'ok' : 'expired';
    },
  };
}

// 48 random bits over a million values: the bias is one in 280 million.
function newCode(): string {
  const number = Buffer.from(randomToken(6), 'base64url').readUIntBE(0, 6) % 10 ** digits;
  return String(number).padStart(digits, '0');
}
