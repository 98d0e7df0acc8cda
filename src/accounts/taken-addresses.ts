// An address signs in to one account only, whether it is there the username or the email address. The unique constraints
// compare names with names and addresses with addresses; this compares the one with the other.
import { conflict } from '../http/errors.ts';
import type { Tx } from '../storage/database.ts';
import { lockAccountNames } from '../storage/row-lock.ts';
import type { Sql } from '../storage/statements.ts';

/**
 * Throws user_name_taken or email_taken (409) when the username is the email address of another account, or the email address
 * another account's username. Call it in the transaction that writes both, before it writes them.
 */
export async function assertNotTaken(
  tx: Tx,
  sql: Sql,
  id: string,
  { usernameKey, emailKey }: { usernameKey: string; emailKey: string | null },
): Promise<void> {
  const isOtherAddress = usernameKey.includes('@') && usernameKey !== emailKey;
  if (emailKey === null && !isOtherAddress) return;
  // Two email addresses are compared by the unique constraint, so that only the rare other names wait for each other.
  await lockAccountNames(tx, sql, isOtherAddress ? 'exclusive' : 'shared');
  const [others, select] = [{ id: { not: id } }, { id: true }] as const;
  if (isOtherAddress && (await tx.user.findFirst({ where: { emailKey: usernameKey, ...others }, select })))
    throw conflict('user_name_taken');
  if (emailKey !== null && (await tx.user.findFirst({ where: { usernameKey: emailKey, ...others }, select })))
    throw conflict('email_taken');
}
