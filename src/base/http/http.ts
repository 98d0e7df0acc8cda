// What every route is created with: cookies, CSRF protection and metrics.
import type { Metrics } from '../platform/metrics.ts';
import type { CookieKeys } from './context.ts';
import type { Cookies } from './cookies.ts';
import type { Csrf } from './csrf.ts';

export interface Http {
  cookies: Cookies;
  /** For the cookies of the engine. */
  cookieKeys: CookieKeys;
  csrf: Csrf;
  metrics: Metrics;
}
