// Checks of this server before the engine sees a request.

import type { Context } from '../../../../base/http/context.ts';
import { badRequest } from '../../../../base/http/errors.ts';
import { t } from '../../../../base/texts/text.ts';
import type { ClientSource } from '../../store/clients.ts';
import { routes } from '../configuration.ts';
import { fitsIntoAnswer } from './request-checks.ts';

/** Rejects an authorization request that cannot be answered with bad_request; undefined when there is nothing to wait for. */
export function guardRequest(ctx: Context, clients: ClientSource): Promise<void> | undefined {
  if (ctx.path !== routes.authorization) return undefined;
  if (!fitsIntoAnswer(ctx.query))
    throw badRequest('bad_request', { message: t('app-error.too-long'), advice: t('app-error.shorter-state') });
  // The AuthnRequest behind it is bound to this browser by a cookie, which the redirect to here has set.
  if (ctx.query.response_mode === 'saml' && ctx.get('Cookie') === '') throw badRequest('cookies_blocked');
  return requireSamlResponseMode(ctx, clients);
}

/**
 * A service provider is answered by SAML or on a page. With any other response mode the engine would redirect errors to the
 * assertion consumer service URL, in a form that a service provider does not understand.
 */
async function requireSamlResponseMode(ctx: Context, clients: ClientSource): Promise<void> {
  const { client_id: clientId, response_mode: mode } = ctx.query;
  if (typeof clientId !== 'string' || mode === 'saml') return;
  if ((await clients.applicationOf(clientId))?.protocol !== 'saml') return;
  throw badRequest('bad_request', { message: t('app-error.only-saml') });
}
