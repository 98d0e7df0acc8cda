// A username for a new account, made from what the upstream calls the user. It is never matched with an existing one.
import { randomToken } from '../../platform/random.ts';

const MAX_LENGTH = 40;
const ATTEMPTS = 20;

/** Names to try in order; `suffix` makes the later ones unlikely to be taken. */
export function* userNames(
  { username, email, name }: { username?: string | undefined; email?: string | undefined; name?: string | undefined },
  suffix: () => string,
): Generator<string> {
  const base = [username, email, name].map(usernameCharacters).find((one) => one !== '') ?? 'user';
  yield base;
  for (let attempt = 2; attempt <= ATTEMPTS; attempt += 1) yield `${base}-${attempt}`;
  for (;;) yield `${base}-${suffix()}`;
}

/** The first of these names that is not taken. */
export async function freeUserName(
  profile: Parameters<typeof userNames>[0],
  isTaken: (name: string) => Promise<boolean>,
): Promise<string> {
  const suffix = () =>
    randomToken(4)
      .toLowerCase()
      .replace(/[^a-z0-9]/g, '');
  for (const name of userNames(profile, suffix)) if (!(await isTaken(name))) return name;
  throw new Error('there is no free username');
}

/** Lower-case letters, digits and . _ - of the part before an @. */
function usernameCharacters(text: string | undefined): string {
  return (text ?? '')
    .split('@', 1)
    .join('')
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[\s/\\]+/g, '.')
    .replace(/[^a-z0-9._-]/g, '')
    .replace(/^[._-]+|[._-]+$/g, '')
    .slice(0, MAX_LENGTH);
}
