// Recovery codes on the account pages: they come with the first second factor, and can be made again.
import type { Context } from '../../base/http/context.ts';
import type { PageText } from '../../base/texts/text.ts';
import type { RecoveryCodes } from '../../people/mfa/factors/recovery-codes.ts';
import type { RecoveryCodesPages } from '../../sign-in/second-factor/recovery-codes-page.ts';
import type { AccountPageHelpers } from '../account-page-helpers.ts';

export const FACTORS_PAGE = '/account/factors';
/** The path of the page with new codes; the value of the stored page follows. */
const CODES_PAGE = `${FACTORS_PAGE}/recovery-codes`;

export type FactorRecoveryCodes = ReturnType<typeof createFactorRecoveryCodes>;

export function createFactorRecoveryCodes(dependencies: {
  page: AccountPageHelpers;
  recoveryCodes: RecoveryCodes;
  recoveryCodesPages: RecoveryCodesPages;
}) {
  const { page, recoveryCodes, recoveryCodesPages } = dependencies;
  const { signedIn } = page;
  const ownerOf = (ctx: Context) => {
    const { account, session } = signedIn.userOf(ctx);
    return { userId: account.id, session: session.ssoUid };
  };

  return {
    /** Makes new codes and redirects to their page. */
    async makeNew(ctx: Context): Promise<void> {
      const codes = await recoveryCodes.create(signedIn.userOf(ctx).account.id, page.actorOf(ctx));
      await recoveryCodesPages.redirect(ctx, CODES_PAGE, ownerOf(ctx), codes);
    },

    /**
     * After a second factor was added: redirects to the codes that come with the first one, otherwise to the list of factors with
     * `sentence`. The codes are derived from `enrolment`, the sealed value of the form.
     */
    async afterAdding(ctx: Context, sentence: PageText, enrolment: string): Promise<void> {
      const codes = await recoveryCodes.createFor(signedIn.userOf(ctx).account.id, enrolment, page.actorOf(ctx));
      if (codes) return recoveryCodesPages.redirect(ctx, CODES_PAGE, ownerOf(ctx), codes);
      page.redirectWithNotice(ctx, FACTORS_PAGE, sentence);
    },

    /** The page of stored codes. */
    async show(ctx: Context, value: string): Promise<void> {
      const { account } = signedIn.userOf(ctx);
      await recoveryCodesPages.show(ctx, { account, owner: ownerOf(ctx), value, continueUrl: FACTORS_PAGE });
    },
  };
}
