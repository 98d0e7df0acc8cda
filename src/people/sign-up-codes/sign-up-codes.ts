// Invitation codes for sign-up, which the setting `sign_up_code_required` demands: created, found by their text, used and revoked. Only a
// keyed hash is stored. The MAC of a row covers its number of uses too, so nobody makes a used code valid again with a database alone,
// short of writing an old row back.

import { conflict, notFound, ownedByFile } from '../../base/http/errors.ts';
import { limits } from '../../base/limits.ts';
import { hmacSha256 } from '../../base/platform/hmac.ts';
import { randomId } from '../../base/platform/random.ts';
import { canonicalCode, newReadableCode } from '../../base/platform/readable-code.ts';
import { type Db, isUniqueConstraintError, type Tx, withinTransaction } from '../../base/storage/database.ts';
import { lockRow } from '../../base/storage/row-lock.ts';
import { textFault } from '../../base/texts/faults.ts';
import { t } from '../../base/texts/text.ts';
import type { Actor } from '../../core/audit/audit.ts';
import type { Core } from '../../core/core.ts';

export interface SignUpCode {
  id: string;
  name: string;
  /** How many accounts can be created with it. */
  maxUses: number;
  uses: number;
  source: 'local' | 'file';
  /** The account that created it; null: the command line or the configuration file. */
  createdBy: string | null;
  createdAt: Date;
  /** null: never, which only the configuration file declares. */
  expiresAt: Date | null;
  state: 'usable' | 'used' | 'expired';
}

export interface NewSignUpCode {
  name: string;
  maxUses: number;
  /** From now on. */
  days: number;
}

/** What the configuration file declares. Without a code, the stored one stays. */
export interface DeclaredSignUpCode {
  name: string;
  code?: string | undefined;
  maxUses: number;
  expiresAt: Date | null;
}

export type SignUpCodes = ReturnType<typeof createSignUpCodes>;

type Row = Omit<NonNullable<Awaited<ReturnType<Db['signUpCode']['findUnique']>>>, 'mac'>;

const PURPOSE = 'sign-up codes';
/** 60 bits, with a limit on attempts. */
const LETTERS = 12;
const DAY_MS = 24 * 3600 * 1000;

export function createSignUpCodes(dependencies: Core) {
  const { db, sql, vault, now, audit } = dependencies;
  // The newest data key first: it makes the hash of a new code. A code is looked up under each of them.
  const hashes = vault.deriveKeys(PURPOSE).map(hmacSha256);
  const hashesOf = (text: string) => hashes.map((hash) => hash(canonicalCode(text)));

  const codeOf = ({ mac: _mac, codeHash: _hash, ...row }: Row & { mac?: string }): SignUpCode => ({
    ...row,
    source: row.source === 'file' ? 'file' : 'local',
    state: row.expiresAt && row.expiresAt <= now() ? 'expired' : row.uses >= row.maxUses ? 'used' : 'usable',
  });

  async function get(id: string, tx: Tx = db): Promise<SignUpCode> {
    const row = await tx.signUpCode.findUnique({ where: { id } });
    if (!row) throw notFound({ message: t('console.sign-up-codes.error.unknown') });
    return codeOf(row);
  }

  return {
    /** Throws not_found (404). */
    get,

    /** Returns the code, the only time that its text can be read. Throws conflict (409) for a name that exists, and for too many codes. */
    create: (
      { name, maxUses, days }: NewSignUpCode,
      by: Actor,
      outer?: Tx,
    ): Promise<{ code: SignUpCode; text: string }> =>
      withinTransaction(db, outer, async (tx) => {
        if ((await tx.signUpCode.count({ where: { source: 'local' } })) >= limits.signUpCode.max) {
          const message = t('console.sign-up-codes.error.too-many', { count: limits.signUpCode.max });
          throw conflict('conflict', { message });
        }
        const createdAt = now();
        const text = newReadableCode(LETTERS);
        const row = {
          id: randomId(),
          name,
          codeHash: hashesOf(text)[0] ?? '',
          maxUses,
          uses: 0,
          source: 'local',
          createdBy: by.actorId ?? null,
          createdAt,
          expiresAt: new Date(createdAt.getTime() + days * DAY_MS),
        };
        await tx.signUpCode.create({ data: row }).catch((error: unknown) => {
          if (!isUniqueConstraintError(error)) throw error;
          const message = t('console.sign-up-codes.error.name-taken');
          throw conflict('conflict', { faults: [textFault(['name'], message)], cause: error });
        });
        const data = { codeId: row.id, name, maxUses, expiresAt: row.expiresAt };
        await audit.record({ ...by, type: 'sign-up-code.created', outcome: 'success', data }, tx);
        return { code: codeOf(row), text };
      }),

    /** All of them, the newest first. Those that another program wrote are left out. */
    async list(): Promise<SignUpCode[]> {
      const rows = await db.signUpCode.findMany({ orderBy: [{ createdAt: 'desc' }, { id: 'desc' }] });
      return rows.map(codeOf);
    },

    /** Deletes it. Throws not_found (404), and owned_by_file (403) for one of the configuration file. */
    revoke: (id: string, by: Actor): Promise<SignUpCode> =>
      withinTransaction(db, undefined, async (tx) => {
        const code = await get(id, tx);
        if (code.source === 'file') throw ownedByFile('sign-up-code', code);
        await tx.signUpCode.delete({ where: { id } });
        const data = { codeId: id, name: code.name, uses: code.uses };
        await audit.record({ ...by, type: 'sign-up-code.revoked', outcome: 'success', data }, tx);
        return code;
      }),

    /** The code of this text, or why it cannot be used. */
    async find(text: string): Promise<{ code: SignUpCode } | { fault: 'unknown' | 'used' | 'expired' }> {
      const row = await db.signUpCode.findFirst({ where: { codeHash: { in: hashesOf(text) } } });
      if (!row) return { fault: 'unknown' };
      const code = codeOf(row);
      return code.state === 'usable' ? { code } : { fault: code.state };
    },

    async isUsable(id: string): Promise<boolean> {
      const row = await db.signUpCode.findUnique({ where: { id } });
      return row !== null && codeOf(row).state === 'usable';
    },

    /** Counts a use in the transaction that creates the account; undefined when the code cannot be used any more. */
    async use(id: string, tx: Tx): Promise<SignUpCode | undefined> {
      await lockRow(tx, sql, 'sign_up_codes', id);
      const row = await tx.signUpCode.findUnique({ where: { id } });
      if (!row || codeOf(row).state !== 'usable') return undefined;
      const uses = row.uses + 1;
      // The lock makes this certain; the condition counts no use twice even without it.
      const { count } = await tx.signUpCode.updateMany({ where: { id, uses: row.uses }, data: { uses } });
      return count === 1 ? codeOf({ ...row, uses }) : undefined;
    },

    /** For the configuration file: whether the stored code of this name has this text, and whether another name has it. */
    async compare(name: string, text: string): Promise<'same' | 'other' | 'taken'> {
      const row = await db.asStored.signUpCode.findFirst({ where: { codeHash: { in: hashesOf(text) } } });
      if (!row) return 'other';
      return row.name === name ? 'same' : 'taken';
    },

    /** Stores a code as the configuration file declares it, new or in place of what is there. Another text starts with no uses. */
    async declare({ name, code, maxUses, expiresAt }: DeclaredSignUpCode, tx: Tx): Promise<void> {
      const found = await tx.asStored.signUpCode.findUnique({ where: { name } });
      if (found) await lockRow(tx, sql, 'sign_up_codes', found.id);
      const stored = found && (await tx.signUpCode.findUnique({ where: { name } }));
      const wanted = code === undefined ? [] : hashesOf(code);
      const keeps = stored !== null && (code === undefined || wanted.includes(stored.codeHash));
      const codeHash = keeps ? stored.codeHash : wanted[0];
      // The plan rejects it; the row was deleted, or changed by another program, since then.
      if (codeHash === undefined) throw conflict('conflict');
      const row = {
        id: keeps ? stored.id : randomId(),
        name,
        codeHash,
        maxUses,
        uses: keeps ? stored.uses : 0,
        source: 'file',
        createdBy: null,
        createdAt: keeps ? stored.createdAt : now(),
        expiresAt,
      };
      await tx.signUpCode.upsert({ where: { name }, create: row, update: row });
    },

    /** Hands a code of the configuration file back; false where it owns none of this name. */
    release: async (name: string, tx: Tx): Promise<boolean> =>
      (await tx.signUpCode.updateMany({ where: { name, source: 'file' }, data: { source: 'local' } })).count > 0,

    /** Removes a code that the configuration file declares no more. */
    removeDeclared: async (name: string, tx: Tx): Promise<void> =>
      void (await tx.signUpCode.deleteMany({ where: { name, source: 'file' } })),
  };
}
