// Recovery codes: ten, shown once, each opens the account once when the other factor is lost. Stored as a keyed hash, so
// a stolen database holds none and cannot be searched for them.
import type { Audit, By } from '../audit/audit.ts';
import { limits } from '../limits.ts';
import type { Clock } from '../platform/clock.ts';
import { type Db, type Tx, transaction } from '../platform/db.ts';
import { randomId, randomToken } from '../platform/random.ts';
import type { Vault } from '../platform/vault.ts';

export interface RecoveryCodes {
  /** New codes, to be shown now and never again; the old ones are void. */
  create(userId: string, by?: By): Promise<string[]>;
  /** Uses a code up; of several uses at the same moment one wins. */
  redeem(userId: string, code: string, by?: By): Promise<'ok' | 'wrong'>;
  remaining(userId: string): Promise<number>;
  remove(userId: string, by?: By, tx?: Tx): Promise<void>;
}

// Crockford's base32: without the letters that are mistaken for digits or for each other.
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
const LETTERS = (limits.recoveryCodes.bytes * 8) / 5;
const PURPOSE = 'recovery codes';

export interface RecoveryCodesNeeds {
  db: Db;
  vault: Vault;
  now: Clock;
  audit: Audit;
}

export function createRecoveryCodes({ db, vault, now, audit }: RecoveryCodesNeeds): RecoveryCodes {
  const bound = (userId: string, code: string) => `${userId}:${canonical(code)}`;

  return {
    async create(userId, by = {}) {
      const codes = Array.from({ length: limits.recoveryCodes.count }, newCode);
      await transaction(db, async (tx) => {
        await tx.recoveryCode.deleteMany({ where: { userId } });
        const row = (code: string) => ({
          id: randomId(),
          userId,
          codeHash: vault.mac(bound(userId, code), PURPOSE),
          createdAt: now(),
        });
        await tx.recoveryCode.createMany({ data: codes.map(row) });
        await audit.record({ ...by, type: 'recovery-codes.created', outcome: 'success', subjectId: userId }, tx);
      });
      return codes;
    },

    async redeem(userId, code, by = {}) {
      // Ten rows at most, compared one by one because a code may have been hashed under an older secret.
      const rows = await db.recoveryCode.findMany({ where: { userId, usedAt: null } });
      const row = rows.find(({ codeHash }) => vault.macMatches(bound(userId, code), codeHash, PURPOSE));
      if (!row) return 'wrong';
      return transaction(db, async (tx) => {
        const { count } = await tx.recoveryCode.updateMany({
          where: { id: row.id, usedAt: null },
          data: { usedAt: now() },
        });
        if (count === 0) return 'wrong';
        const data = { left: rows.length - 1 };
        await audit.record({ ...by, type: 'sign-in.recovery-code', outcome: 'success', subjectId: userId, data }, tx);
        return 'ok';
      });
    },

    remaining: (userId) => db.recoveryCode.count({ where: { userId, usedAt: null } }),

    async remove(userId, by = {}, outer) {
      const work = async (tx: Tx) => {
        const { count } = await tx.recoveryCode.deleteMany({ where: { userId } });
        if (count === 0) return;
        await audit.record({ ...by, type: 'recovery-codes.removed', outcome: 'success', subjectId: userId }, tx);
      };
      await (outer ? work(outer) : transaction(db, work));
    },
  };
}

function newCode(): string {
  const bytes = Buffer.from(randomToken(LETTERS), 'base64url');
  const letters = [...bytes].map((byte) => ALPHABET[byte & 31]).join('');
  return letters.replace(/(.{4})(?=.)/g, '$1-');
}

// Read from paper: spaces, dashes and capitals do not matter, nor do letters that look like a digit.
function canonical(code: string): string {
  const text = code.normalize('NFKC').slice(0, 64).toLowerCase().replace(/[\s-]/g, '');
  return text.replaceAll('o', '0').replace(/[il]/g, '1');
}
