// Limits on the mail that anyone can cause. Each kind of mail has its own counter, so that other people's requests do not use
// up what the user needs to sign in; and each known browser of the account has its own, as with passwords.
import { nameKey } from '../accounts/names.ts';
import type { PolicyName } from './policies.ts';
import type { LimitResult, RateLimits } from './rate-limits.ts';

/** Kinds of mail that are limited. Security notices are not: an attacker must not be able to suppress them. */
export type LimitedMail = 'reset' | 'unlock' | 'registration' | 'address-proof' | 'sign-in-code' | 'test';

export type MailLimits = ReturnType<typeof createMailLimits>;

export interface KnownBrowserLookup {
  recognize(cookie: string | undefined, userId: string): Promise<{ id: string } | undefined>;
}

const PER_ACCOUNT = { reset: 'reset:account', unlock: 'unlock:account' } as const satisfies Record<string, PolicyName>;

export function createMailLimits(rateLimits: RateLimits, knownBrowsers: KnownBrowserLookup) {
  const to: (recipient: string, kind: LimitedMail) => Promise<LimitResult> = (recipient, kind) =>
    rateLimits.consume('mail:recipient', `${kind}:${nameKey(recipient)}`);

  return {
    /** Counts one more mail of this kind, or SMS, to a recipient. */
    to,
    /** Counts one more link that anyone may ask for. `browser`: the known-browser cookie of the request, if any. */
    async link(
      kind: 'reset' | 'unlock',
      { id, email }: { id: string; email: string },
      browser: string | undefined,
    ): Promise<LimitResult> {
      const known = await knownBrowsers.recognize(browser, id);
      if (known) return rateLimits.consume(PER_ACCOUNT[kind], `${id}:${known.id}`);
      const byAccount = await rateLimits.consume(PER_ACCOUNT[kind], id);
      return byAccount.allowed ? to(email, kind) : byAccount;
    },
  };
}
