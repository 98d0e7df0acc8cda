// Where the password of a user is stored who has none at this server.
import { short } from './wording.ts';

/** A sentence for the mail; `other` is the connection that the user signs in with. */
export function passwordElsewhere(other: { name: string; isDirectory: boolean } | undefined): string {
  if (!other)
    return 'It has none here, because you sign in with another service. If you cannot get in there, its own help is the place to ask.';
  const name = short(other.name);
  return other.isDirectory
    ? `The password that you enter here is that of ${name}, which stores it, and it can only be changed there. Ask the help desk of ${name}.`
    : `It has none here, because you sign in with ${name}. If you cannot get in there, the help of ${name} is the place to ask.`;
}
