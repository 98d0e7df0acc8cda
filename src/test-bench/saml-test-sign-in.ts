// A test sign-in to a SAML application: an AuthnRequest of the console itself, whose Response is displayed and never posted.
import type { AdminServices } from '../admin/admin-services.ts';
import type { Context } from '../base/http/context.ts';
import { notFound } from '../base/http/errors.ts';
import { t } from '../base/texts/text.ts';
import { acrLevel, MFA_ACR, PHISHING_RESISTANT_ACR } from '../people/mfa/acr.ts';
import type { RequestedAuthnContext } from '../protocols/saml/messages/authn-request.ts';
import { newMessageId } from '../protocols/saml/messages/encode.ts';
import { chooseNameIdFormat } from '../protocols/saml/messages/name-id.ts';
import { authorizationParameters } from '../protocols/saml/sso/authorization-parameter-checks.ts';
import type { PendingAuthnRequest } from '../protocols/saml/sso/pending-authn-requests.ts';
import { defaultAcs } from '../protocols/saml/sso/request-checks.ts';
import { contextClasses } from '../protocols/saml/xml/names.ts';

/** What a test sign-in asks for. */
export interface SamlTestOptions {
  forceAuthn: boolean;
  /** IdP-initiated: the Response answers no request. */
  isUnsolicited: boolean;
  acr?: string;
}

/**
 * Begins a sign-in whose Response is displayed at /admin/test/saml: stores the request as a pending AuthnRequest that is marked as a
 * test. Returns the URL to go to; throws not_found.
 */
export async function beginTestSignIn(
  { config: { issuer }, saml: { tests } }: AdminServices,
  ctx: Context,
  entityId: string,
  { forceAuthn, isUnsolicited, acr }: SamlTestOptions,
): Promise<string> {
  const sp = await tests.serviceProviders.find(entityId);
  const acs = sp && defaultAcs(sp.acs);
  if (!sp || !acs) throw notFound({ message: t('console.test-bench.no-acs') });
  const request: PendingAuthnRequest = {
    entityId,
    requestId: isUnsolicited ? undefined : newMessageId(),
    acsUrl: acs.url,
    relayState: undefined,
    nameIdFormat: chooseNameIdFormat(undefined, sp),
    mayCreateNameId: true,
    requestedContext: minimumOf(acr),
    forceAuthn,
    isPassive: false,
    subject: undefined,
    loginHint: undefined,
    isTest: true,
  };
  const id = await tests.pendingAuthnRequests.save(sp.applicationId, request, tests.browser.remember(ctx));
  return `${issuer}/authorize?${new URLSearchParams(authorizationParameters(request, id))}`;
}

/** The XML of the Response to this request, in the browser that began it. */
export async function testResponse(
  { saml: { tests } }: AdminServices,
  ctx: Context,
  requestId: string,
): Promise<string | undefined> {
  const sealed = await tests.pendingAuthnRequests.testResponse(requestId, tests.browser.of(ctx));
  return sealed && tests.openTestResponse(sealed, requestId);
}

/** The context of a test that demands more than a password. */
function minimumOf(acr: string | undefined): RequestedAuthnContext | undefined {
  const level = acrLevel(acr);
  if (level < acrLevel(MFA_ACR)) return undefined;
  const name = level < acrLevel(PHISHING_RESISTANT_ACR) ? contextClasses.mfa : contextClasses.passkey;
  return { comparison: 'minimum', classes: [name], declarations: [] };
}
