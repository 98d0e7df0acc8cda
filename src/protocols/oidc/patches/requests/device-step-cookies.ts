// Patch in front of the engine: the pages of the device flow (RFC 8628 3.3) without the cookie that they depend on. The
// engine answers such requests with an internal error; here the page says what to do.

import type { Context } from '../../../../base/http/context.ts';
import type { Cookies } from '../../../../base/http/cookies.ts';
import { wordsOnCookies } from '../../../../base/http/csrf.ts';
import { badRequest } from '../../../../base/http/errors.ts';
import { t } from '../../../../base/texts/text.ts';
import { routes } from '../../engine/configuration.ts';
import type { Provider } from '../../engine/library.ts';
import { DEVICE_STEP } from '../../engine/routes.ts';

/**
 * Throws sign_in_expired for a step that this browser did not begin, other_browser for a form without a session.
 */
export function requireDeviceCookies(
  ctx: Context,
  { route, provider, cookies }: { route: string; provider: Provider; cookies: Cookies },
): void {
  const cookie = (type: 'resume' | 'session') => ctx.cookies.get(provider.cookieName(type), { signed: true });
  const isStep = route === DEVICE_STEP;
  if (isStep && cookie('resume') !== ctx.path.slice(routes.code_verification.length + 1)) {
    throw badRequest('sign_in_expired', { advice: t('device.open-again', { path: routes.code_verification }) });
  }
  const isForm = ctx.method === 'POST' && ctx.path === routes.code_verification;
  if ((isStep || isForm) && !cookie('session') && !cookies.get(ctx, 'form')) {
    throw badRequest('other_browser', {
      advice: t('device.allow-cookies', { path: routes.code_verification }),
      ...wordsOnCookies(ctx),
      ...(isForm && { next: { href: routes.code_verification, label: t('error.back-to-form') } }),
    });
  }
}
