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
  /** Undefined where no CAPTCHA is offered; then none is asked for. */
  captchaSolved?: boolean | undefined;
}

export type GuardVerdict = { outcome: 'go' } | { outcome: 'captcha' } | { outcome: 'wait'; retryAfterSeconds: number };

export interface SignInGuard {
  /** Whether the page should show a CAPTCHA. */
  wantsCaptcha(attempt: Omit<SignInTry, 'captchaSolved'>): Promise<boolean>;
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
  async function wantsCaptcha({ login, address, knownBrowser }: Omit<SignInTry, 'captchaSolved'>): Promise<boolean> {
    if (knownBrowser) return false;
    const after = limits.rateLimits.captchaAfterFailures;
    if ((await rateLimits.count('sign-in:account', nameKey(login))) >= after) return true;
    if ((await rateLimits.count('sign-in:address', addressKey(address))) >= after) return true;
    return !(await rateLimits.peek('sign-in:overall', EVERYBODY)).allowed;
  }

  const countAccount = ({ login, knownBrowser }: SignInTry): Promise<Verdict> =>
    knownBrowser
      ? rateLimits.consume('sign-in:known-browser', knownBrowser)
      : rateLimits.consume('sign-in:account', nameKey(login));

  return {
    wantsCaptcha,

    async begin(attempt) {
      if (attempt.captchaSolved === false && (await wantsCaptcha(attempt))) return { outcome: 'captcha' };
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
