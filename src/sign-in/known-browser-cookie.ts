// The cookie of a browser that an account was used in: it recognizes the browser, and keeps the user's choice to skip
// the second factor there.

import type { Context } from '../base/http/context.ts';
import { recipientOf } from '../core/mail/messages.ts';
import { placeOf } from '../core/mail/wording.ts';
import type { Account } from '../people/accounts/account.ts';
import type { SignInServices } from './services.ts';

export type KnownBrowserCookie = ReturnType<typeof createKnownBrowserCookie>;

export function createKnownBrowserCookie(services: SignInServices) {
  const { audit, cookies, countries, now, outbox, settings } = services;
  const { knownBrowsers } = services.mfa;
  const rememberDays = () => settings.latest().remember_browser_days;
  /** The cookie that this request has set: a sign-in may be completed by the request that accepts an invitation. */
  const written = new WeakMap<object, string>();
  const cookieOf = (ctx: Context) => written.get(ctx.req) ?? cookies.get(ctx, 'knownBrowser');

  /** Mails the owner of an account about its first sign-in in a browser, while the setting is on. */
  async function sendNotice(ctx: Context, account: Account): Promise<void> {
    const to = recipientOf(account, ctx.state.request);
    if (!to || !settings.latest().new_browser_notice) return;
    const country = countries.of(ctx.state.request.address);
    await outbox.send({ to, kind: 'new-sign-in', place: { ...placeOf(ctx.state.request, now()), country } });
  }

  const recognize = (ctx: Context, accountId: string) => knownBrowsers.recognize(cookieOf(ctx), accountId);

  /** Whether the account was never used in it. */
  async function remember(ctx: Context, accountId: string, trustDays: number): Promise<boolean> {
    const { request } = ctx.state;
    const browser = await knownBrowsers.remember(cookieOf(ctx), accountId, { request, trustDays });
    cookies.set(ctx, 'knownBrowser', browser.cookie);
    written.set(ctx.req, browser.cookie);
    const about = { actorId: accountId, subjectId: accountId, request };
    if (browser.isNew) await audit.record({ type: 'sign-in.new-browser', outcome: 'success', ...about });
    return browser.isNew;
  }

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

    /** Remembers the browser in which an invitation was accepted: no notice then of the sign-in there, also of one that is left and begun again. */
    invited: async (ctx: Context, accountId: string): Promise<void> => void (await remember(ctx, accountId, 0)),

    /** After a sign-in: remembers the browser, and sends a notice to the account's owner if it is a new one. */
    async signedIn(ctx: Context, account: Account, { trust }: { trust: boolean }): Promise<void> {
      const trustDays = trust ? rememberDays() : 0;
      const isNew = await remember(ctx, account.id, trustDays);
      const about = { actorId: account.id, subjectId: account.id, request: ctx.state.request };
      if (trustDays > 0) await audit.record({ type: 'browser.remembered', outcome: 'success', ...about });
      if (isNew) await sendNotice(ctx, account);
    },
  };
}
