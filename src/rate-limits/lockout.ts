// Lockout and brute-force protection of the password: which attempts are allowed, which need a CAPTCHA, and whether an
// account is locked. An attempt is counted before the password is checked, so that parallel guesses are all counted, and
// refunded when the password was right.
import ipaddr from 'ipaddr.js';
import type { Account } from '../accounts/account.ts';
import { nameKey } from '../accounts/names.ts';
import { limits } from '../limits.ts';
import type { RateLimits, Verdict } from './rate-limits.ts';

export interface PasswordAttempt {
  /** As typed: existing and unknown names are counted alike, so that a lockout does not tell which accounts exist. */
  login: string;
  address: string;
  /** Id of a known browser of the account; it has its own counter. */
  knownBrowser?: string | undefined;
  /** Checks the solution of the CAPTCHA, which is accepted once. Undefined where the page offers none. */
  solvesCaptcha?: (() => Promise<boolean>) | undefined;
}

export type AttemptVerdict =
  | { outcome: 'allowed' }
  | { outcome: 'captcha' }
  | { outcome: 'wait'; retryAfterSeconds: number };

export interface Lockout {
  /** Whether the page should show a CAPTCHA. */
  needsCaptcha(attempt: PasswordAttempt): Promise<boolean>;
  /** Counts the attempt. The password may be checked only after `allowed`. */
  begin(attempt: PasswordAttempt): Promise<AttemptVerdict>;
  /** The password was right: takes the attempt back. */
  succeeded(attempt: PasswordAttempt): Promise<void>;
  /** Ends the lockout of an account under each of its logins: by an administrator or a mailed link. */
  unlock(account: LockableAccount): Promise<void>;
  /** How many seconds a new browser has to wait for this account under any of its logins; 0 when it is not locked. */
  lockedSeconds(account: LockableAccount): Promise<number>;
}

/** An account signs in by its user name or its e-mail address; failures under each are counted apart. */
export type LockableAccount = Pick<Account, 'username' | 'email'>;

const WHOLE_SERVER = 'all';

/** Decides on password attempts by the counters of `rateLimits`. */
export function createLockout({ rateLimits }: { rateLimits: RateLimits }): Lockout {
  return {
    needsCaptcha: (attempt) => needsCaptcha(rateLimits, attempt),
    begin: (attempt) => begin(rateLimits, attempt),

    async succeeded(attempt) {
      await Promise.all([
        rateLimits.refund('sign-in:address', addressKey(attempt.address)),
        rateLimits.refund('sign-in:overall', WHOLE_SERVER),
        // Only the counter that this attempt used: a sign-in in a known browser must not give an attacker new attempts.
        attempt.knownBrowser
          ? rateLimits.reset('sign-in:known-browser', attempt.knownBrowser)
          : rateLimits.reset('sign-in:account', nameKey(attempt.login)),
      ]);
    },

    async unlock(account) {
      for (const key of keysOf(account)) await rateLimits.reset('sign-in:account', key);
    },

    async lockedSeconds(account) {
      const verdicts = await Promise.all(keysOf(account).map((key) => rateLimits.peek('sign-in:account', key)));
      return Math.max(...verdicts.map(({ retryAfterSeconds }) => retryAfterSeconds));
    },
  };
}

async function needsCaptcha(
  rateLimits: RateLimits,
  { login, address, knownBrowser }: PasswordAttempt,
): Promise<boolean> {
  if (knownBrowser) return false;
  const after = limits.rateLimits.captchaAfterFailures;
  const [byAccount, byAddress, overall] = await Promise.all([
    rateLimits.count('sign-in:account', nameKey(login)),
    rateLimits.count('sign-in:address', addressKey(address)),
    rateLimits.peek('sign-in:overall', WHOLE_SERVER),
  ]);
  return byAccount >= after.account || byAddress >= after.address || !overall.allowed;
}

/** A wait that no CAPTCHA can shorten; then the page offers none. */
async function waitSecondsOf(rateLimits: RateLimits, { login, address }: PasswordAttempt): Promise<number> {
  const verdicts = await Promise.all([
    rateLimits.peek('sign-in:address', addressKey(address)),
    rateLimits.peek('sign-in:account', nameKey(login)),
  ]);
  return Math.max(...verdicts.map(({ retryAfterSeconds }) => retryAfterSeconds));
}

/** Counts the attempt: first for its network address, then for its account. */
async function begin(rateLimits: RateLimits, attempt: PasswordAttempt): Promise<AttemptVerdict> {
  if (attempt.solvesCaptcha && (await needsCaptcha(rateLimits, attempt))) {
    const retryAfterSeconds = await waitSecondsOf(rateLimits, attempt);
    if (retryAfterSeconds > 0) return { outcome: 'wait', retryAfterSeconds };
    if (!(await attempt.solvesCaptcha())) return { outcome: 'captcha' };
  }
  const address = addressKey(attempt.address);
  // The address first: a machine over its limit must not be able to lock more accounts.
  const byAddress = await rateLimits.consume('sign-in:address', address);
  if (!byAddress.allowed) return { outcome: 'wait', retryAfterSeconds: byAddress.retryAfterSeconds };
  const byAccount = await countAccount(rateLimits, attempt);
  if (!byAccount.allowed) {
    await rateLimits.refund('sign-in:address', address);
    return { outcome: 'wait', retryAfterSeconds: byAccount.retryAfterSeconds };
  }
  await rateLimits.consume('sign-in:overall', WHOLE_SERVER); // it only decides on the CAPTCHA
  return { outcome: 'allowed' };
}

function countAccount(rateLimits: RateLimits, { login, knownBrowser }: PasswordAttempt): Promise<Verdict> {
  return knownBrowser
    ? rateLimits.consume('sign-in:known-browser', knownBrowser)
    : rateLimits.consume('sign-in:account', nameKey(login));
}

/** The counters of an account: one for each of its logins. */
function keysOf({ username, email }: LockableAccount): string[] {
  const logins = email === null ? [username] : [username, email];
  return [...new Set(logins.map(nameKey))];
}

/** One key for each customer of a provider: an IPv4 address, or an IPv6 network of 64 bits. */
export function addressKey(address: string): string {
  if (!ipaddr.isValid(address)) return address;
  const parsed = ipaddr.process(address);
  if (parsed.kind() === 'ipv4') return parsed.toString();
  return `${ipaddr.IPv6.networkAddressFromCIDR(`${parsed.toString()}/64`).toString()}/64`;
}
