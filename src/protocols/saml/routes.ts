// The SAML identity provider: the response mode of the engine, its jobs, what logout needs of it, and its routes: /saml/metadata, /saml/sso and
// /saml/sso/start. An accepted AuthnRequest is saved and continues at the authorization endpoint, where session, sign-in policy and access rule
// are the same for both protocols; sso/response-mode.ts answers it.
//
// An AuthnRequest: messages/decode.ts reads the binding; createAcceptRequest finds the service provider by the claimed issuer, verifies
// (messages/open-message.ts), checks (sso/request-checks.ts) and rejects a replay. sso/pending-authn-requests.ts stores it for this browser, and
// sso/authorization-parameter-checks.ts makes the redirect to /authorize, where the parameters are compared with it. sso/responses.ts makes the
// assertion, which xml/sign.ts signs and a form posts to the ACS; slo/session-participants.ts records the participant.

import Router from '@koa/router';
import { z } from 'zod';
import type { ApplicationServices } from '../../applications/application-services.ts';
import type { Base } from '../../base/base.ts';
import { readForm } from '../../base/http/body.ts';
import { type Context, type Extras, type State, seeOther } from '../../base/http/context.ts';
import { type AppError, badRequest, forbidden, unsupportedMediaType } from '../../base/http/errors.ts';
import type { Http } from '../../base/http/http.ts';
import { parseQuery } from '../../base/http/input.ts';
import { limits } from '../../base/limits.ts';
import { traced } from '../../base/platform/tracing.ts';
import { rule } from '../../base/texts/faults.ts';
import { t } from '../../base/texts/text.ts';
import type { Core } from '../../core/core.ts';
import type { People } from '../../people/people.ts';
import { type AuthnRequest, readAuthnRequest } from './messages/authn-request.ts';
import { type DecodedMessage, decodePost, decodeRedirect } from './messages/decode.ts';
import { samlErrorPage } from './messages/error-page.ts';
import { chooseNameIdFormat, mayCreateNameId } from './messages/name-id.ts';
import {
  authenticateMessage,
  type ClaimedMessage,
  claimOf,
  type OpenedMessage,
  openMessage,
} from './messages/open-message.ts';
import type { FetchMetadata } from './metadata/fetch.ts';
import type { AcsEndpoint } from './metadata/parse.ts';
import { createCertificateNotice, createMetadataRefresh, METADATA_JOB } from './metadata/refresh.ts';
import { assertMetadataValid, type ServiceProvider } from './metadata/service-providers.ts';
import { createWaitingMetadata } from './metadata/waiting-metadata.ts';
import { createAssertionPreviews } from './sso/assertion-previews.ts';
import { authorizationParameters, createAuthorizationParameterChecks } from './sso/authorization-parameter-checks.ts';
import type { PendingAuthnRequest } from './sso/pending-authn-requests.ts';
import { recordRejection, rejectionIn } from './sso/rejected-requests.ts';
import { authnRequestRules, type CheckedRequest, checkAuthnRequest, defaultAcs } from './sso/request-checks.ts';
import { createResponseMode, openTestResponse } from './sso/response-mode.ts';
import { createSamlServices, type SamlServices } from './sso/saml-services.ts';
import { SamlError } from './xml/errors.ts';

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
    jobs: [
      { name: METADATA_JOB, everySeconds: limits.saml.metadataPollSeconds, run: createMetadataRefresh(given) },
      {
        name: 'saml-certificates',
        everySeconds: 24 * 3600,
        run: createCertificateNotice({ ...given, serviceProviders }),
      },
    ],
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
  const { metadata, serviceProviders, pendingAuthnRequests, acceptRequest, rateLimit, browser, now } = services;
  const { issuer: base } = services.config;
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
    seeOther(ctx, `${base}/saml/sso/continue?request=${id}`);
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
    seeOther(ctx, `${base}/authorize?${new URLSearchParams(authorizationParameters(pending, id))}`);
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

interface AcceptedRequest {
  sp: ServiceProvider;
  pending: PendingAuthnRequest;
}

/**
 * Accepts the request that `decode` reads. Undefined when it was rejected and the Response with the status is sent.
 *
 * @throws AppError when the rejection has to be displayed as a page
 */
type AcceptRequest = (ctx: Context, decode: () => Promise<DecodedMessage>) => Promise<AcceptedRequest | undefined>;

/**
 * From a decoded message to a pending AuthnRequest: opens, authenticates and checks it, and records what is rejected. A rejected request becomes a
 * Response with a status where its ACS is proven, else an error page (SAML Profiles 4.1.4.1).
 */
function createAcceptRequest(services: Core & People & SamlServices): AcceptRequest {
  const { now, skewSeconds, validateXml, serviceProviders, seenMessages, responses, repeatedEntries } = services;
  const { requestedSubjects } = services;
  const { issuer: base } = services.config;

  const acceptRequest: AcceptRequest = async (ctx, decode) => {
    const opened = await open(ctx, decode);
    let sp: ServiceProvider | undefined;
    try {
      sp = await serviceProviders.find(opened.claimedIssuer);
      if (!sp) throw badRequest('service_provider_unknown', { detail: { entityId: opened.claimedIssuer } });
      return await accept(ctx, sp, opened);
    } catch (error) {
      return reject(ctx, sp, await rejectionIn(error), opened);
    }
  };

  /** Decodes and parses the message; rejects one that cannot be read. */
  async function open(ctx: Context, decode: () => Promise<DecodedMessage>): Promise<OpenedMessage> {
    let decoded: DecodedMessage | undefined;
    try {
      decoded = await decode();
      return openMessage(decoded, ['AuthnRequest'], validateXml);
    } catch (caught) {
      const error = await rejectionIn(caught);
      const claim = decoded && claimOf(decoded);
      return reject(ctx, claim && (await serviceProviders.find(claim.claimedIssuer)), error, claim);
    }
  }

  /** Authenticates and checks the request of this service provider. */
  async function accept(
    ctx: Context,
    sp: ServiceProvider,
    opened: OpenedMessage,
  ): Promise<AcceptedRequest | undefined> {
    ctx.state.request.application = sp.entityId;
    const request = withoutIgnoredContext(readAuthnRequest(await authenticateMessage(opened, sp)), sp);
    assertMetadataValid(sp, now());
    const expectation = { endpoint: `${base}/saml/sso`, now: now(), skewSeconds: skewSeconds() };
    const result = checkAuthnRequest(request, sp, expectation);
    await seenMessages.assertNew(sp.entityId, request.id);
    if (opened.decoded.isRelayStateTooLong) {
      const reason = new SamlError('relay_state_too_long');
      await sendStatus(ctx, sp, opened, request, { acs: result.acs, reason });
      return undefined;
    }
    if (result.outcome === 'rejected') {
      await sendStatus(ctx, sp, opened, request, result);
      return undefined;
    }
    return { sp, pending: await pendingRequestOf(sp, request, result, opened.decoded.relayState) };
  }

  /** Records the rejection, and throws its page. */
  async function reject(
    ctx: Context,
    sp: ServiceProvider | undefined,
    error: SamlError | AppError,
    message: ClaimedMessage | undefined,
  ): Promise<never> {
    if (error instanceof SamlError || error.code === 'service_provider_unknown') await auditRejection(ctx, sp, error);
    const rejectionCode = await recordRejection(services, ctx, authnRequestRules, { error, message, sp });
    throw samlErrorPage(error, sp?.title, rejectionCode);
  }

  function auditRejection(
    ctx: Context,
    sp: ServiceProvider | undefined,
    { code: reason, detail = null }: SamlError | AppError,
  ): Promise<void> {
    const { request } = ctx.state;
    const about = { ...(sp && { clientId: sp.entityId }), request, data: { detail } };
    return repeatedEntries.record({ type: 'saml.request', outcome: 'failure', reason, ...about });
  }

  /** Sends the status to the registered ACS; throws the reason when there is no status for it. */
  async function sendStatus(
    ctx: Context,
    sp: ServiceProvider,
    opened: OpenedMessage,
    request: AuthnRequest,
    { acs, reason }: { acs: AcsEndpoint; reason: SamlError },
  ): Promise<void> {
    await auditRejection(ctx, sp, reason);
    const code = await recordRejection(services, ctx, authnRequestRules, { error: reason, message: opened, sp });
    const message = `${reason.message} Error reference ${code}.`;
    const xml = reason.status && responses.status(acs.url, request.id, { ...reason.status, message });
    if (!xml) throw reason;
    const to = { acsUrl: acs.url, relayState: opened.decoded.relayState };
    if (reason.code !== 'no_authn_context' || request.isPassive) return responses.post(ctx, sp, to, xml);
    responses.explain(ctx, sp, to, xml, { reason: t('unmet.unknown', { app: sp.title }), rejectionCode: code });
  }

  async function pendingRequestOf(
    sp: ServiceProvider,
    request: AuthnRequest,
    result: Extract<CheckedRequest, { outcome: 'accepted' }>,
    relayState: string | undefined,
  ): Promise<PendingAuthnRequest> {
    const subject = request.subject === 'unreadable' ? undefined : request.subject;
    return {
      entityId: sp.entityId,
      requestId: request.id,
      acsUrl: result.acs.url,
      relayState,
      nameIdFormat: result.nameIdFormat,
      mayCreateNameId: mayCreateNameId(request.nameIdPolicy, sp.settings.require_allow_create),
      requestedContext: request.requestedAuthnContext,
      forceAuthn: request.forceAuthn,
      isPassive: request.isPassive,
      subject,
      loginHint: subject && (await requestedSubjects.loginHint(subject, sp, request.signed)),
    };
  }

  return traced('saml AuthnRequest', acceptRequest, (accepted) => ({ 'gatehouse.client_id': accepted?.sp.entityId }));
}

/** The request without the RequestedAuthnContext that its application has Gatehouse ignore. */
function withoutIgnoredContext(request: AuthnRequest, { settings }: ServiceProvider): AuthnRequest {
  return settings.ignore_requested_authn_context ? { ...request, requestedAuthnContext: undefined } : request;
}
