// A pending AuthnRequest as parameters of the authorization endpoint.
import type { PendingAuthnRequest } from './pending-authn-requests.ts';

/** The authorization request that stands for a pending AuthnRequest; `state` is its ID. */
export function authorizationParameters(request: PendingAuthnRequest, id: string): Record<string, string> {
  const prompt = request.forceAuthn ? 'login' : request.isPassive ? 'none' : undefined;
  return {
    client_id: request.entityId,
    response_type: 'none',
    response_mode: 'saml',
    scope: 'openid',
    redirect_uri: request.acsUrl,
    state: id,
    ...(prompt && { prompt }),
    ...(request.loginHint && { login_hint: request.loginHint }),
  };
}
