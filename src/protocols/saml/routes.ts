// The SAML identity provider: the response mode of the engine, its jobs, what logout needs of it, and its routes: /saml/metadata, /saml/sso and
// /saml/sso/start. An accepted AuthnRequest is saved and continues at the authorization endpoint, where session, sign-in policy and access rule
// are the same for both protocols; sso/response-mode.ts answers it.
//
// An AuthnRequest: messages/decode.ts reads the binding; sso/accept-request.ts finds the service provider by the claimed issuer, verifies
// (messages/open-message.ts), checks (sso/request-checks.ts) and rejects a replay. sso/pending-authn-requests.ts stores it for this browser, and
// sso/authorization-parameter-checks.ts makes the redirect to /authorize, where the parameters are compared with it. sso/responses.ts makes the
// assertion, which xml/sign.ts signs and a form posts to the ACS; slo/session-participants.ts records the participant.

import Router from '@koa/router';
import { z } from 'zod';
import type { ApplicationServices } from '../../applications/application-services.ts';
import type { Base } from '../../base/base.ts';
import { readForm } from '../../base/http/body.ts';
import type { Context, Extras, State } from '../../base/http/context.ts';
import { badRequest, forbidden, unsupportedMediaType } from '../../base/http/errors.ts';
import type { Http } from '../../base/http/http.ts';
import { parseQuery } from '../../base/http/input.ts';
import { limits } from '../../base/limits.ts';
import { rule } from '../../base/texts/faults.ts';
import { t } from '../../base/texts/text.ts';
import type { Core } from '../../core/core.ts';
import type { People } from '../../people/people.ts';
import { decodePost, decodeRedirect } from './messages/decode.ts';
import { samlErrorPage } from './messages/error-page.ts';
import { chooseNameIdFormat } from './messages/name-id.ts';
import type { FetchMetadata } from './metadata/fetch.ts';
import { createCertificateNotice, createMetadataRefresh, samlJobs } from './metadata/refresh.ts';
import { assertMetadataValid, type ServiceProvider } from './metadata/service-providers.ts';
import { createWaitingMetadata } from './metadata/waiting-metadata.ts';
import { type AcceptRequest, createAcceptRequest } from './sso/accept-request.ts';
import { createAssertionPreviews } from './sso/assertion-previews.ts';
import { authorizationParameters, createAuthorizationParameterChecks } from './sso/authorization-parameter-checks.ts';
import type { PendingAuthnRequest } from './sso/pending-authn-requests.ts';
import { defaultAcs } from './sso/request-checks.ts';
import { createResponseMode, openTestResponse } from './sso/response-mode.ts';
import { createSamlServices, type SamlServices } from './sso/saml-services.ts';

export type Saml = ReturnType<typeof createSaml>;

export function createSaml(given: Core & Http & People & ApplicationServices & { fetchMetadata: FetchMetadata }) {
  const saml = createSamlServices(given);
  const services = { ...given, ...saml };
  const { serviceProviders, pendingAuthnRequests, browser } = saml;
  const parameterChecks = createAuthorizationParameterChecks(saml);
  return {
    services: saml,
    /** Changed metadata that waits for an administrator. */
    waitingMetadata: createWaitingMetadata(given),
    routes: samlRoutes({ ...services, acceptRequest: createAcceptRequest(services) }),
    /** The name of a service provider in the language of a page. */
    titleOf: serviceProviders.titleOf,
    titleOfEntity: async (id: string) => (await serviceProviders.find(id))?.title,
    /** What an application would receive about a user. */
    previews: createAssertionPreviews(saml),
    /** What a pending AuthnRequest requires of the sign-in. */
    requirements: parameterChecks.requirements,
    /** What the OpenID Connect engine calls. */
    engine: {
      respond: createResponseMode({ ...services, parameterChecks }),
      isPendingAuthnRequest: (ctx: unknown, params: Record<string, unknown> = {}) =>
        parameterChecks.isPendingAuthnRequest(ctx as Context, params),
      requirements: (ctx: unknown, params: Record<string, unknown> = {}) =>
        parameterChecks.requirements(ctx as Context, params),
      assertionConsumerUrls: serviceProviders.assertionConsumerUrls,
    },
    /** What test sign-ins of the console need (src/test-bench). */
    tests: {
      serviceProviders,
      pendingAuthnRequests,
      browser,
      openTestResponse: (sealed: string, id: string) => openTestResponse(given, sealed, id),
    },
    jobs: samlJobs({
      refreshMetadata: createMetadataRefresh(given),
      notifyOfCertificates: createCertificateNotice({ ...given, serviceProviders }),
    }),
  };
}

const startQuery = z.object({
  sp: z.string().min(1).max(1024),
  RelayState: z
    .string()
    .refine((value) => Buffer.byteLength(value) <= limits.saml.relayStateBytes, rule('too-long'))
    .optional(),
});
const continueQuery = z.object({ request: z.string().min(1).max(64) });
const METADATA_TYPE = 'application/samlmetadata+xml';
const FORM = 'application/x-www-form-urlencoded';

function samlRoutes(services: Base & SamlServices & { acceptRequest: AcceptRequest }): Router<State, Extras> {
  const {
    metadata,
    serviceProviders,
    pendingAuthnRequests,
    acceptRequest,
    rateLimit,
    browser,
    now,
    config: { issuer: base },
  } = services;
  const router = new Router<State, Extras>({ prefix: '/saml' });

  router.get('/metadata', (ctx) => {
    ctx.type = METADATA_TYPE;
    ctx.set('Cache-Control', 'public, max-age=3600');
    ctx.body = metadata();
  });

  router.get('/sso', rateLimit, async (ctx) => {
    const accepted = await acceptRequest(ctx, () => decodeRedirect(ctx.querystring));
    if (accepted) await saveAndAuthorize(ctx, accepted.sp, accepted.pending);
  });

  // A POST from another site has no SameSite=Lax cookies: the browser is redirected, and bound to the request by GET.
  router.post('/sso', rateLimit, async (ctx) => {
    const accepted = await acceptRequest(ctx, async () => {
      if (!ctx.is(FORM)) throw unsupportedMediaType(FORM);
      return decodePost(await readForm(ctx.req, limits.saml.bodyBytes));
    });
    if (!accepted) return;
    const id = await pendingAuthnRequests.save(accepted.sp.applicationId, accepted.pending, undefined);
    ctx.status = 303;
    ctx.redirect(`${base}/saml/sso/continue?request=${id}`);
  });

  router.get('/sso/continue', async (ctx) => {
    const { request: id } = parseQuery(ctx, continueQuery);
    const pending = await pendingAuthnRequests.bindToBrowser(id, browser.remember(ctx));
    if (!pending) throw badRequest('sign_in_expired');
    authorize(ctx, pending, id);
  });

  router.get('/sso/start', rateLimit, async (ctx) => {
    const { sp: entityId, RelayState } = parseQuery(ctx, startQuery);
    const sp = await serviceProviders.find(entityId);
    if (!sp) throw badRequest('service_provider_unknown', { detail: { entityId } });
    ctx.state.request.application = sp.entityId;
    await saveAndAuthorize(ctx, sp, idpInitiatedRequest(sp, RelayState, now()));
  });

  async function saveAndAuthorize(ctx: Context, sp: ServiceProvider, pending: PendingAuthnRequest): Promise<void> {
    const id = await pendingAuthnRequests.save(sp.applicationId, pending, browser.remember(ctx));
    authorize(ctx, pending, id);
  }

  function authorize(ctx: Context, pending: PendingAuthnRequest, id: string): void {
    ctx.status = 303;
    ctx.redirect(`${base}/authorize?${new URLSearchParams(authorizationParameters(pending, id))}`);
  }

  return router;
}

/**
 * The Response has no InResponseTo and is sent to the default ACS. Throws when the service provider is not registered for it, or when its
 * metadata has expired.
 */
function idpInitiatedRequest(sp: ServiceProvider, relayState: string | undefined, now: Date): PendingAuthnRequest {
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
