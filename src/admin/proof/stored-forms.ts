// Forms of the console that were sent without a fresh sign-in, and result pages that hold a new secret. They wait in the
// database, where every instance finds them: encrypted, because both may hold a secret, and only for the user who sent the
// form, in the same session. The ciphertext is bound to the id of its row, which is made of both: a row that was given to
// another user opens for nobody.
import { limits } from '../../limits.ts';
import type { Clock } from '../../platform/clock.ts';
import { randomToken, sha256 } from '../../platform/random.ts';
import type { Vault } from '../../platform/vault.ts';
import type { Db } from '../../storage/database.ts';
import type { PageText } from '../../texts/text.ts';
import type { ConsolePage } from '../console/blocks.ts';

/** The path of the page that asks for the sign-in; the value of the form follows. */
export const CONFIRM = '/admin/confirm';
/** The path of the page that displays a result once; the value of the result follows. */
export const RESULT = '/admin/result';

export interface StoredForm {
  /** What the user is about to do (`StepUpNeeded`). */
  change: PageText;
  /** The path that the form was sent to. */
  path: string;
  /** The page with the filled-in form. */
  page: ConsolePage;
}

/** A page with a new secret, which is displayed once. It holds no dates. */
export interface ResultPage {
  page: ConsolePage;
  /** Where a reload leads, and what that page then says. */
  after: { path: string; sentence: PageText };
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
  /** Stores a result; returns the value for its address. */
  addResult(owner: FormOwner, result: ResultPage): Promise<string>;
  /** The result, the first time with its page. Undefined as for `find`. */
  takeResult(owner: FormOwner, value: string): Promise<(Partial<ResultPage> & Pick<ResultPage, 'after'>) | undefined>;
}

export interface StoredFormsDependencies {
  db: Db;
  vault: Pick<Vault, 'seal' | 'open'>;
  now: Clock;
}

export function createStoredForms({ db, vault, now }: StoredFormsDependencies): StoredForms {
  const idOf = (kind: 'form' | 'result', value: string, { userId, ssoUid }: FormOwner) =>
    sha256(JSON.stringify([...(kind === 'form' ? [] : [kind]), value, userId, ssoUid]));
  const contextOf = (id: string) => `stored_forms:${id}`;
  const seal = (id: string, content: unknown) => vault.seal(JSON.stringify(content), contextOf(id));

  async function removeOldest(userId: string): Promise<void> {
    const rows = await db.storedForm.findMany({
      where: { userId },
      orderBy: { createdAt: 'desc' },
      skip: limits.storedForm.perUser,
      select: { id: true },
    });
    await db.storedForm.deleteMany({ where: { id: { in: rows.map(({ id }) => id) } } });
  }

  async function add(kind: 'form' | 'result', owner: FormOwner, content: StoredForm | ResultPage): Promise<string> {
    const { userId } = owner;
    const value = randomToken();
    const id = idOf(kind, value, owner);
    const expiresAt = new Date(now().getTime() + limits.storedForm.seconds * 1000);
    await db.storedForm.create({ data: { id, userId, formSealed: seal(id, content), createdAt: now(), expiresAt } });
    await removeOldest(userId);
    return value;
  }

  /** The row with its content; undefined as for `find`. */
  async function open(kind: 'form' | 'result', owner: FormOwner, value: string) {
    const id = idOf(kind, value, owner);
    const row = await db.storedForm.findUnique({ where: { id } });
    if (!row || row.userId !== owner.userId || row.expiresAt <= now()) return undefined;
    return { id, formSealed: row.formSealed, text: vault.open(row.formSealed, contextOf(id)).toString() };
  }

  return {
    add: (owner, form) => add('form', owner, form),

    async find(owner, value) {
      const row = await open('form', owner, value);
      return row && (JSON.parse(row.text) as StoredForm);
    },

    addResult: (owner, result) => add('result', owner, result),

    async takeResult(owner, value) {
      const row = await open('result', owner, value);
      if (!row) return undefined;
      const { page, after } = JSON.parse(row.text) as Partial<ResultPage> & Pick<ResultPage, 'after'>;
      if (!page) return { after };
      // Of two requests at the same time, one gets the page.
      const { count } = await db.storedForm.updateMany({
        where: { id: row.id, formSealed: row.formSealed },
        data: { formSealed: seal(row.id, { after }) },
      });
      return count === 1 ? { page, after } : { after };
    },
  };
}
