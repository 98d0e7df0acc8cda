// What every route of the server shares: cookies, CSRF protection and metrics.
import type { Base } from '../base/base.ts';
import { cookieKeys, createCookies } from '../base/http/cookies.ts';
import { createCsrf } from '../base/http/csrf.ts';
import type { Http } from '../base/http/http.ts';
import type { Metrics } from '../base/platform/metrics.ts';

/** Creates them, with keys derived from the data keys. */
export function createHttp({ config, vault }: Base, metrics: Metrics): Http {
  const cookies = createCookies({ secure: config.secure });
  return {
    cookies,
    metrics,
    cookieKeys: cookieKeys(vault.deriveKeys('cookies')),
    csrf: createCsrf({ cookies, keys: vault.deriveKeys('csrf'), issuerUrl: config.issuerUrl }),
  };
}
