// From a decoded message to a pending AuthnRequest: opens, authenticates and checks it, and records what is rejected. A
// rejected request becomes a Response with a status where its ACS is proven, else an error page (SAML Profiles 4.1.4.1).

import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { Context } from '../../../base/http/context.ts';
import { AppError, badRequest } from '../../../base/http/errors.ts';
import { traced } from '../../../base/platform/tracing.ts';
import { t } from '../../../base/texts/text.ts';
import type { Core } from '../../../core/core.ts';
import type { People } from '../../../people/people.ts';
import { type AuthnRequest, readAuthnRequest } from '../messages/authn-request.ts';
import type { DecodedMessage } from '../messages/decode.ts';
import { samlErrorPage } from '../messages/error-page.ts';
import { mayCreateNameId } from '../messages/name-id.ts';
import { authenticateMessage, claimOf, type OpenedMessage, openMessage } from '../messages/open-message.ts';
import type { AcsEndpoint } from '../metadata/parse.ts';
import { assertMetadataValid, type ServiceProvider } from '../metadata/service-providers.ts';
import { SamlError } from '../xml/errors.ts';
import type { PendingAuthnRequest } from './pending-authn-requests.ts';
import { recordRejection } from './rejected-requests.ts';
import { authnRequestRules, type CheckedRequest, checkAuthnRequest } from './request-checks.ts';
import type { SamlServices } from './saml-services.ts';

export interface AcceptedRequest {
  sp: ServiceProvider;
  pending: PendingAuthnRequest;
}

/**
 * Accepts the request that `decode` reads. Undefined when it was rejected and the Response with the status is sent.
 *
 * @throws AppError when the rejection has to be displayed as a page
 */
export type AcceptRequest = (
  ctx: Context,
  decode: () => Promise<DecodedMessage>,
) => Promise<AcceptedRequest | undefined>;

export function createAcceptRequest(services: Core & People & SamlServices): AcceptRequest {
  const {
    now,
    skewSeconds,
    validateXml,
    serviceProviders,
    seenMessages,
    config: { issuer: base },
  } = services;

  const acceptRequest: AcceptRequest = async (ctx, decode) => {
    let sp: ServiceProvider | undefined;
    let decoded: DecodedMessage | undefined;
    let opened: OpenedMessage | undefined;
    try {
      decoded = await decode();
      opened = openMessage(decoded, ['AuthnRequest'], validateXml);
      sp = await serviceProviders.find(opened.claimedIssuer);
      if (!sp) throw badRequest('service_provider_unknown', { detail: { entityId: opened.claimedIssuer } });
      ctx.state.request.application = sp.entityId;
      const request = withoutIgnoredContext(readAuthnRequest(await authenticateMessage(opened, sp)), sp);
      assertMetadataValid(sp, now());
      const expectation = { endpoint: `${base}/saml/sso`, now: now(), skewSeconds: skewSeconds() };
      const result = checkAuthnRequest(request, sp, expectation);
      await seenMessages.assertNew(sp.entityId, request.id);
      if (opened.decoded.isRelayStateTooLong) {
        const reason = new SamlError('relay_state_too_long');
        await sendStatus(services, ctx, sp, opened, request, { acs: result.acs, reason });
        return undefined;
      }
      if (result.outcome === 'accepted') {
        const pending = await pendingRequestOf(services, sp, request, result, opened.decoded.relayState);
        return { sp, pending };
      }
      await sendStatus(services, ctx, sp, opened, request, result);
      return undefined;
    } catch (error) {
      // Parsing an untrusted message took one turn of the event loop; recording its rejection takes another.
      await yieldToEventLoop();
      const claim = decoded && !opened ? claimOf(decoded) : undefined;
      if (claim) sp = await serviceProviders.find(claim.claimedIssuer);
      if (!(error instanceof SamlError || error instanceof AppError)) throw error;
      if (error instanceof SamlError || error.code === 'service_provider_unknown')
        await auditRejection(services, ctx, sp, error);
      throw samlErrorPage(
        error,
        sp?.title,
        await recordRejection(services, ctx, authnRequestRules, { error, message: opened ?? claim, sp }),
      );
    }
  };
  return traced('saml AuthnRequest', acceptRequest, (accepted) => ({ 'gatehouse.client_id': accepted?.sp.entityId }));
}

function auditRejection(
  { repeatedEntries }: Core,
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
  services: Core & People & SamlServices,
  ctx: Context,
  sp: ServiceProvider,
  opened: OpenedMessage,
  request: AuthnRequest,
  { acs, reason }: { acs: AcsEndpoint; reason: SamlError },
): Promise<void> {
  const { responses } = services;
  await auditRejection(services, ctx, sp, reason);
  const code = await recordRejection(services, ctx, authnRequestRules, { error: reason, message: opened, sp });
  const message = `${reason.message} Error reference ${code}.`;
  const xml = reason.status && responses.status(acs.url, request.id, { ...reason.status, message });
  if (!xml) throw reason;
  const to = { acsUrl: acs.url, relayState: opened.decoded.relayState };
  if (reason.code !== 'no_authn_context' || request.isPassive) return responses.post(ctx, sp, to, xml);
  responses.explain(ctx, sp, to, xml, { reason: t('unmet.unknown', { app: sp.title }), rejectionCode: code });
}

/** The request without the RequestedAuthnContext that its application has Gatehouse ignore. */
function withoutIgnoredContext(request: AuthnRequest, { settings }: ServiceProvider): AuthnRequest {
  return settings.ignore_requested_authn_context ? { ...request, requestedAuthnContext: undefined } : request;
}

async function pendingRequestOf(
  { requestedSubjects }: SamlServices,
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
