// How much mail somebody can bring about (seed 5.7). Each kind has a count of its own, so that what a stranger asks for
// uses up nothing that the person needs to sign in; and a browser that the person has used has its own, as with passwords.
import { nameKey } from '../accounts/names.ts';
import type { PolicyName } from './policies.ts';
import type { RateLimits, Verdict } from './rate-limits.ts';

/** Kinds that are limited. Notices about what has happened are not: nobody may be kept from learning of it. */
export type LimitedMail = 'reset' | 'unlock' | 'registration' | 'address-proof' | 'sign-in-code';

export interface MailLimits {
  /** Counts one more mail of this kind, or SMS, to a recipient. */
  to(recipient: string, kind: LimitedMail): Promise<Verdict>;
  /** Counts one more link that anybody may ask for. `browser`: the cookie of a known browser, if it came with the wish. */
  link(kind: 'reset' | 'unlock', account: { id: string; email: string }, browser: string | undefined): Promise<Verdict>;
}

export interface MailLimitsNeeds {
  rateLimits: Pick<RateLimits, 'consume'>;
  knownBrowsers: { recognise(cookie: string | undefined, userId: string): Promise<{ id: string } | undefined> };
}

const PER_ACCOUNT = { reset: 'reset:account', unlock: 'unlock:account' } as const satisfies Record<string, PolicyName>;

export function createMailLimits({ rateLimits, knownBrowsers }: MailLimitsNeeds): MailLimits {
  const to: MailLimits['to'] = (recipient, kind) =>
    rateLimits.consume('mail:recipient', `${kind}:${nameKey(recipient)}`);

  return {
    to,
    async link(kind, { id, email }, browser) {
      const known = await knownBrowsers.recognise(browser, id);
      if (known) return rateLimits.consume(PER_ACCOUNT[kind], `${id}:${known.id}`);
      const byAccount = await rateLimits.consume(PER_ACCOUNT[kind], id);
      return byAccount.allowed ? to(email, kind) : byAccount;
    },
  };
}
