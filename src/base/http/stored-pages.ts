// Pages that wait in the database, where every instance finds them: forms that were sent without a fresh sign-in, and results that hold a
// new secret, recovery codes or a temporary password, which a reload and a change of language display again. Encrypted, because both may
// hold a secret, and only for the user and the session that they were stored for. The ciphertext is bound to the id of its row, which is
// made of both: a row that was given to another user, or has the ciphertext of another one, opens for nobody.
import { limits } from '../limits.ts';
import type { Clock } from '../platform/clock.ts';
import type { Logger } from '../platform/logger.ts';
import { randomToken, sha256 } from '../platform/random.ts';
import { type Vault, VaultError } from '../platform/vault.ts';
import type { Db } from '../storage/database.ts';
import { jsonWithTexts, readJsonWithTexts } from '../texts/stored-text.ts';

/** The user, and the single sign-on session of the browser, or the sign-in that is under way there. */
export interface PageOwner {
  userId: string;
  session: string;
}

/** The kind is part of the address: a value of one kind opens no page of another. */
export type StoredPageKind = 'form' | 'request' | 'result' | 'recovery-codes';
export type StoredPages = ReturnType<typeof createStoredPages>;

export function createStoredPages({ db, vault, now, logger }: { db: Db; vault: Vault; now: Clock; logger: Logger }) {
  const idOf = (kind: StoredPageKind, value: string, { userId, session }: PageOwner) =>
    sha256(JSON.stringify([kind, value, userId, session]));
  const contextOf = (id: string) => `stored_forms:${id}`;

  async function removeOldest(userId: string): Promise<void> {
    const rows = await db.storedForm.findMany({
      where: { userId },
      orderBy: { createdAt: 'desc' },
      skip: limits.storedForm.perUser,
      select: { id: true },
    });
    await db.storedForm.deleteMany({ where: { id: { in: rows.map(({ id }) => id) } } });
  }

  return {
    /** Stores what JSON can hold, times and texts; returns the value for its address. The oldest pages of the user give way. */
    async add(kind: StoredPageKind, owner: PageOwner, content: unknown): Promise<string> {
      const { userId } = owner;
      const value = randomToken();
      const id = idOf(kind, value, owner);
      const expiresAt = new Date(now().getTime() + limits.storedForm.seconds * 1000);
      const formSealed = vault.seal(jsonWithTexts(content), contextOf(id));
      await db.storedForm.create({ data: { id, userId, formSealed, createdAt: now(), expiresAt } });
      await removeOldest(userId);
      return value;
    },

    /** The content; undefined when there is none of this user and session, it has expired, or cannot be decrypted. */
    async find<Content>(kind: StoredPageKind, owner: PageOwner, value: string): Promise<Content | undefined> {
      const id = idOf(kind, value, owner);
      const row = await db.storedForm.findUnique({ where: { id } });
      if (!row || row.userId !== owner.userId || row.expiresAt <= now()) return undefined;
      try {
        return readJsonWithTexts(vault.open(row.formSealed, contextOf(id)).toString()) as Content;
      } catch (err) {
        if (!(err instanceof VaultError)) throw err;
        logger.error({ err }, 'a stored page cannot be decrypted');
        return undefined;
      }
    },
  };
}
