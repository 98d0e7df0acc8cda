// The MACs of users: their names and addresses decide where a reset is mailed and whom an application takes the user for.
import type { ProtectedRows } from '../../base/storage/protected-rows.ts';
import type { TextFieldName } from './profile-fields.ts';

export interface UserColumns extends Record<TextFieldName, string | null> {
  id: string;
  username: string;
  usernameKey: string;
  email: string | null;
  emailKey: string | null;
  emailVerified: boolean | number;
  phoneNumber: string | null;
  phoneNumberVerified: boolean | number;
  /** JSON. */
  address: string | null;
  /** JSON. */
  attributes: string;
  ssoId: string | null;
  isActive: boolean | number;
  source: string;
}

const TABLE = 'users';

/** The MAC to store with the row. */
export function userMac(row: UserColumns, { macOf }: ProtectedRows): string {
  return macOf(TABLE, row);
}

/** Whether this server wrote the row; raises an alarm if not. */
export function isGenuineUser(row: UserColumns & { mac: string }, { isGenuine }: ProtectedRows): boolean {
  return isGenuine(TABLE, row, row.mac);
}
