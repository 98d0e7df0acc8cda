// What administrators write down about a person, for each other. A note is in no claim, no table of users and not in what people see of
// themselves; who asks for all that is stored about them gets it from an administrator (docs/accounts.md).

import { invalidInput, notFound } from '../../base/http/errors.ts';
import { randomId } from '../../base/platform/random.ts';
import { transaction } from '../../base/storage/database.ts';
import { fault } from '../../base/texts/faults.ts';
import type { Actor } from '../../core/audit/audit.ts';
import type { Core } from '../../core/core.ts';

export type Notes = ReturnType<typeof createNotes>;

const MAX = 100;

/** The text of a note. */
export const MAX_NOTE = 2000;

export function createNotes({ db, now, audit }: Core) {
  return {
    /** The newest first. */
    list: (userId: string) =>
      db.userNote.findMany({ where: { userId }, orderBy: [{ createdAt: 'desc' }, { id: 'asc' }], take: MAX }),

    /** Throws invalid_input where the person has too many. */
    add: (userId: string, text: string, by: Actor) =>
      transaction(db, async (tx) => {
        if ((await tx.userNote.count({ where: { userId } })) >= MAX)
          throw invalidInput([fault(['text'], 'too-many-notes')]);
        const data = { id: randomId(), userId, authorId: by.actorId ?? null, text, createdAt: now() };
        const note = await tx.userNote.create({ data });
        await audit.record(
          { ...by, type: 'account.note-added', outcome: 'success', subjectId: userId, data: { note: note.id } },
          tx,
        );
        return note;
      }),

    remove: (userId: string, id: string, by: Actor): Promise<void> =>
      transaction(db, async (tx) => {
        const { count } = await tx.userNote.deleteMany({ where: { id, userId } });
        if (count === 0) throw notFound({ detail: { note: id } });
        await audit.record(
          { ...by, type: 'account.note-removed', outcome: 'success', subjectId: userId, data: { note: id } },
          tx,
        );
      }),
  };
}
