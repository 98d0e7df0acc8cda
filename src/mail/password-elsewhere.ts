// Where the password of a user is stored who has none at this server.
import { short, words } from './wording.ts';

/** A sentence for the mail; `other` is the connection that the user signs in with, undefined while none of them is enabled. */
export function passwordElsewhere(other: { name: string; isDirectory: boolean } | undefined): string {
  if (!other) return words('mail.elsewhere.none');
  const name = short(other.name);
  return other.isDirectory ? words('mail.elsewhere.directory', { name }) : words('mail.elsewhere.connection', { name });
}
