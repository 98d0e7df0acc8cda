// The browser of a front-channel logout, recognized by a random value in a cookie.
import type { Context } from '../../../base/http/context.ts';
import type { Cookies } from '../../../base/http/cookies.ts';
import { randomToken } from '../../../base/platform/random.ts';

/** The value of the browser's cookie; `first-to-open`: the first browser that opens the page of the logout run. */
export type LogoutBrowser = { cookie: string } | 'first-to-open';

/** Finds the browser of a request that starts a logout; sets the cookie when there is none. */
export function createLogoutBrowserOf({ cookies }: { cookies: Cookies }): (ctx: Context) => LogoutBrowser {
  return (ctx) => {
    // A form POST from another site has no SameSite=Lax cookies; the redirect after it has them.
    if (ctx.method === 'POST' && ctx.get('Sec-Fetch-Site') !== 'same-origin') return 'first-to-open';
    const cookie = cookies.get(ctx, 'logout') ?? randomToken();
    cookies.set(ctx, 'logout', cookie);
    return { cookie };
  };
}
