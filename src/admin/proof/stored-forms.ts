// Forms of the console that were sent without a fresh sign-in. They wait for it in the database, where every instance finds
// them: encrypted, because a form may hold a secret, and only for the user who filled them in, in the same session. The
// ciphertext is bound to the id of its row, which is made of both: a row that was given to another user opens for nobody.
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

/** The user who filled the form in, and the single sign-on session of the browser. */
export interface FormOwner {
  userId: string;
  ssoUid: string;
}

export interface StoredForms {
  /** Returns the value for the address of the page. The oldest forms of the user give way. */
  add(owner: FormOwner, form: StoredForm): Promise<string>;
  /** Undefined when there is none of this user and session, or it has expired. */
  find(owner: FormOwner, value: string): Promise<StoredForm | undefined>;
}

export interface StoredFormsDependencies {
  db: Db;
  vault: Pick<Vault, 'seal' | 'open'>;
  now: Clock;
}

export function createStoredForms({ db, vault, now }: StoredFormsDependencies): StoredForms {
  const idOf = (value: string, { userId, ssoUid }: FormOwner) => sha256(JSON.stringify([value, userId, ssoUid]));
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
    async add(owner, form) {
      const { userId } = owner;
      const value = randomToken();
      const id = idOf(value, owner);
      const formSealed = vault.seal(JSON.stringify(form), contextOf(id));
      const expiresAt = new Date(now().getTime() + limits.storedForm.seconds * 1000);
      await db.storedForm.create({ data: { id, userId, formSealed, createdAt: now(), expiresAt } });
      await removeOldest(userId);
      return value;
    },

    async find(owner, value) {
      const id = idOf(value, owner);
      const row = await db.storedForm.findUnique({ where: { id } });
      if (!row || row.userId !== owner.userId || row.expiresAt <= now()) return undefined;
      return JSON.parse(vault.open(row.formSealed, contextOf(id)).toString()) as StoredForm;
    },
  };
}
