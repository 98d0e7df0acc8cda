// An IdP-initiated sign-in (SAML Profiles 4.1.5), represented as a pending AuthnRequest without a message of the service provider.

import { badRequest, forbidden } from '../../http/errors.ts';
import { t } from '../../texts/text.ts';
import { samlErrorPage } from '../messages/error-page.ts';
import { chooseNameIdFormat } from '../messages/name-id.ts';
import { assertMetadataValid, type ServiceProvider } from '../metadata/service-providers.ts';
import { defaultAcs } from './assertion-consumer-service.ts';
import type { PendingAuthnRequest } from './pending-authn-requests.ts';

/**
 * The Response has no InResponseTo and is sent to the default ACS. Throws when the service provider is not registered for it, or when its
 * metadata has expired.
 */
export function idpInitiatedRequest(
  sp: ServiceProvider,
  relayState: string | undefined,
  now: Date,
): PendingAuthnRequest {
  if (!sp.settings.idp_initiated) {
    throw forbidden('forbidden', {
      message: t('app-error.not-from-here', { app: sp.name }),
      advice: t('app-error.own-page'),
    });
  }
  try {
    assertMetadataValid(sp, now);
  } catch (error) {
    throw samlErrorPage(error, sp.title);
  }
  const acs = defaultAcs(sp.acs);
  if (!acs) throw badRequest('saml_request_invalid', { detail: 'no usable assertion consumer service' });
  return {
    entityId: sp.entityId,
    requestId: undefined,
    acsUrl: acs.url,
    relayState,
    nameIdFormat: chooseNameIdFormat(undefined, sp),
    mayCreateNameId: true,
    requestedContext: undefined,
    forceAuthn: false,
    isPassive: false,
    subject: undefined,
    loginHint: undefined,
  };
}
