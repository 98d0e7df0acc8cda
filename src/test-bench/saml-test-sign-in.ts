// A test sign-in to a SAML application: an AuthnRequest of the console itself, whose Response is displayed and never posted.
import type { Context } from '../base/http/context.ts';
import { notFound } from '../base/http/errors.ts';
import { t } from '../base/texts/text.ts';
import { acrLevel, MFA_ACR, PHISHING_RESISTANT_ACR } from '../people/mfa/acr.ts';
import type { RequestedAuthnContext } from '../protocols/saml/messages/authn-request.ts';
import { newMessageId } from '../protocols/saml/messages/encode.ts';
import { chooseNameIdFormat } from '../protocols/saml/messages/name-id.ts';
import type { ServiceProviders } from '../protocols/saml/metadata/service-providers.ts';
import { authorizationParameters } from '../protocols/saml/sso/authorization-parameter-checks.ts';
import type { PendingAuthnRequest, PendingAuthnRequests } from '../protocols/saml/sso/pending-authn-requests.ts';
import { defaultAcs } from '../protocols/saml/sso/request-checks.ts';
import { contextClasses } from '../protocols/saml/xml/names.ts';

/** What a test sign-in asks for. */
export interface SamlTestOptions {
  forceAuthn: boolean;
  /** IdP-initiated: the Response answers no request. */
  isUnsolicited: boolean;
  acr?: string;
}

export type SamlTestSignIn = ReturnType<typeof createSamlTestSignIn>;

export interface SamlTestSignInDependencies {
  issuer: string;
  serviceProviders: ServiceProviders;
  pendingAuthnRequests: PendingAuthnRequests;
  /** The cookie that ties a request to a browser. */
  browser: { of(ctx: Context): string | undefined; remember(ctx: Context): string };
  /** Decrypts a Response that was stored for a test. */
  openTestResponse(sealed: string, requestId: string): string;
}

/** Stores the request as a pending AuthnRequest that is marked as a test. */
export function createSamlTestSignIn(dependencies: SamlTestSignInDependencies) {
  const { issuer, serviceProviders, pendingAuthnRequests, browser, openTestResponse } = dependencies;
  return {
    /** Begins a sign-in whose Response is displayed at /admin/test/saml. Returns the URL to go to; throws not_found. */
    async begin(ctx: Context, entityId: string, { forceAuthn, isUnsolicited, acr }: SamlTestOptions): Promise<string> {
      const sp = await serviceProviders.find(entityId);
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
      const id = await pendingAuthnRequests.save(sp.applicationId, request, browser.remember(ctx));
      return `${issuer}/authorize?${new URLSearchParams(authorizationParameters(request, id))}`;
    },

    /** The XML of the Response to this request, in the browser that began it. */
    async response(ctx: Context, requestId: string): Promise<string | undefined> {
      const sealed = await pendingAuthnRequests.testResponse(requestId, browser.of(ctx));
      return sealed && openTestResponse(sealed, requestId);
    },
  };
}

/** The context of a test that demands more than a password. */
function minimumOf(acr: string | undefined): RequestedAuthnContext | undefined {
  const level = acrLevel(acr);
  if (level < acrLevel(MFA_ACR)) return undefined;
  const name = level < acrLevel(PHISHING_RESISTANT_ACR) ? contextClasses.mfa : contextClasses.passkey;
  return { comparison: 'minimum', classes: [name], declarations: [] };
}
