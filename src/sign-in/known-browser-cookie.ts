// The cookie of a browser that an account was used in: it recognizes the browser, and keeps the user's choice to skip
// the second factor there.

import type { Context } from '../base/http/context.ts';
import { recipientOf } from '../core/mail/messages.ts';
import { placeOf } from '../core/mail/wording.ts';
import type { Account } from '../people/accounts/account.ts';
import type { SignInServices } from './services.ts';

export type KnownBrowserCookie = ReturnType<typeof createKnownBrowserCookie>;

export function createKnownBrowserCookie({
  audit,
  cookies,
  now,
  outbox,
  settings,
  mfa: { knownBrowsers },
}: SignInServices) {
  const rememberDays = () => settings.latest().remember_browser_days;

  /** Mails the owner of an account about its first sign-in in a browser, while the setting is on. */
  async function sendNotice(ctx: Context, account: Account): Promise<void> {
    const to = recipientOf(account, ctx.state.request);
    if (!to || !settings.latest().new_browser_notice) return;
    await outbox.send({ to, kind: 'new-sign-in', place: placeOf(ctx.state.request, now()) });
  }

  const recognize = (ctx: Context, accountId: string) =>
    knownBrowsers.recognize(cookies.get(ctx, 'knownBrowser'), accountId);

  return {
    /**
     * Id of this browser if the account was used in it before. The lockout counts its attempts apart, so that an attacker
     * elsewhere cannot lock the owner out of it.
     */
    knownTo: async (ctx: Context, accountId: string): Promise<string | undefined> =>
      (await recognize(ctx, accountId))?.id,
    /** Whether this account may skip the second factor in this browser. */
    isTrusted: async (ctx: Context, accountId: string): Promise<boolean> =>
      rememberDays() > 0 && (await recognize(ctx, accountId))?.isTrusted === true,

    /** After a sign-in: remembers the browser, and sends a notice to the account's owner if it is a new one. */
    async signedIn(
      ctx: Context,
      account: Account,
      { trust, isExpected }: { trust: boolean; isExpected: boolean },
    ): Promise<void> {
      const { request } = ctx.state;
      const trustDays = trust ? rememberDays() : 0;
      const browser = await knownBrowsers.remember(cookies.get(ctx, 'knownBrowser'), account.id, {
        request,
        trustDays,
      });
      cookies.set(ctx, 'knownBrowser', browser.cookie);
      const about = { actorId: account.id, subjectId: account.id, request };
      if (trustDays > 0) await audit.record({ type: 'browser.remembered', outcome: 'success', ...about });
      if (!browser.isNew) return;
      await audit.record({ type: 'sign-in.new-browser', outcome: 'success', ...about });
      if (!isExpected) await sendNotice(ctx, account);
    },
  };
}
