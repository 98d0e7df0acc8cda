// Whether attackers know a password (NIST SP 800-63B 3.1.1.2): the built-in list of common passwords, and with the
// setting `breached_password_lookup` the range API of Have I Been Pwned. That API receives five characters of a SHA-1
// hash, which about 800 known passwords share.

import { createHash } from 'node:crypto';
import type { Base } from '../../base/base.ts';
import type { StrengthMeter } from './strength.ts';

const RANGE_URL = 'https://api.pwnedpasswords.com/range/';
const TIMEOUT_MS = 2000;

export interface BreachedDependencies {
  strength: StrengthMeter;
  /** The guarded fetch for outgoing requests; without it there is no lookup. */
  rangeFetch?: typeof fetch;
  /** The setting `breached_password_lookup`. */
  isLookupOn?: () => boolean;
  rangeUrl?: string;
  timeoutMs?: number;
}

export type Breached = ReturnType<typeof createBreached>;

export function createBreached({
  strength,
  logger,
  rangeFetch,
  rangeUrl = RANGE_URL,
  timeoutMs = TIMEOUT_MS,
  isLookupOn = () => true,
}: Base & BreachedDependencies) {
  async function isInRange(password: string): Promise<boolean> {
    if (!rangeFetch || !isLookupOn()) return false;
    const hash = createHash('sha1').update(password.normalize('NFKC')).digest('hex').toUpperCase();
    try {
      const response = await rangeFetch(rangeUrl + hash.slice(0, 5), {
        headers: { 'Add-Padding': 'true', 'User-Agent': 'gatehouse' },
        signal: AbortSignal.timeout(timeoutMs),
        redirect: 'error',
      });
      if (!response.ok) throw new Error(`answered ${response.status}`);
      return countOf(hash.slice(5), await response.text()) > 0;
    } catch (error) {
      // An unreachable service must not stop a password change.
      logger.warn({ err: error }, 'the breached-password service could not be reached; the password was accepted');
      return false;
    }
  }

  return {
    /** Whether it is on the built-in list; nothing leaves this server. */
    isCommon: strength.isCommon,
    async check(password: string): Promise<'clean' | 'common' | 'breached'> {
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
