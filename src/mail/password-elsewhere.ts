// Where the password of a user is stored who has none at this server.
import { short } from './wording.ts';

/** A sentence for the mail; `other` is the connection that the user signs in with, undefined while none of them is enabled. */
export function passwordElsewhere(other: { name: string; isDirectory: boolean } | undefined): string {
  if (!other)
    return 'It has none here: its user signs in with another service, which is not connected to this server at the moment. Ask an administrator for help.';
  const name = short(other.name);
  return other.isDirectory
    ? `The password that you enter here is that of ${name}, which stores it, and it can only be changed there. Ask the help desk of ${name}.`
    : `It has none here, because you sign in with ${name}. If you cannot get in there, the help of ${name} is the place to ask.`;
}
