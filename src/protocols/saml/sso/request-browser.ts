// Ties a pending AuthnRequest to the browser that brought it, by a random value in a cookie.
import type { Context } from '../../../base/http/context.ts';
import type { Cookies } from '../../../base/http/cookies.ts';
import { randomToken } from '../../../base/platform/random.ts';

export type RequestBrowser = ReturnType<typeof createRequestBrowser>;

export function createRequestBrowser({ cookies }: { cookies: Cookies }) {
  const of = (ctx: Context) => cookies.get(ctx, 'samlRequest');
  return {
    /** The value of this browser's cookie, if it has one. */
    of,
    /** The same; sets the cookie when there is none. */
    remember(ctx: Context): string {
      const value = of(ctx) ?? randomToken();
      cookies.set(ctx, 'samlRequest', value);
      return value;
    },
  };
}
