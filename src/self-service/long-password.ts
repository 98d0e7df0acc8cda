// Fifteen characters are the rule without a second factor (seed 5.5): before the last one goes, a short password has to.
import type { Credentials } from '../credentials/credentials.ts';
import type { Context } from '../http/context.ts';
import type { Factors } from '../mfa/factors.ts';
import type { OwnPage } from './page.ts';

export interface LongPassword {
  /** Whether removing this factor would leave the account with a password that is too short. */
  isMissingWithout(userId: string, without: Parameters<Factors['isLast']>[1]): Promise<boolean>;
  /** Leads to the page that asks for a longer one. */
  ask(ctx: Context): void;
}

/** Asks the password page for the length that applies without a second factor. */
export const LONG = 'long';

export interface LongPasswordNeeds {
  page: Pick<OwnPage, 'back'>;
  credentials: Pick<Credentials, 'status'>;
  factors: Pick<Factors, 'isLast'>;
}

export function createLongPassword({ page, credentials, factors }: LongPasswordNeeds): LongPassword {
  return {
    async isMissingWithout(userId, without) {
      const status = await credentials.status(userId);
      return status !== undefined && !status.long && (await factors.isLast(userId, without));
    },
    ask: (ctx) => page.back(ctx, `/account/password?need=${LONG}`),
  };
}
