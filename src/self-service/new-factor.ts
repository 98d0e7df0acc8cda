// What follows when a second factor was added on the account page: with the first come the codes that stand in for it.
import type { Context } from '../http/context.ts';
import type { Factors } from '../mfa/factors.ts';
import type { RecoveryCodes } from '../mfa/recovery-codes.ts';
import type { Clock } from '../platform/clock.ts';
import { recoveryCodesPage } from '../signin/recovery-codes-page.ts';
import type { OwnPage } from './page.ts';

export const FACTORS_PAGE = '/account/factors';

export interface NewFactor {
  /** Goes on to the codes when there are none yet, else back with this sentence. */
  added(ctx: Context, sentence: string): Promise<void>;
  /** Makes new codes and shows them, this once. */
  showNewCodes(ctx: Context): Promise<void>;
}

export interface NewFactorNeeds {
  page: OwnPage;
  factors: Pick<Factors, 'of'>;
  recoveryCodes: Pick<RecoveryCodes, 'create'>;
  /** The host that people sign in at, for the list on paper. */
  host: string;
  now: Clock;
}

export function createNewFactor({ page, factors, recoveryCodes, host, now }: NewFactorNeeds): NewFactor {
  const { signedIn } = page;

  async function showNewCodes(ctx: Context): Promise<void> {
    const { account } = signedIn.of(ctx);
    const codes = await recoveryCodes.create(account.id, page.by(ctx));
    const shown = recoveryCodesPage(codes, account, host, now());
    ctx.render('sign-in/recovery-codes', { ...shown, continueUrl: FACTORS_PAGE });
  }

  return {
    showNewCodes,
    async added(ctx, sentence) {
      const own = await factors.of(signedIn.of(ctx).account.id);
      if (own.recoveryCodes === 0) return showNewCodes(ctx);
      page.back(ctx, FACTORS_PAGE, sentence);
    },
  };
}
