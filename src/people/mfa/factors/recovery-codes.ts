// Recovery codes: ten, displayed once; each replaces a lost second factor once. They are stored as keyed hashes, so a
// stolen database reveals none and cannot be searched for them.

import { limits } from '../../../base/limits.ts';
import { randomId } from '../../../base/platform/random.ts';
import { canonicalCode, encodeAsLetters, newReadableCode } from '../../../base/platform/readable-code.ts';
import type { Vault } from '../../../base/platform/vault.ts';
import { isUniqueConstraintError, type Tx, transaction, withinTransaction } from '../../../base/storage/database.ts';
import type { Actor } from '../../../core/audit/audit.ts';
import type { Core } from '../../../core/core.ts';

export type RecoveryCodes = ReturnType<typeof createRecoveryCodes>;

const LETTERS = (limits.recoveryCodes.bytes * 8) / 5;
const PURPOSE = 'recovery codes';
const ENROLMENT_PURPOSE = 'recovery codes of an enrolment';
const { count } = limits.recoveryCodes;

export function createRecoveryCodes(dependencies: Core) {
  const { db, vault, audit } = dependencies;
  return {
    /** New codes, to be displayed only now; the old ones stop working. */
    async create(userId: string, by: Actor = {}): Promise<string[]> {
      const codes = Array.from({ length: count }, () => newReadableCode(LETTERS));
      await transaction(db, (tx) => store(dependencies, tx, userId, codes, by));
      return codes;
    },

    /**
     * The codes that come with the first second factor; undefined when the account has codes already. They are derived from
     * `enrolment`, the sealed value of the form of that factor, so that a form that is sent twice shows the same codes.
     */
    createFor: (userId: string, enrolment: string, by: Actor = {}): Promise<string[] | undefined> =>
      createFor(dependencies, userId, enrolment, by),
    /** The codes of createFor again, while none was used and no new ones were made. */
    again: (userId: string, enrolment: string): Promise<string[] | undefined> =>
      findStoredCodes(vault, db, userId, enrolment),
    /** Uses a code up; of parallel uses one succeeds. */
    redeem: (userId: string, code: string, by: Actor = {}): Promise<'ok' | 'wrong'> =>
      redeem(dependencies, userId, code, by),
    remaining: (userId: string): Promise<number> => db.recoveryCode.count({ where: { userId, usedAt: null } }),

    remove: (userId: string, by: Actor = {}, outer?: Tx): Promise<boolean> =>
      withinTransaction(db, outer, async (tx) => {
        const removed = await tx.recoveryCode.deleteMany({ where: { userId } });
        if (removed.count === 0) return false;
        await audit.record({ ...by, type: 'recovery-codes.removed', outcome: 'success', subjectId: userId }, tx);
        return true;
      }),
  };
}

async function createFor(
  dependencies: Core,
  userId: string,
  enrolment: string,
  by: Actor,
): Promise<string[] | undefined> {
  const { db, vault } = dependencies;
  try {
    return await transaction(db, async (tx) => {
      const rows = await tx.recoveryCode.findMany({ where: { userId } });
      if (rows.some(({ usedAt }) => usedAt === null)) return findStoredCodes(vault, tx, userId, enrolment);
      const codes = codesOf(vault, userId, enrolment);
      // All are used up: the same enrolment must not restore them.
      if (codes.some((code) => rows.some(matches(vault, userId, code)))) return undefined;
      await store(dependencies, tx, userId, codes, by);
      return codes;
    });
  } catch (error) {
    if (!isUniqueConstraintError(error)) throw error;
    return findStoredCodes(vault, db, userId, enrolment); // the form was sent twice in parallel
  }
}

async function findStoredCodes(vault: Vault, tx: Tx, userId: string, enrolment: string): Promise<string[] | undefined> {
  const rows = await tx.recoveryCode.findMany({ where: { userId, usedAt: null } });
  const codes = codesOf(vault, userId, enrolment);
  const isHere = (code: string) => rows.some(matches(vault, userId, code));
  return rows.length === count && codes.every(isHere) ? codes : undefined;
}

async function redeem(
  { db, vault, now, audit }: Core,
  userId: string,
  code: string,
  by: Actor,
): Promise<'ok' | 'wrong'> {
  // Ten rows at most, compared one by one because a code may have been hashed under an older secret.
  const rows = await db.recoveryCode.findMany({ where: { userId, usedAt: null } });
  const row = rows.find(matches(vault, userId, code));
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
}

async function store({ vault, now, audit }: Core, tx: Tx, userId: string, codes: string[], by: Actor): Promise<void> {
  await tx.recoveryCode.deleteMany({ where: { userId } });
  const row = (code: string) => ({
    id: randomId(),
    userId,
    codeHash: vault.mac(hashedText(userId, code), PURPOSE),
    createdAt: now(),
  });
  await tx.recoveryCode.createMany({ data: codes.map(row) });
  await audit.record({ ...by, type: 'recovery-codes.created', outcome: 'success', subjectId: userId }, tx);
}

/** Whether a row is the one of this code. */
function matches(vault: Vault, userId: string, code: string) {
  return ({ codeHash }: { codeHash: string }) => vault.macMatches(hashedText(userId, code), codeHash, PURPOSE);
}

/** The text whose MAC is stored for a code. */
function hashedText(userId: string, code: string): string {
  return `${userId}:${canonicalCode(code.slice(0, 64))}`;
}

/** The codes that are derived from this enrolment. */
function codesOf(vault: Vault, userId: string, enrolment: string): string[] {
  const key = (index: number) => vault.deriveKey(`${ENROLMENT_PURPOSE} ${userId}:${index}:${enrolment}`);
  return Array.from({ length: count }, (_, index) => encodeAsLetters(key(index), LETTERS));
}
