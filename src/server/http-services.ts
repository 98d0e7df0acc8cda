// What every route of the server shares: cookies, CSRF protection and metrics.
import { cookieKeys, createCookies } from '../base/http/cookies.ts';
import { createCsrf } from '../base/http/csrf.ts';
import type { Metrics } from '../base/platform/metrics.ts';
import type { Services } from './services.ts';

export type HttpServices = ReturnType<typeof createHttpServices>;

/** Creates them, with keys derived from the data keys. */
export function createHttpServices({ config, vault }: Services, metrics: Metrics) {
  const cookies = createCookies({ secure: config.secure });
  return {
    cookies,
    metrics,
    cookieKeys: cookieKeys(vault.deriveKeys('cookies')),
    csrf: createCsrf({ cookies, keys: vault.deriveKeys('csrf'), issuerUrl: config.issuerUrl }),
  };
}
