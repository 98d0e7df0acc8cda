// Where the password of a user is stored who has none at this server.
import { short } from './wording.ts';

/** A sentence for the mail; `other` is the connection that the user signs in with, undefined while none of them is enabled. */
export function passwordElsewhere(other: { name: string; isDirectory: boolean } | undefined): string {
  if (!other)
    return 'Your account has no password here, and your way to sign in isn’t available right now. Ask an administrator for help.';
  const name = short(other.name);
  return other.isDirectory
    ? `${name} manages your password, so you can change it only there. Ask the ${name} help desk.`
    : `Your account has no password here, because you sign in with ${name}. If you can’t sign in there, contact ${name} support.`;
}
