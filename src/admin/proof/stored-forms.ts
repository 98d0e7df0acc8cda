// Forms of the console that were sent without a fresh sign-in. They wait for it in the database, where every instance finds
// them: encrypted, because a form may hold a secret, and only for the user who filled them in.
import { limits } from '../../limits.ts';
import type { Clock } from '../../platform/clock.ts';
import { randomToken, sha256 } from '../../platform/random.ts';
import type { Vault } from '../../platform/vault.ts';
import type { Db } from '../../storage/database.ts';
import type { ConsolePage } from '../console/blocks.ts';

/** The path of the page that asks for the sign-in; the value of the form follows. */
export const CONFIRM = '/admin/confirm';

export interface StoredForm {
  /** What the user is about to do (`StepUpNeeded`). */
  change: string;
  /** The path that the form was sent to. */
  path: string;
  /** The page with the filled-in form. */
  page: ConsolePage;
}

export interface StoredForms {
  /** Returns the value for the address of the page. The oldest forms of the user give way. */
  add(userId: string, form: StoredForm): Promise<string>;
  /** Undefined when there is none of this user, or it has expired. */
  find(userId: string, value: string): Promise<StoredForm | undefined>;
}

export interface StoredFormsDependencies {
  db: Db;
  vault: Pick<Vault, 'seal' | 'open'>;
  now: Clock;
}

export function createStoredForms({ db, vault, now }: StoredFormsDependencies): StoredForms {
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
    async add(userId, form) {
      const value = randomToken();
      const id = sha256(value);
      const formSealed = vault.seal(JSON.stringify(form), contextOf(id));
      const expiresAt = new Date(now().getTime() + limits.storedForm.seconds * 1000);
      await db.storedForm.create({ data: { id, userId, formSealed, createdAt: now(), expiresAt } });
      await removeOldest(userId);
      return value;
    },

    async find(userId, value) {
      const id = sha256(value);
      const row = await db.storedForm.findUnique({ where: { id } });
      if (!row || row.userId !== userId || row.expiresAt <= now()) return undefined;
      return JSON.parse(vault.open(row.formSealed, contextOf(id)).toString()) as StoredForm;
    },
  };
}
