// Recovery codes on the account pages: they come with the first second factor, and can be made again.

import type { Context } from '../../http/context.ts';
import type { RecoveryCodes } from '../../mfa/factors/recovery-codes.ts';
import type { Clock } from '../../platform/clock.ts';
import { type CodesServer, recoveryCodesPage } from '../../sign-in/second-factor/recovery-codes-page.ts';
import type { PageText } from '../../texts/text.ts';
import type { AccountPageHelpers } from '../account-page-helpers.ts';

export const FACTORS_PAGE = '/account/factors';

export interface FactorRecoveryCodes {
  /**
   * After a second factor was added: shows the codes that come with the first one, otherwise returns to the list of
   * factors with `sentence`. The codes are derived from `enrolment`, the sealed value of the form.
   */
  showAfterAdding(ctx: Context, sentence: PageText, enrolment: string): Promise<void>;
  /** Makes new codes and shows them once. */
  showNewCodes(ctx: Context): Promise<void>;
}

export interface FactorRecoveryCodesDependencies {
  page: AccountPageHelpers;
  recoveryCodes: Pick<RecoveryCodes, 'create' | 'createFor'>;
  server: CodesServer;
  now: Clock;
}

export function createFactorRecoveryCodes({
  page,
  recoveryCodes,
  server,
  now,
}: FactorRecoveryCodesDependencies): FactorRecoveryCodes {
  const { signedIn } = page;

  function show(ctx: Context, codes: string[]): void {
    const { account } = signedIn.userOf(ctx);
    const codesPage = recoveryCodesPage(codes, account, server, now(), ctx.state.inWords);
    ctx.render('sign-in/recovery-codes', { ...codesPage, continueUrl: FACTORS_PAGE });
  }

  return {
    async showNewCodes(ctx) {
      show(ctx, await recoveryCodes.create(signedIn.userOf(ctx).account.id, page.actorOf(ctx)));
    },

    async showAfterAdding(ctx, sentence, enrolment) {
      const codes = await recoveryCodes.createFor(signedIn.userOf(ctx).account.id, enrolment, page.actorOf(ctx));
      if (codes) return show(ctx, codes);
      page.redirectWithNotice(ctx, FACTORS_PAGE, sentence);
    },
  };
}
