// Ties a pending AuthnRequest to the browser that brought it, by a random value in a cookie.
import type { Context } from '../../http/context.ts';
import type { Cookies } from '../../http/cookies.ts';
import { randomToken } from '../../platform/random.ts';

export interface RequestBrowser {
  /** The value of this browser's cookie, if it has one. */
  of(ctx: Context): string | undefined;
  /** The same; sets the cookie when there is none. */
  remember(ctx: Context): string;
}

export function createRequestBrowser({ cookies }: { cookies: Cookies }): RequestBrowser {
  const of = (ctx: Context) => cookies.get(ctx, 'samlRequest');
  return {
    of,
    remember(ctx) {
      const value = of(ctx) ?? randomToken();
      cookies.set(ctx, 'samlRequest', value);
      return value;
    },
  };
}
