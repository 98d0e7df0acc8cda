// Recovery codes: ten, shown once, each opens the account once when the other factor is lost. Stored as a keyed hash, so
// a stolen database holds none and cannot be searched for them.
import type { Audit, By } from '../audit/audit.ts';
import { limits } from '../limits.ts';
import type { Clock } from '../platform/clock.ts';
import { type Db, isUniqueViolation, type Tx, transaction } from '../platform/db.ts';
import { randomId, randomToken } from '../platform/random.ts';
import type { Vault } from '../platform/vault.ts';

export interface RecoveryCodes {
  /** New codes, to be shown now and never again; the old ones are void. */
  create(userId: string, by?: By): Promise<string[]>;
  /**
   * The codes that come with a first second factor; undefined when there are others. `enrolment` is what the form of that
   * factor carries, sealed: they are derived from it, so that a form sent twice shows the same codes, and nothing is kept.
   */
  createFor(userId: string, enrolment: string, by?: By): Promise<string[] | undefined>;
  /** The codes of createFor again, as long as none was used and no others were made. */
  again(userId: string, enrolment: string): Promise<string[] | undefined>;
  /** Uses a code up; of several uses at the same moment one wins. */
  redeem(userId: string, code: string, by?: By): Promise<'ok' | 'wrong'>;
  remaining(userId: string): Promise<number>;
  remove(userId: string, by?: By, tx?: Tx): Promise<void>;
}

// Crockford's base32: without the letters that are mistaken for digits or for each other.
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
const LETTERS = (limits.recoveryCodes.bytes * 8) / 5;
const PURPOSE = 'recovery codes';
const ENROLMENT_PURPOSE = 'recovery codes of an enrolment';
const { count } = limits.recoveryCodes;

export interface RecoveryCodesNeeds {
  db: Db;
  vault: Vault;
  now: Clock;
  audit: Audit;
}

export function createRecoveryCodes({ db, vault, now, audit }: RecoveryCodesNeeds): RecoveryCodes {
  const bound = (userId: string, code: string) => `${userId}:${canonical(code)}`;

  const isOf =
    (userId: string, code: string) =>
    ({ codeHash }: { codeHash: string }) =>
      vault.macMatches(bound(userId, code), codeHash, PURPOSE);

  function codesOf(userId: string, enrolment: string): string[] {
    const mac = (index: number) => vault.mac(`${userId}:${index}:${enrolment}`, ENROLMENT_PURPOSE);
    return Array.from({ length: count }, (_, index) => inLetters(Buffer.from(mac(index), 'base64url')));
  }

  async function store(tx: Tx, userId: string, codes: string[], by: By): Promise<void> {
    await tx.recoveryCode.deleteMany({ where: { userId } });
    const row = (code: string) => ({
      id: randomId(),
      userId,
      codeHash: vault.mac(bound(userId, code), PURPOSE),
      createdAt: now(),
    });
    await tx.recoveryCode.createMany({ data: codes.map(row) });
    await audit.record({ ...by, type: 'recovery-codes.created', outcome: 'success', subjectId: userId }, tx);
  }

  async function again(userId: string, enrolment: string, tx: Tx = db): Promise<string[] | undefined> {
    const rows = await tx.recoveryCode.findMany({ where: { userId, usedAt: null } });
    const codes = codesOf(userId, enrolment);
    const isHere = (code: string) => rows.some(isOf(userId, code));
    return rows.length === count && codes.every(isHere) ? codes : undefined;
  }

  return {
    async create(userId, by = {}) {
      const codes = Array.from({ length: count }, newCode);
      await transaction(db, (tx) => store(tx, userId, codes, by));
      return codes;
    },

    async createFor(userId, enrolment, by = {}) {
      try {
        return await transaction(db, async (tx) => {
          const rows = await tx.recoveryCode.findMany({ where: { userId } });
          if (rows.some(({ usedAt }) => usedAt === null)) return again(userId, enrolment, tx);
          const codes = codesOf(userId, enrolment);
          // All used up: the same enrolment must not bring them back.
          if (codes.some((code) => rows.some(isOf(userId, code)))) return undefined;
          await store(tx, userId, codes, by);
          return codes;
        });
      } catch (error) {
        if (!isUniqueViolation(error)) throw error;
        return again(userId, enrolment); // the form was sent twice at the same moment
      }
    },

    again: (userId, enrolment) => again(userId, enrolment),

    async redeem(userId, code, by = {}) {
      // Ten rows at most, compared one by one because a code may have been hashed under an older secret.
      const rows = await db.recoveryCode.findMany({ where: { userId, usedAt: null } });
      const row = rows.find(isOf(userId, code));
      if (!row) return 'wrong';
      return transaction(db, async (tx) => {
        const used = await tx.recoveryCode.updateMany({
          where: { id: row.id, usedAt: null },
          data: { usedAt: now() },
        });
        if (used.count === 0) return 'wrong';
        const data = { left: rows.length - 1 };
        await audit.record({ ...by, type: 'sign-in.recovery-code', outcome: 'success', subjectId: userId, data }, tx);
        return 'ok';
      });
    },

    remaining: (userId) => db.recoveryCode.count({ where: { userId, usedAt: null } }),

    async remove(userId, by = {}, outer) {
      const work = async (tx: Tx) => {
        const removed = await tx.recoveryCode.deleteMany({ where: { userId } });
        if (removed.count === 0) return;
        await audit.record({ ...by, type: 'recovery-codes.removed', outcome: 'success', subjectId: userId }, tx);
      };
      await (outer ? work(outer) : transaction(db, work));
    },
  };
}

function newCode(): string {
  return inLetters(Buffer.from(randomToken(LETTERS), 'base64url'));
}

function inLetters(bytes: Buffer): string {
  const letters = [...bytes.subarray(0, LETTERS)].map((byte) => ALPHABET[byte & 31]).join('');
  return letters.replace(/(.{4})(?=.)/g, '$1-');
}

// Read from paper: spaces, dashes and capitals do not matter, nor do letters that look like a digit.
function canonical(code: string): string {
  const text = code.normalize('NFKC').slice(0, 64).toLowerCase().replace(/[\s-]/g, '');
  return text.replaceAll('o', '0').replace(/[il]/g, '1');
}
