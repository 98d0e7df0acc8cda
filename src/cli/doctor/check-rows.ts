// doctor: rows that the server does not use, because it did not write them as they are. Named one by one: no command repairs them.
import { isGenuineUser } from '../../accounts/protected-users.ts';
import { isGenuineApplication } from '../../applications/macs/protected-applications.ts';
import type { ProtectedRows } from '../../audit/protected-rows.ts';
import { passkeyFields } from '../../mfa/factors/webauthn-ceremony.ts';
import { settingFields, settingNames } from '../../settings/settings.ts';
import { inChunks } from '../../storage/chunks.ts';
import type { Db } from '../../storage/database.ts';
import { type Finding, failure } from './findings.ts';

const MAX_NAMED = 20;

const OLDER = 'Look through them, stop all servers, and run: gatehouse secrets adopt';
const ADOPT =
  'Find out who changed it. Restore it from a backup or delete it; if it is as it should be, empty its column mac, stop all servers, and run: gatehouse secrets adopt';
const AGAIN = {
  password_credentials: 'Find out who changed it. Delete the row and send the user a reset link.',
  passkeys: 'Find out who changed it. Delete the row; the user adds the passkey again.',
  user_roles:
    'Find out who wrote it. Delete the row; an administrator gives the role again if the user should have it.',
} as const;

export async function rowFindings({
  database: { db },
  protectedRows,
}: {
  database: { db: Db };
  protectedRows: ProtectedRows;
}): Promise<Finding[]> {
  const changed = await changedRows(db, protectedRows);
  const findings = changed
    .slice(0, MAX_NAMED)
    .map(({ name, advice }) => failure('rows', `${name} was written by another program, so it is not used`, advice));
  if (changed.length > MAX_NAMED) {
    const rest = `${changed.length - MAX_NAMED} more rows were written by another program`;
    findings.push(failure('rows', rest, 'Restore a backup.'));
  }
  return [...(await olderRows(db)), ...findings];
}

/** Rows of an older version, without a MAC. */
async function olderRows(db: Db): Promise<Finding[]> {
  const where = { mac: '' };
  const [users, applications] = await Promise.all([db.user.count({ where }), db.application.count({ where })]);
  if (users + applications === 0) return [];
  return [failure('rows', `${users} users and ${applications} applications have no MAC, so they are not used`, OLDER)];
}

async function changedRows(db: Db, protectedRows: ProtectedRows): Promise<{ name: string; advice: string }[]> {
  const found: { name: string; advice: string }[] = [];
  const users = await db.user.findMany({ where: { mac: { not: '' } }, select: { id: true } });
  for (const row of await inChunks(users, (piece) =>
    db.user.findMany({ where: { id: { in: piece.map(({ id }) => id) } } }),
  ))
    if (!isGenuineUser(row, protectedRows)) found.push({ name: `user ${row.username} (${row.id})`, advice: ADOPT });
  for (const row of await db.application.findMany({ where: { mac: { not: '' } } }))
    if (!isGenuineApplication(row, protectedRows)) found.push({ name: `application ${row.clientId}`, advice: ADOPT });
  for (const { key, value, mac } of await db.setting.findMany({ where: { key: { in: settingNames } } }))
    if (!protectedRows.isGenuine('settings', settingFields({ key, value }), mac))
      found.push({ name: `setting ${key}`, advice: ADOPT });
  for (const { userId, roleId, via, mac } of await db.userRole.findMany())
    if (!protectedRows.isGenuine('user_roles', [userId, roleId, via], mac))
      found.push({ name: `the role ${roleId} of user ${userId} (user_roles)`, advice: AGAIN.user_roles });
  for (const { userId, hash, mac } of await db.passwordCredential.findMany())
    if (!protectedRows.isGenuine('password_credentials', [userId, hash], mac))
      found.push({ name: `the password of user ${userId}`, advice: AGAIN.password_credentials });
  for (const row of await db.passkey.findMany())
    if (!protectedRows.isGenuine('passkeys', passkeyFields(row), row.mac))
      found.push({ name: `the passkey ${row.id} of user ${row.userId}`, advice: AGAIN.passkeys });
  return found;
}
