// Who may try a password now (seed 5.7: lockout, rate limiting, CAPTCHA; spraying: global and address limits). Every
// attempt is counted before it is checked, so that parallel guesses cannot slip past, and given back when it was right.
import ipaddr from 'ipaddr.js';
import type { Account } from '../accounts/account.ts';
import { nameKey } from '../accounts/names.ts';
import { limits } from '../limits.ts';
import type { RateLimits, Verdict } from './rate-limits.ts';

export interface SignInTry {
  /** As typed: known and unknown names are counted alike, so that a pause does not tell which exist. */
  login: string;
  address: string;
  /** Id of the account's known browser this comes from; it has a count of its own. */
  knownBrowser?: string | undefined;
  /** Checks the answer to the CAPTCHA, which counts once. Undefined where none is offered; then none is asked for. */
  solvesCaptcha?: (() => Promise<boolean>) | undefined;
}

export type GuardVerdict = { outcome: 'go' } | { outcome: 'captcha' } | { outcome: 'wait'; retryAfterSeconds: number };

export interface SignInGuard {
  /** Whether the page should show a CAPTCHA. */
  wantsCaptcha(attempt: SignInTry): Promise<boolean>;
  /** Counts the attempt. Only after `go` may the password be looked at. */
  begin(attempt: SignInTry): Promise<GuardVerdict>;
  /** The password was right: the owner is here. */
  succeeded(attempt: SignInTry): Promise<void>;
  /** By an admin or a mailed link. */
  unlock(account: Pick<Account, 'username' | 'email'>): Promise<void>;
  /** How long a new browser has to wait for this login; 0 when it need not. */
  lockedSeconds(login: string): Promise<number>;
}

const EVERYBODY = 'all';

export function createSignInGuard({ rateLimits }: { rateLimits: RateLimits }): SignInGuard {
  async function wantsCaptcha({ login, address, knownBrowser }: SignInTry): Promise<boolean> {
    if (knownBrowser) return false;
    const after = limits.rateLimits.captchaAfterFailures;
    const [byAccount, byAddress, overall] = await Promise.all([
      rateLimits.count('sign-in:account', nameKey(login)),
      rateLimits.count('sign-in:address', addressKey(address)),
      rateLimits.peek('sign-in:overall', EVERYBODY),
    ]);
    return byAccount >= after.account || byAddress >= after.address || !overall.allowed;
  }

  /** Seconds that nothing can shorten: whoever has to wait is not asked to work. */
  async function pauseOf({ login, address }: SignInTry): Promise<number> {
    const verdicts = await Promise.all([
      rateLimits.peek('sign-in:address', addressKey(address)),
      rateLimits.peek('sign-in:account', nameKey(login)),
    ]);
    return Math.max(...verdicts.map(({ retryAfterSeconds }) => retryAfterSeconds));
  }

  const countAccount = ({ login, knownBrowser }: SignInTry): Promise<Verdict> =>
    knownBrowser
      ? rateLimits.consume('sign-in:known-browser', knownBrowser)
      : rateLimits.consume('sign-in:account', nameKey(login));

  return {
    wantsCaptcha,

    async begin(attempt) {
      if (attempt.solvesCaptcha && (await wantsCaptcha(attempt))) {
        const retryAfterSeconds = await pauseOf(attempt);
        if (retryAfterSeconds > 0) return { outcome: 'wait', retryAfterSeconds };
        if (!(await attempt.solvesCaptcha())) return { outcome: 'captcha' };
      }
      const address = addressKey(attempt.address);
      // The address first: a machine that is refused must not be able to lock accounts any more.
      const byAddress = await rateLimits.consume('sign-in:address', address);
      if (!byAddress.allowed) return { outcome: 'wait', retryAfterSeconds: byAddress.retryAfterSeconds };
      const byAccount = await countAccount(attempt);
      if (!byAccount.allowed) {
        await rateLimits.refund('sign-in:address', address);
        return { outcome: 'wait', retryAfterSeconds: byAccount.retryAfterSeconds };
      }
      await rateLimits.consume('sign-in:overall', EVERYBODY); // only raises the CAPTCHA, so its verdict is not asked
      return { outcome: 'go' };
    },

    async succeeded(attempt) {
      await Promise.all([
        rateLimits.refund('sign-in:address', addressKey(attempt.address)),
        rateLimits.refund('sign-in:overall', EVERYBODY),
        // Only the count that this attempt used: a sign-in at a known browser does not hand the attacker new tries.
        attempt.knownBrowser
          ? rateLimits.reset('sign-in:known-browser', attempt.knownBrowser)
          : rateLimits.reset('sign-in:account', nameKey(attempt.login)),
      ]);
    },

    async unlock({ username, email }) {
      await rateLimits.reset('sign-in:account', nameKey(username));
      if (email) await rateLimits.reset('sign-in:account', nameKey(email));
    },

    async lockedSeconds(login) {
      return (await rateLimits.peek('sign-in:account', nameKey(login))).retryAfterSeconds;
    },
  };
}

/** One key for what one customer gets: an IPv4 address, or an IPv6 network of 64 bits. */
export function addressKey(address: string): string {
  if (!ipaddr.isValid(address)) return address;
  const parsed = ipaddr.process(address);
  if (parsed.kind() === 'ipv4') return parsed.toString();
  return `${ipaddr.IPv6.networkAddressFromCIDR(`${parsed.toString()}/64`).toString()}/64`;
}
