// The key by which lists of applications are sorted: their name as the names of users are compared, so that case does not matter.
import { nameKey } from '../people/accounts/names.ts';

/** An entry of an index on PostgreSQL holds 2704 bytes, and compatibility forms may be 18 times as long as the name. */
const MAX_CHARACTERS = 255;

export function listKey(name: string): string {
  return [...nameKey(name)].slice(0, MAX_CHARACTERS).join('');
}
