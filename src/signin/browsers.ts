// The browsers that people sign in from: a cookie for each, told from a new one, and trusted where the person asked.
import type { Account } from '../accounts/account.ts';
import type { Audit } from '../audit/audit.ts';
import type { Context } from '../http/context.ts';
import type { Cookies } from '../http/cookies.ts';
import type { KnownBrowsers } from '../mfa/known-browsers.ts';

export interface Browsers {
  /** Id of this browser when the account was used in it before; then a pause made by others does not hold it up. */
  knownTo(ctx: Context, accountId: string): Promise<string | undefined>;
  isTrusted(ctx: Context, accountId: string): Promise<boolean>;
  /** After a sign-in: remembers the browser, and tells the person of one that is new. */
  signedIn(ctx: Context, account: Account, options: { trust: boolean }): Promise<void>;
}

export interface BrowsersNeeds {
  cookies: Cookies;
  knownBrowsers: KnownBrowsers;
  audit: Audit;
  /** For how many days the second factor may be left out; 0: never. */
  rememberDays(): number;
  /** Told of a sign-in from a browser that this account was never used in. */
  tellNewBrowser(ctx: Context, account: Account): Promise<void>;
}

export function createBrowsers({
  cookies,
  knownBrowsers,
  audit,
  rememberDays,
  tellNewBrowser,
}: BrowsersNeeds): Browsers {
  const recognise = (ctx: Context, accountId: string) =>
    knownBrowsers.recognise(cookies.get(ctx, 'knownBrowser'), accountId);

  return {
    knownTo: async (ctx, accountId) => (await recognise(ctx, accountId))?.id,
    isTrusted: async (ctx, accountId) => rememberDays() > 0 && (await recognise(ctx, accountId))?.isTrusted === true,

    async signedIn(ctx, account, { trust }) {
      const cookie = cookies.get(ctx, 'knownBrowser') ?? knownBrowsers.newCookie();
      const { request } = ctx.state;
      const browser = await knownBrowsers.remember(cookie, account.id, request);
      cookies.set(ctx, 'knownBrowser', cookie);
      const about = { actorId: account.id, subjectId: account.id, request };
      if (trust && rememberDays() > 0) {
        await knownBrowsers.trust(account.id, browser.id, rememberDays());
        await audit.record({ type: 'browser.remembered', outcome: 'success', ...about });
      }
      if (!browser.isNew) return;
      await audit.record({ type: 'sign-in.new-browser', outcome: 'success', ...about });
      await tellNewBrowser(ctx, account);
    },
  };
}
