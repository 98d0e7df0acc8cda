import type { Context } from '../../../base/http/context.ts';
import { runInChildSpan } from '../../../base/platform/tracing.ts';
import { type NameId, sameNameId } from '../../saml/messages/name-id.ts';
import type { OpenedMessage } from '../../saml/messages/open-message.ts';
import { type LogoutRequest, receiveLogoutRequest, receiveLogoutResponse } from '../../saml/messages/read-logout.ts';
import type { ServiceProvider } from '../../saml/metadata/service-providers.ts';
import { selectSessions } from '../../saml/slo/session-participants.ts';
import { SamlError, type SamlStatus } from '../../saml/xml/errors.ts';
import { nameIdFormats, statusCodes } from '../../saml/xml/names.ts';
import { createLogoutBrowserOf, type LogoutRequestContext, type Participant } from '../logout-run.ts';
import type { LogoutServices } from '../logout-services.ts';

/** The status to answer with at once, why no session was ended, or the logout run that has to complete first. */
export type LogoutRequestOutcome = { status: SamlStatus } | { rejection: SamlError } | { runId: string };

type RecordLogout = (
  ctx: Context,
  sp: ServiceProvider,
  outcome: 'success' | 'failure',
  reason?: string,
  subjectId?: string,
) => Promise<void>;

export type LogoutRequests = ReturnType<typeof createLogoutRequests>;

export function createLogoutRequests(services: LogoutServices) {
  const { now, skewSeconds, seenMessages, audit, repeatedEntries, config } = services;
  const endpoint = `${config.issuer}/saml/slo`;

  const record: RecordLogout = (ctx, sp, outcome, reason, subjectId) => {
    const about = { clientId: sp.entityId, ...(subjectId && { subjectId }), ...(reason && { reason }) };
    const entry = { type: 'saml.logout', outcome, request: ctx.state.request, ...about } as const;
    // Anyone can send any number of unsigned requests in the name of a service provider.
    return (outcome === 'failure' ? repeatedEntries : audit).record(entry);
  };

  return {
    /** Writes the audit event of a request. */
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
        return { context, outcome: await endNamedSessions({ ...services, record }, ctx, sp, request, context) };
      }),
  };
}

/** Ends the sessions of the sender that the request names by NameID and SessionIndex (SAML Core 3.7.1). */
async function endNamedSessions(
  services: LogoutServices & { record: RecordLogout },
  ctx: Context,
  sp: ServiceProvider,
  request: LogoutRequest,
  context: LogoutRequestContext,
): Promise<LogoutRequestOutcome> {
  const { cookies, entityId: issuer, sessionParticipants, endSession, record } = services;
  const { nameId } = request;
  if (!nameId) {
    await record(ctx, sp, 'failure', 'name_id_encrypted');
    return { rejection: new SamlError('name_id_encrypted') };
  }
  const participants = await sessionParticipants.find(sp.applicationId, nameId.value);
  const parties = { identityProvider: issuer, serviceProvider: sp.entityId };
  const named = selectSessions({ ...request, nameId }, participants, parties);
  const [first] = named;
  if (!first) {
    const live = participants.filter((one) => sameNameId(one.nameId, nameId, parties));
    if (await hasEnded(services, sp, { ...request, nameId }, live)) {
      await record(ctx, sp, 'success', 'already_ended');
      return { status: { code: statusCodes.Success } };
    }
    await record(ctx, sp, 'failure', 'no_such_session');
    return { rejection: rejectionOf(request.sessionIndexes, nameId, live) };
  }
  const ended = await endSession.several(
    named.map(({ sessionUid }) => sessionUid),
    'application-signed-out',
    {
      clientId: sp.entityId,
      request: ctx.state.request,
      frontChannel: {
        browser: createLogoutBrowserOf({ cookies })(ctx),
        completion: { kind: 'saml', entityId: sp.entityId, ...context },
      },
    },
  );
  await record(ctx, sp, 'success', undefined, first.userId);
  const run = ended?.run;
  return run && run.browserSteps + run.deliveries > 0 ? { runId: run.id } : { status: { code: statusCodes.Success } };
}

/**
 * Whether the request names a session that has ended, or a user of this service provider without a session: then it is met already (SAML
 * Core 3.7.3.2). `live`: the sessions of this NameID.
 */
async function hasEnded(
  { entityId: issuer, nameIds, sessionParticipants }: LogoutServices,
  sp: ServiceProvider,
  { nameId, sessionIndexes }: { nameId: NameId; sessionIndexes: readonly string[] },
  live: readonly unknown[],
): Promise<boolean> {
  const parties = { identityProvider: issuer, serviceProvider: sp.entityId };
  const ended = (await sessionParticipants.findEnded(sp.applicationId, nameId.value)).filter((one) =>
    sameNameId(one.nameId, nameId, parties),
  );
  if (ended.some(({ sessionIndex }) => sessionIndexes.includes(sessionIndex))) return true;
  if (live.length > 0) return false;
  if (ended.length > 0) return true;
  // A persistent NameID is known for as long as the application is registered.
  const stored = { value: nameId.value, format: nameIdFormats.persistent };
  return sameNameId(stored, nameId, parties) && (await nameIds.ownerOf(sp.applicationId, nameId.value)) !== undefined;
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

export type LogoutResponses = ReturnType<typeof createLogoutResponses>;

const MAX_ID = 256;

export function createLogoutResponses(services: LogoutServices) {
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
