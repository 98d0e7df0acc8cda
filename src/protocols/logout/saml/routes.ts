// /saml/slo: LogoutRequests and LogoutResponses of service providers (SAML Profiles 4.4). An invalid response is a failure
// of its sender alone, and the logout run continues.

import Router from '@koa/router';
import { z } from 'zod';
import { readForm } from '../../../base/http/body.ts';
import { type Context, type Extras, type State, seeOther } from '../../../base/http/context.ts';
import { AppError, badRequest, unsupportedMediaType } from '../../../base/http/errors.ts';
import { parseQuery } from '../../../base/http/input.ts';
import { limits } from '../../../base/limits.ts';
import { openInTime, sealForATime } from '../../../base/platform/sealed-for-a-time.ts';
import { runInChildSpan } from '../../../base/platform/tracing.ts';
import { t } from '../../../base/texts/text.ts';
import { type BrokenRule, ruleResults } from '../../../core/rejections/rules.ts';
import { type DecodedMessage, decodePost, decodeRedirect } from '../../saml/messages/decode.ts';
import { samlErrorPage } from '../../saml/messages/error-page.ts';
import { type NameId, sameNameId } from '../../saml/messages/name-id.ts';
import {
  type ClaimedMessage,
  claimOf,
  MESSAGE_RULES,
  type OpenedMessage,
  openMessage,
} from '../../saml/messages/open-message.ts';
import {
  claimedInResponseTo,
  type LogoutRequest,
  receiveLogoutRequest,
  receiveLogoutResponse,
} from '../../saml/messages/read-logout.ts';
import type { ServiceProvider } from '../../saml/metadata/service-providers.ts';
import { selectSessions } from '../../saml/slo/session-participants.ts';
import { recordRejection, rejectionIn } from '../../saml/sso/rejected-requests.ts';
import { SamlError, type SamlErrorCode, type SamlStatus } from '../../saml/xml/errors.ts';
import { nameIdFormats, statusCodes } from '../../saml/xml/names.ts';
import { type LogoutRequestContext, logoutBrowserOf, type Participant } from '../logout-run.ts';
import type { LogoutServices } from '../logout-services.ts';
import type { WayBack } from './outgoing-messages.ts';

/** The rules of a LogoutRequest, in the order in which they are checked. */
const RULES = [...MESSAGE_RULES, 'destination', 'time', 'replay', 'session'] as const;
const rulesOf = (brokenRule: BrokenRule) => ruleResults(RULES, brokenRule);
const FORM = 'application/x-www-form-urlencoded';

/** A rejected LogoutRequest between the POST of another site, which has no SameSite=Lax cookie, and the GET of this one. */
const carriedRejection = z.object({
  entityId: z.string(),
  reason: z.custom<SamlErrorCode>(),
  rejectionCode: z.string(),
  /** Absent for a request that is not authentic. */
  context: z
    .object({ requestId: z.string(), binding: z.enum(['redirect', 'post']), relayState: z.string().optional() })
    .optional(),
});
const CARRIED_SECONDS = 60;
const CARRIED_CONTEXT = 'saml-logout-rejection';
const carriedQuery = z.object({ rejection: z.string().max(limits.authorizationRequest.bytes) });

export function samlLogoutRoutes(services: LogoutServices): Router<State, Extras> {
  const { accounts, cookies, sessions, validateXml, serviceProviders, outgoingMessages, rateLimit } = services;
  const logoutRequests = createLogoutRequests(services);
  const logoutResponses = createLogoutResponses(services);
  const router = new Router<State, Extras>();

  router.get('/saml/slo', rateLimit, (ctx) => handle(ctx, ctx.querystring, decodeRedirect));

  router.get('/saml/slo/rejected', rateLimit, async (ctx) => {
    const carried = openInTime(services, CARRIED_CONTEXT, carriedRejection, parseQuery(ctx, carriedQuery).rejection);
    if (!carried) throw badRequest('link_invalid');
    const { entityId, reason, rejectionCode, context } = carried;
    const sp = await serviceProviders.find(entityId);
    if (!sp) throw badRequest('service_provider_unknown', { detail: { entityId } });
    await answerRejection(ctx, sp, new SamlError(reason), rejectionCode, context);
  });

  router.post('/saml/slo', rateLimit, async (ctx) => {
    if (!ctx.is(FORM)) throw unsupportedMediaType(FORM);
    const body = await readForm(ctx.req, limits.saml.bodyBytes);
    await handle(ctx, body, async (text) => decodePost(text));
  });

  async function handle(ctx: Context, text: string, decode: (text: string) => Promise<DecodedMessage>): Promise<void> {
    let decoded: DecodedMessage | undefined;
    let opened: OpenedMessage;
    try {
      decoded = await decode(text);
      opened = openMessage(decoded, ['LogoutRequest', 'LogoutResponse'], validateXml);
    } catch (error) {
      return answerUnreadable(ctx, text, decoded, await rejectionIn(error));
    }
    return opened.name === 'LogoutResponse' ? receiveResponse(ctx, opened) : receiveRequest(ctx, opened);
  }

  /** A message that cannot be read: its sender, or the logout run that it belongs to, is the one that it claims. */
  async function answerUnreadable(
    ctx: Context,
    text: string,
    decoded: DecodedMessage | undefined,
    error: SamlError | AppError,
  ): Promise<void> {
    const runId = error instanceof SamlError ? await runOfUnreadable(text, error.code) : undefined;
    if (runId !== undefined) return redirectToRun(ctx, runId);
    const claim = decoded && claimOf(decoded);
    const isRequest = claim?.decoded.parameter === 'SAMLRequest';
    const sp = isRequest ? await serviceProviders.find(claim.claimedIssuer) : undefined;
    await reject(ctx, sp, error, claim);
  }

  async function receiveResponse(ctx: Context, opened: OpenedMessage): Promise<void> {
    try {
      redirectToRun(ctx, await logoutResponses.accept(opened, claimedInResponseTo(opened.unverified.root) ?? ''));
    } catch (error) {
      await reject(ctx, undefined, await rejectionIn(error), opened);
    }
  }

  async function receiveRequest(ctx: Context, opened: OpenedMessage): Promise<void> {
    const entityId = opened.claimedIssuer;
    let sp: ServiceProvider | undefined;
    try {
      sp = await serviceProviders.find(entityId);
      if (!sp) throw badRequest('service_provider_unknown', { detail: { entityId } });
      const { context, outcome } = await logoutRequests.accept(ctx, sp, opened);
      if ('runId' in outcome) redirectToRun(ctx, outcome.runId);
      else if ('status' in outcome) outgoingMessages.sendResponse(ctx, sp, context, outcome.status);
      else await reject(ctx, sp, outcome.rejection, opened, context);
    } catch (caught) {
      const error = await rejectionIn(caught);
      // An unknown sender is logged and not audited: anyone could fill the audit log.
      if (sp && error instanceof SamlError) await logoutRequests.record(ctx, sp, 'failure', error.code);
      await reject(ctx, sp, error, opened);
    }
  }

  /**
   * Records the rejection of a message and answers it. Throws the page of an unknown sender.
   *
   * @param context of a LogoutRequest that is authentic
   */
  async function reject(
    ctx: Context,
    sp: ServiceProvider | undefined,
    error: SamlError | AppError,
    message: ClaimedMessage | undefined,
    context?: LogoutRequestContext,
  ): Promise<void> {
    const rejectionCode = await recordRejection(services, ctx, rulesOf, { error, message, sp });
    if (!sp || error instanceof AppError) throw samlErrorPage(error, sp?.title, rejectionCode);
    await answerRejection(ctx, sp, error, rejectionCode, context);
  }

  /** Answers a LogoutRequest that ended no session: on a page to a user who is still signed in, which has the way back, else at once. */
  async function answerRejection(
    ctx: Context,
    sp: ServiceProvider,
    error: SamlError,
    rejectionCode: string,
    context: LogoutRequestContext | undefined,
  ): Promise<void> {
    const message = `${error.message} Error reference ${rejectionCode}.`;
    const status = { ...(error.status ?? { code: statusCodes.Requester }), message };
    const back = context && outgoingMessages.responseTo(sp, context, status);
    if (await showRejection(ctx, sp, error, rejectionCode, back)) return;
    if (ctx.method === 'POST' && ctx.get('Sec-Fetch-Site') === 'cross-site') {
      const carried = { entityId: sp.entityId, reason: error.code, rejectionCode, context };
      const rejection = sealForATime(services, CARRIED_CONTEXT, carried, CARRIED_SECONDS);
      if (rejection.length <= limits.authorizationRequest.bytes)
        return seeOther(ctx, `/saml/slo/rejected?rejection=${rejection}`);
    }
    if (!context) throw samlErrorPage(error, sp.title, rejectionCode);
    outgoingMessages.sendResponse(ctx, sp, context, status);
  }

  /** The page of a rejected LogoutRequest for a user who is still signed in; false for another. */
  async function showRejection(
    ctx: Context,
    { title: appName }: ServiceProvider,
    error: SamlError,
    rejectionCode: string,
    back?: WayBack,
  ): Promise<boolean> {
    const session = await sessions.ofCookie(cookies.get(ctx, 'session'));
    const account = session && (await accounts.find(session.accountId));
    if (!account) return false;
    ctx.state.profileLanguage = account.locale ?? undefined;
    const text = back ? t('logout.other-session', { app: appName }) : t('logout.invalid-request', { app: appName });
    const technical = [
      { label: t('error-page.reason'), value: error.message },
      { label: t('error-page.saml-error'), value: error.code },
    ];
    const { requestId } = ctx.state.request;
    const page = { appName, account, error: text, back, rejectionCode, requestId, technical };
    ctx.render('saml/logout-rejected', page, error.httpStatus);
    return true;
  }

  /** The logout run of a LogoutResponse that cannot be read, by its RelayState. */
  async function runOfUnreadable(text: string, code: SamlError['code']): Promise<string | undefined> {
    const fields = new URLSearchParams(text);
    const relayState = fields.get('RelayState');
    if (!relayState || !fields.has('SAMLResponse')) return undefined;
    return logoutResponses.acceptUnreadable(relayState, code);
  }

  return router;
}

function redirectToRun(ctx: Context, runId: string): void {
  seeOther(ctx, `/signout/${runId}`);
}

/** The status to answer with at once, why no session was ended, or the logout run that has to complete first. */
type LogoutRequestOutcome = { status: SamlStatus } | { rejection: SamlError } | { runId: string };

function createLogoutRequests(services: LogoutServices) {
  const { now, skewSeconds, seenMessages, audit, repeatedEntries, config, cookies } = services;
  const { entityId: identityProvider, nameIds, sessionParticipants, endSession } = services;
  const endpoint = `${config.issuer}/saml/slo`;

  /** Writes the audit event of a request. */
  function record(
    ctx: Context,
    sp: ServiceProvider,
    outcome: 'success' | 'failure',
    reason?: string,
    subjectId?: string,
  ): Promise<void> {
    const about = { clientId: sp.entityId, ...(subjectId && { subjectId }), ...(reason && { reason }) };
    const entry = { type: 'saml.logout', outcome, request: ctx.state.request, ...about } as const;
    // Anyone can send any number of unsigned requests in the name of a service provider.
    return (outcome === 'failure' ? repeatedEntries : audit).record(entry);
  }

  /** Ends the sessions of the sender that the request names by NameID and SessionIndex (SAML Core 3.7.1). */
  async function endNamedSessions(
    ctx: Context,
    sp: ServiceProvider,
    { nameId, sessionIndexes }: LogoutRequest,
    context: LogoutRequestContext,
  ): Promise<LogoutRequestOutcome> {
    if (!nameId) {
      await record(ctx, sp, 'failure', 'name_id_encrypted');
      return { rejection: new SamlError('name_id_encrypted') };
    }
    const participants = await sessionParticipants.find(sp.applicationId, nameId.value);
    const parties = { identityProvider, serviceProvider: sp.entityId };
    const named = selectSessions({ nameId, sessionIndexes }, participants, parties);
    const [first] = named;
    if (!first) {
      const live = participants.filter((one) => sameNameId(one.nameId, nameId, parties));
      if (await hasEnded(sp, nameId, sessionIndexes, live.length > 0)) {
        await record(ctx, sp, 'success', 'already_ended');
        return { status: { code: statusCodes.Success } };
      }
      await record(ctx, sp, 'failure', 'no_such_session');
      return { rejection: rejectionOf(sessionIndexes, nameId, live) };
    }
    const uids = named.map(({ sessionUid }) => sessionUid);
    const ended = await endSession.several(uids, 'application-signed-out', {
      clientId: sp.entityId,
      request: ctx.state.request,
      frontChannel: {
        browser: logoutBrowserOf(ctx, cookies),
        completion: { kind: 'saml', entityId: sp.entityId, ...context },
      },
    });
    await record(ctx, sp, 'success', undefined, first.userId);
    const run = ended?.run;
    return run && run.browserSteps + run.deliveries > 0 ? { runId: run.id } : { status: { code: statusCodes.Success } };
  }

  /**
   * Whether the request names a session that has ended, or a user of this service provider without a session: then it is met already (SAML
   * Core 3.7.3.2). `isLive`: there is a session of this NameID.
   */
  async function hasEnded(
    sp: ServiceProvider,
    nameId: NameId,
    sessionIndexes: readonly string[],
    isLive: boolean,
  ): Promise<boolean> {
    const parties = { identityProvider, serviceProvider: sp.entityId };
    const found = await sessionParticipants.findEnded(sp.applicationId, nameId.value);
    const ended = found.filter((one) => sameNameId(one.nameId, nameId, parties));
    if (ended.some(({ sessionIndex }) => sessionIndexes.includes(sessionIndex))) return true;
    if (isLive) return false;
    if (ended.length > 0) return true;
    // A persistent NameID is known for as long as the application is registered.
    const stored = { value: nameId.value, format: nameIdFormats.persistent };
    return sameNameId(stored, nameId, parties) && (await nameIds.ownerOf(sp.applicationId, nameId.value)) !== undefined;
  }

  return {
    record,

    /** Ends the sessions that the request names. Throws SamlError when it is not authentic. */
    accept: (
      ctx: Context,
      sp: ServiceProvider,
      opened: OpenedMessage,
    ): Promise<{ context: LogoutRequestContext; outcome: LogoutRequestOutcome }> =>
      runInChildSpan('saml LogoutRequest', { attributes: { 'gatehouse.client_id': sp.entityId } }, async () => {
        const expectation = { entityId: sp.entityId, endpoint, now: now(), skewSeconds: skewSeconds() };
        const { request } = await receiveLogoutRequest(opened, [sp], expectation);
        await seenMessages.assertNew(sp.entityId, request.id);
        const { binding, relayState, isRelayStateTooLong } = opened.decoded;
        const context: LogoutRequestContext = {
          requestId: request.id,
          binding,
          ...(relayState === undefined ? {} : { relayState }),
        };
        if (isRelayStateTooLong) {
          await record(ctx, sp, 'failure', 'relay_state_too_long');
          return { context, outcome: { rejection: new SamlError('relay_state_too_long') } };
        }
        return { context, outcome: await endNamedSessions(ctx, sp, request, context) };
      }),
  };
}

/** What differs from the sessions of this NameID, for the list of rejected requests. */
function rejectionOf(
  sessionIndexes: readonly string[],
  nameId: NameId,
  live: readonly { nameId: NameId; sessionIndex: string }[],
): SamlError {
  if (live.length === 0) return new SamlError('no_such_session', { received: nameId.value });
  return sessionIndexes.length > 0
    ? new SamlError('no_such_session', {
        received: `SessionIndex ${sessionIndexes.join(' ')}`,
        expected: live.map(({ sessionIndex }) => `SessionIndex ${sessionIndex}`).join('\n'),
      })
    : new SamlError('no_such_session', {
        received: `Format ${nameId.format}, no SessionIndex`,
        expected: live.map((one) => `Format ${one.nameId.format}`).join('\n'),
      });
}

// LogoutResponses of service providers (SAML Core 3.7.2): each answers one LogoutRequest of this server, is signed by its
// recipient and counts once. An invalid one is stored as the failure of that application.

const MAX_ID = 256;

function createLogoutResponses(services: LogoutServices) {
  const { now, skewSeconds, serviceProviders, seenMessages, runs, config } = services;

  async function hasConfirmed(opened: OpenedMessage, participant: Participant, requestId: string): Promise<boolean> {
    const sp = await serviceProviders.find(participant.clientId);
    if (!sp) throw new SamlError('wrong_issuer');
    const response = await receiveLogoutResponse(opened, sp, {
      entityId: sp.entityId,
      endpoint: `${config.issuer}/saml/slo`,
      now: now(),
      skewSeconds: skewSeconds(),
      requestId,
    });
    await seenMessages.assertNew(sp.entityId, response.id);
    return response.succeeded;
  }

  async function recipientOf(messageId: string): Promise<Participant | undefined> {
    return messageId !== '' && messageId.length <= MAX_ID ? runs.findByMessageId(messageId) : undefined;
  }

  return {
    /** The ID of the logout run to continue. Throws SamlError when this response is not expected. */
    async accept(opened: OpenedMessage, inResponseTo: string): Promise<string> {
      const participant = await recipientOf(inResponseTo);
      if (!participant) throw new SamlError('unexpected_response', { detail: inResponseTo.slice(0, MAX_ID) });
      try {
        const attributes = { 'gatehouse.client_id': participant.clientId };
        if (
          await runInChildSpan('saml LogoutResponse', { attributes }, () =>
            hasConfirmed(opened, participant, inResponseTo),
          )
        )
          await runs.settle(participant, { state: 'done' });
        else await runs.browserFailed(participant, 'rejected');
      } catch (error) {
        if (!(error instanceof SamlError)) throw error;
        await runs.browserFailed(participant, `invalid_answer: ${error.code}`);
      }
      return participant.runId;
    },

    /** The same for a response that cannot be read: its RelayState is the ID of the LogoutRequest. */
    async acceptUnreadable(relayState: string, reason: string): Promise<string | undefined> {
      const participant = await recipientOf(relayState);
      if (!participant) return undefined;
      await runs.browserFailed(participant, `invalid_answer: ${reason}`);
      return participant.runId;
    },
  };
}
