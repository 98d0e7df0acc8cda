// What follows when a second factor was added on the account page: with the first come the codes that stand in for it.
import type { Context } from '../http/context.ts';
import type { RecoveryCodes } from '../mfa/recovery-codes.ts';
import type { Clock } from '../platform/clock.ts';
import { recoveryCodesPage } from '../signin/recovery-codes-page.ts';
import type { OwnPage } from './page.ts';

export const FACTORS_PAGE = '/account/factors';

export interface NewFactor {
  /** Goes on to the codes that come with a first factor, else back with this sentence. `enrolment`: of its form. */
  added(ctx: Context, sentence: string, enrolment: string): Promise<void>;
  /** Makes new codes and shows them, this once. */
  showNewCodes(ctx: Context): Promise<void>;
}

export interface NewFactorNeeds {
  page: OwnPage;
  recoveryCodes: Pick<RecoveryCodes, 'create' | 'createFor'>;
  /** The host that people sign in at, for the list on paper. */
  host: string;
  now: Clock;
}

export function createNewFactor({ page, recoveryCodes, host, now }: NewFactorNeeds): NewFactor {
  const { signedIn } = page;

  function show(ctx: Context, codes: string[]): void {
    const { account } = signedIn.of(ctx);
    const shown = recoveryCodesPage(codes, account, host, now());
    ctx.render('sign-in/recovery-codes', { ...shown, continueUrl: FACTORS_PAGE });
  }

  return {
    async showNewCodes(ctx) {
      show(ctx, await recoveryCodes.create(signedIn.of(ctx).account.id, page.by(ctx)));
    },

    async added(ctx, sentence, enrolment) {
      const codes = await recoveryCodes.createFor(signedIn.of(ctx).account.id, enrolment, page.by(ctx));
      if (codes) return show(ctx, codes);
      page.back(ctx, FACTORS_PAGE, sentence);
    },
  };
}
