// What every route of the server shares: cookies, CSRF protection and metrics.
import type { CookieKeys } from '../http/context.ts';
import { type Cookies, cookieKeys, createCookies } from '../http/cookies.ts';
import { type Csrf, createCsrf } from '../http/csrf.ts';
import type { Metrics } from '../platform/metrics.ts';
import type { Services } from '../services.ts';

export interface HttpServices {
  metrics: Metrics;
  cookies: Cookies;
  cookieKeys: CookieKeys;
  csrf: Csrf;
}

/** Creates them, with keys derived from the data keys. */
export function createHttpServices(
  { config, vault }: Pick<Services, 'config' | 'vault'>,
  metrics: Metrics,
): HttpServices {
  const cookies = createCookies({ secure: config.secure });
  return {
    cookies,
    metrics,
    cookieKeys: cookieKeys(vault.deriveKeys('cookies')),
    csrf: createCsrf({ cookies, keys: vault.deriveKeys('csrf'), issuerUrl: config.issuerUrl }),
  };
}
