// SAML as a response mode of the authorization endpoint: the engine's result or error becomes the Response to the pending
// AuthnRequest. The engine calls this after sign-in, second factor, access rule and consent.

import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { KoaContextWithOIDC } from 'oidc-provider';
import { seeOther } from '../../../base/http/context.ts';
import { AppError, badRequest } from '../../../base/http/errors.ts';
import type { Http } from '../../../base/http/http.ts';
import { describeSpan, traced } from '../../../base/platform/tracing.ts';
import { type PageText, t } from '../../../base/texts/text.ts';
import type { Core } from '../../../core/core.ts';
import type { BrokenRule } from '../../../core/rejections/rules.ts';
import type { Account } from '../../../people/accounts/account.ts';
import type { People } from '../../../people/people.ts';
import { appContext, isDecided } from '../../oidc/engine/app-context.ts';
import { markAnswered } from '../../oidc/engine/events.ts';
import type { LackingContext } from '../../oidc/engine/saml-requirements.ts';
import type { ServiceProvider } from '../metadata/service-providers.ts';
import { SamlError, type SamlStatus } from '../xml/errors.ts';
import { statusCodes } from '../xml/names.ts';
import { lackingContext } from './authn-context.ts';
import type { AuthorizationParameterChecks } from './authorization-parameter-checks.ts';
import type { PendingAuthnRequest } from './pending-authn-requests.ts';
import { authnRequestRules, contextText } from './request-checks.ts';
import type { SamlServices } from './saml-services.ts';

type ResponseServices = Core & Http & People & SamlServices & { parameterChecks: AuthorizationParameterChecks };

interface EngineResult {
  state?: string;
  error?: string;
  error_description?: string;
}

/** The signed Response; where it has no assertion, why. */
interface Answer {
  xml: string;
  rejectionCode?: string;
  reason?: string;
}

/** Why a Response has no assertion. */
interface Failure {
  reason: string;
  status: SamlStatus;
  brokenRule: BrokenRule;
}

const NO_PASSIVE: SamlStatus = { code: statusCodes.Responder, subcode: statusCodes.NoPassive };
/** The engine's errors as SAML status codes (Core 3.2.2.2). */
const statuses: Record<string, SamlStatus> = {
  login_required: NO_PASSIVE,
  interaction_required: NO_PASSIVE,
  consent_required: NO_PASSIVE,
  account_selection_required: NO_PASSIVE,
  access_denied: { code: statusCodes.Responder, subcode: statusCodes.RequestDenied },
  temporarily_unavailable: { code: statusCodes.Responder },
  unmet_authentication_requirements: { code: statusCodes.Responder, subcode: statusCodes.NoAuthnContext },
};
const FAILED: SamlStatus = { code: statusCodes.Responder, subcode: statusCodes.AuthnFailed };
/** The page of the console that shows the Response to a test sign-in. */
const SAML_TEST_RESULT = '/admin/test/saml';

export function createResponseMode(services: ResponseServices) {
  const { accounts, audit, browser, metrics, now, parameterChecks, pendingAuthnRequests, rejections } = services;
  const { repeatedEntries, requestedSubjects, responses, serviceProviders, sessionParticipants, settings, vault } =
    services;

  async function respond(ctx: KoaContextWithOIDC, acsUrl: string, payload: Record<string, unknown>): Promise<void> {
    const appCtx = appContext(ctx);
    const { state = '', error } = payload as EngineResult;
    if (error === 'server_error') throw new AppError('internal', { detail: payload });
    const { sp, request } = await takePending(ctx, state);
    // Nothing is signed for a client that is no service provider, nor without the pending request of this browser.
    if (!sp || !request || request.acsUrl !== acsUrl)
      throw badRequest('saml_request_invalid', { detail: { error, clientId: ctx.oidc.client?.clientId } });
    describeSpan({ 'gatehouse.client_id': sp.entityId });
    // Signing takes a turn of the event loop of its own.
    await yieldToEventLoop();
    const { xml, rejectionCode, reason } = error
      ? await failure(ctx, sp, request, engineError(error, request))
      : await successUnlessImpossible(ctx, sp, request);
    appCtx.state.log().info({ clientId: sp.entityId, error }, 'SAML response');
    if (request.isTest) {
      await pendingAuthnRequests.saveTestResponse(state, vault.seal(xml, testResponseContext(state)));
      return seeOther(appCtx, `${SAML_TEST_RESULT}?${new URLSearchParams({ request: state })}`);
    }
    const why = reason && !request.isPassive && (await explanation(ctx, sp, request, reason));
    if (!why || !rejectionCode) return responses.post(appCtx, sp, request, xml);
    return responses.explain(appCtx, sp, request, xml, { ...why, rejectionCode });
  }

  /** The service provider and its pending request in this browser, which is answered once. */
  async function takePending(ctx: KoaContextWithOIDC, state: string) {
    const appCtx = appContext(ctx);
    // An error of the engine may come before its own check of the parameters: edited ones must not consume the request.
    const isPending = await parameterChecks.isPendingAuthnRequest(appCtx, { ...ctx.oidc.params });
    const sp = ctx.oidc.client && (await serviceProviders.find(ctx.oidc.client.clientId));
    if (!isPending || !sp) return { sp, request: undefined };
    return { sp, request: await pendingAuthnRequests.consume(state, sp.applicationId, browser.of(appCtx)) };
  }

  /** The Response with an assertion, or with the status of why there can be none. */
  async function successUnlessImpossible(
    ctx: KoaContextWithOIDC,
    sp: ServiceProvider,
    pending: PendingAuthnRequest,
  ): Promise<Answer> {
    try {
      return await success(ctx, sp, pending);
    } catch (error) {
      if (!(error instanceof SamlError) || !error.status) throw error;
      const { code, status, brokenRule } = error;
      return failure(ctx, sp, pending, { reason: code, status, brokenRule });
    }
  }

  /** Makes the Response with an assertion, records the participant of the session, and audits it. */
  async function success(ctx: KoaContextWithOIDC, sp: ServiceProvider, pending: PendingAuthnRequest): Promise<Answer> {
    const { session, client } = ctx.oidc;
    const account = session?.accountId ? await accounts.find(session.accountId) : undefined;
    const sessionIndex = client && session?.sidFor(client.clientId);
    if (!session || !account || !sessionIndex) throw new Error('the engine answered without a session');
    const { subject } = pending;
    if (subject && !(await requestedSubjects.isNamed(subject, sp, account)))
      throw new SamlError('unknown_principal', { received: account.username, expected: subject.value });
    // A new session is saved after the Response: it has no `exp` yet.
    const sessionBegan = new Date((session.loginTs ?? 0) * 1000);
    // Of an upstream that does not say when: the assertion has to state a time (AuthnInstant), so it is that of the session.
    const signedInAt = new Date((session.authTime() ?? session.loginTs ?? 0) * 1000);
    const accountEnds = account.activeUntil?.getTime() ?? Number.POSITIVE_INFINITY;
    const sessionEndsAt = new Date(
      Math.min(accountEnds, sessionBegan.getTime() + settings.latest().session_hours * 3_600_000),
    );
    const isTransient = pending.nameIdFormat === 'transient';
    const current = isTransient ? await sessionParticipants.inSession(session.uid, sp.applicationId) : undefined;
    const { xml, nameId, contextClass } = await responses.success(sp, pending, {
      account,
      acr: session.acr,
      amr: session.amr ?? [],
      signedInAt,
      sessionNotOnOrAfter: sessionNotOnOrAfter(sp, { sessionBegan, sessionEndsAt, accountEnds }, now()),
      sessionIndex,
      currentNameId: current?.userId === account.id ? current.nameId : undefined,
    });
    // Before the assertion leaves: a logout has to find the service provider. The assertion of a test never leaves.
    if (!pending.isTest) {
      const isLive = await sessionParticipants.add(
        { sessionUid: session.uid, userId: account.id, applicationId: sp.applicationId, nameId, sessionIndex },
        sessionEndsAt,
      );
      if (!isLive) throw new SamlError('session_ended');
      markAnswered(ctx);
    }
    await audit.record({
      type: 'saml.response',
      outcome: 'success',
      actorId: account.id,
      subjectId: account.id,
      clientId: sp.entityId,
      request: appContext(ctx).state.request,
      data: { nameIdFormat: nameId.format, contextClass, ...(pending.isTest && { test: true }) },
    });
    metrics.samlResponses.inc({ outcome: 'success' });
    return { xml };
  }

  /** Makes the Response with a status; audits it and records the rejection, unless the status is NoPassive or what a person decided. */
  async function failure(
    ctx: KoaContextWithOIDC,
    sp: ServiceProvider,
    { acsUrl, requestId, nameIdFormat, requestedContext, subject }: PendingAuthnRequest,
    { reason, status, brokenRule }: Failure,
  ): Promise<Answer> {
    metrics.samlResponses.inc({ outcome: 'rejected' });
    if (isDecided(ctx, reason)) return { xml: responses.status(acsUrl, requestId, status) };
    const subjectId = ctx.oidc.session?.accountId;
    const { request } = appContext(ctx).state;
    // Without a user anyone can cause it, such as by IsPassive.
    await (subjectId ? audit : repeatedEntries).record({
      type: 'saml.response',
      outcome: 'failure',
      reason,
      clientId: sp.entityId,
      request,
      ...(subjectId && { subjectId }),
    });
    // The expected answer to IsPassive without a session, and no fault.
    if (status.subcode === statusCodes.NoPassive) return { xml: responses.status(acsUrl, requestId, status) };
    const rejectionCode = rejections.record(request, {
      endpoint: 'saml',
      reason,
      message: status.message ?? reason,
      clientId: sp.entityId,
      subjectId,
      received: {
        Issuer: sp.entityId,
        AssertionConsumerServiceURL: acsUrl,
        NameIDPolicy: nameIdFormat,
        ...(requestedContext && { RequestedAuthnContext: contextText(requestedContext) }),
        ...(subject && { Subject: subject.value }),
      },
      rules: authnRequestRules(brokenRule),
    });
    const message = `${status.message ?? 'The sign-in was rejected.'} Error reference ${rejectionCode}.`;
    return { xml: responses.status(acsUrl, requestId, { ...status, message }), rejectionCode, reason };
  }

  /**
   * What a user reads before the service provider gets the status, where another try would end in the same way: many applications only send
   * the browser here again, in a circle. Undefined for a status that the user caused, or has read about.
   */
  async function explanation(
    { oidc: { session } }: KoaContextWithOIDC,
    { title: app }: ServiceProvider,
    { requestedContext }: PendingAuthnRequest,
    reason: string,
  ): Promise<{ reason: PageText; account: Account | undefined } | undefined> {
    const unmet = unmetContext(lackingContext(requestedContext, session?.amr ?? []), app);
    const texts: Record<string, PageText> = {
      no_authn_context: unmet,
      unmet_authentication_requirements: unmet,
      unknown_principal: t('unmet.other-account', { app }),
      invalid_name_id_policy: t('unmet.name-id', { app }),
    };
    const text = texts[reason];
    if (text === undefined) return undefined;
    return { reason: text, account: session?.accountId ? await accounts.find(session.accountId) : undefined };
  }

  return traced('saml Response', respond);
}

/** What a sign-in would need beside the session to meet the RequestedAuthnContext. */
function unmetContext(lacking: LackingContext | undefined, app: PageText): PageText {
  if (lacking?.password) return t('unmet.password', { app });
  return lacking && lacking.acrs.length > 0 ? t('unmet.factor', { app }) : t('unmet.unknown', { app });
}

/** Binds the encrypted Response of a test sign-in to its request. */
const testResponseContext = (id: string): string => `saml test:${id}`;

export function openTestResponse({ vault }: Core, sealed: string, id: string): string {
  return vault.open(sealed, testResponseContext(id)).toString();
}

/**
 * When the service provider has to end its own session (SAML Core 2.7.2): by default at the latest end of the session here, or when
 * `session_hours` are over, whether its user is active or not. The idle time is no bound: only use of this server extends it, and none
 * happens during work elsewhere.
 */
function sessionNotOnOrAfter(
  { settings }: ServiceProvider,
  { sessionBegan, sessionEndsAt, accountEnds }: { sessionBegan: Date; sessionEndsAt: Date; accountEnds: number },
  now: Date,
): Date | undefined {
  const { session_not_on_or_after: configured, session_hours: hours = Number.POSITIVE_INFINITY } = settings;
  if (configured === 'none') return undefined;
  if (configured !== undefined) return new Date(Math.min(accountEnds, now.getTime() + configured * 1000));
  return new Date(Math.min(sessionEndsAt.getTime(), sessionBegan.getTime() + hours * 3_600_000));
}

/** An error of the engine as a SAML status. */
function engineError(error: string, { requestedContext }: PendingAuthnRequest): Failure {
  const status = statuses[error] ?? FAILED;
  const received = requestedContext && contextText(requestedContext);
  if (error === 'access_denied') return { reason: error, status, brokenRule: { rule: 'access' } };
  if (error === 'unmet_authentication_requirements')
    return { reason: error, status, brokenRule: { rule: 'context', received } };
  return { reason: error, status, brokenRule: { rule: 'form', received: error } };
}
