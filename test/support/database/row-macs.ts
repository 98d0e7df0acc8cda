// The MACs of rows that a test writes directly: the server would reject them as those of another program.
import type { ProtectedRows } from '../../../src/audit/protected-rows.ts';
import { rpSessionFields } from '../../../src/rp/sessions.ts';
import { adoptWithoutMac } from '../../../src/server/secrets/adopt-rows.ts';
import { attemptFields } from '../../../src/sign-in/attempts.ts';
import type { Db } from '../../../src/storage/database.ts';

export interface SigningServices {
  db: Db;
  protectedRows: ProtectedRows;
}

/** Writes the MAC of every row without one. A test that changes a row empties its `mac` in the same statement. */
export async function signRows({ db, protectedRows }: SigningServices): Promise<void> {
  await adoptWithoutMac(db, protectedRows);
  for (const row of await db.signInAttempt.findMany({ where: { mac: '' } })) {
    const mac = protectedRows.macOf('sign_in_attempts', attemptFields(row));
    await db.signInAttempt.update({ where: { uid: row.uid }, data: { mac } });
  }
  for (const row of await db.rpSession.findMany({ where: { mac: '' } })) {
    const mac = protectedRows.macOf('rp_sessions', rpSessionFields(row));
    await db.rpSession.update({ where: { id: row.id }, data: { mac } });
  }
}
