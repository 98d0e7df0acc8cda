// Whether a password is known to attackers (seed 5.5 policy 3): the built-in list always, and as a setting the public
// range API of Have I Been Pwned, which learns five characters of a SHA-1 hash shared by some 800 other passwords.
import { createHash } from 'node:crypto';
import type { Logger } from '../platform/logger.ts';
import type { StrengthMeter } from './strength.ts';

const RANGE_URL = 'https://api.pwnedpasswords.com/range/';
const TIMEOUT_MS = 2000;

export interface BreachedNeeds {
  strength: Pick<StrengthMeter, 'isCommon'>;
  logger: Logger;
  /** Set where the setting is on; must be the guarded fetch for outgoing calls. */
  rangeFetch?: typeof fetch;
  /** The setting; on where it is not asked. */
  isLookupOn?: () => boolean;
  rangeUrl?: string;
}

export interface Breached {
  check(password: string): Promise<'clean' | 'common' | 'breached'>;
}

export function createBreached({
  strength,
  logger,
  rangeFetch,
  rangeUrl = RANGE_URL,
  isLookupOn = () => true,
}: BreachedNeeds): Breached {
  async function isInRange(password: string): Promise<boolean> {
    if (!rangeFetch || !isLookupOn()) return false;
    const hash = createHash('sha1').update(password.normalize('NFKC')).digest('hex').toUpperCase();
    try {
      const response = await rangeFetch(rangeUrl + hash.slice(0, 5), {
        headers: { 'Add-Padding': 'true', 'User-Agent': 'gatehouse' },
        signal: AbortSignal.timeout(TIMEOUT_MS),
        redirect: 'error',
      });
      if (!response.ok) throw new Error(`answered ${response.status}`);
      return countOf(hash.slice(5), await response.text()) > 0;
    } catch (error) {
      // A list that cannot be reached must not stop people from changing their password.
      logger.warn({ err: error }, 'the breached-password service could not be asked; the password was let through');
      return false;
    }
  }

  return {
    async check(password) {
      if (await strength.isCommon(password)) return 'common';
      return (await isInRange(password)) ? 'breached' : 'clean';
    },
  };
}

// Lines of `suffix:count`; padding has the count 0.
function countOf(suffix: string, body: string): number {
  const line = body.split('\n').find((entry) => entry.startsWith(`${suffix}:`));
  return line ? Number.parseInt(line.slice(suffix.length + 1), 10) : 0;
}
