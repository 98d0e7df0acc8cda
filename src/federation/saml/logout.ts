// Single logout with a SAML upstream: begun here, or by the upstream.
import type { RequestInfo } from '../../base/platform/request-info.ts';
import type { FrontChannel } from '../../protocols/logout/logout-run.ts';
import { newMessageId, postMessage, redirectUrl } from '../../protocols/saml/messages/encode.ts';
import type { NameId } from '../../protocols/saml/messages/name-id.ts';
import type { OpenedMessage } from '../../protocols/saml/messages/open-message.ts';
import {
  type LogoutRequest,
  receiveLogoutRequest,
  receiveLogoutResponse,
} from '../../protocols/saml/messages/read-logout.ts';
import { logoutRequest, logoutResponse } from '../../protocols/saml/messages/write-logout.ts';
import type { SloEndpoint } from '../../protocols/saml/metadata/entity.ts';
import { selectSessions } from '../../protocols/saml/slo/session-participants.ts';
import { SamlError, type SamlStatus } from '../../protocols/saml/xml/errors.ts';
import { statusCodes } from '../../protocols/saml/xml/names.ts';
import type { XmlElement } from '../../protocols/saml/xml/write.ts';
import type { SamlConnection } from '../connections/connection.ts';
import { FederationError } from '../faults.ts';
import type { UpstreamSession } from '../sessions.ts';
import type { UpstreamRedirect, UpstreamSessionHandle } from '../upstream.ts';
import type { IdentityProvider, UpstreamSamlServices } from './identity-provider.ts';
import type { OwnServiceProvider } from './service-provider.ts';

/** What the head of a message from this upstream must say. */
function expectedFrom({ ownServiceProvider, now, skewSeconds }: UpstreamSamlServices, entityId: string) {
  return { entityId, endpoint: ownServiceProvider.sloUrl, now: now(), skewSeconds: skewSeconds() };
}

function senderOf(connection: SamlConnection, { signingKeys }: IdentityProvider) {
  return { connection, signingKeys, allowSha1: connection.settings.allow_sha1 };
}

function asNameId({ value = '', format = '', nameQualifier, spNameQualifier }: Record<string, string>): NameId {
  return { value, format, ...(nameQualifier && { nameQualifier }), ...(spNameQualifier && { spNameQualifier }) };
}

/** By this binding, else by the other one. */
function browserEndpoint(slo: readonly SloEndpoint[], binding: 'redirect' | 'post'): SloEndpoint | undefined {
  const offered = slo.filter((endpoint) => endpoint.binding !== 'soap');
  return offered.find((endpoint) => endpoint.binding === binding) ?? offered[0];
}

function encodeForBinding(
  { signer }: OwnServiceProvider,
  { binding, location }: SloEndpoint,
  parameter: 'SAMLRequest' | 'SAMLResponse',
  message: XmlElement,
  relayState: string | undefined,
): UpstreamRedirect {
  if (binding === 'redirect')
    return { method: 'redirect', url: redirectUrl({ location, parameter, message, relayState }, signer()) };
  const fields = {
    [parameter]: postMessage(message, signer()),
    ...(relayState !== undefined && { RelayState: relayState }),
  };
  return { method: 'post', url: location, fields };
}

// Single logout that begins here (SAML Profiles 4.4): a LogoutRequest of this server ends the session at a SAML upstream.

export type SentLogoutRequests = ReturnType<typeof createSentLogoutRequests>;

export function createSentLogoutRequests(services: UpstreamSamlServices) {
  const { ownServiceProvider, identityProviders, now } = services;
  return {
    /** The address of its single logout; undefined when the upstream has none. */
    async addressOf(connection: SamlConnection): Promise<string | undefined> {
      const { slo } = await identityProviders.of(connection);
      return browserEndpoint(slo, 'redirect')?.location;
    },

    /**
     * A LogoutRequest of this server, signed, for the session at the upstream; undefined when the upstream has no endpoint for it.
     * Its answer comes to /saml/sp/slo and is read by `isConfirmed`.
     */
    async request(
      connection: SamlConnection,
      { nameId, sessionIndex }: Extract<UpstreamSessionHandle, { kind: 'saml' }>,
      relayState?: string,
    ): Promise<{ messageId: string; redirect: UpstreamRedirect } | undefined> {
      const { slo } = await identityProviders.of(connection);
      const target = browserEndpoint(slo, 'redirect');
      if (!target) return undefined;
      const messageId = newMessageId();
      const message = logoutRequest({
        id: messageId,
        issuer: ownServiceProvider.entityIdFor(connection),
        destination: target.location,
        now: now(),
        nameId: asNameId(nameId),
        sessionIndexes: sessionIndex === undefined ? [] : [sessionIndex],
        reason: 'user',
      });
      return { messageId, redirect: encodeForBinding(ownServiceProvider, target, 'SAMLRequest', message, relayState) };
    },

    /** Whether a LogoutResponse confirms that request. Throws SamlError when it is not authentic. */
    async isConfirmed(connection: SamlConnection, opened: OpenedMessage, messageId: string): Promise<boolean> {
      const identityProvider = await identityProviders.of(connection);
      const expectation = { ...expectedFrom(services, identityProvider.entityId), requestId: messageId };
      return (await receiveLogoutResponse(opened, senderOf(connection, identityProvider), expectation)).succeeded;
    },
  };
}

// Single logout that a SAML upstream begins (SAML Profiles 4.4): its LogoutRequest ends the sessions here and everything downstream.

/** What the answer to a LogoutRequest needs. */
interface AcceptedRequest {
  connection: SamlConnection;
  requestId: string;
}

/** A new LogoutRequest, and every connection to its sender whose keys verify it; the answer goes out over the first. */
interface VerifiedRequest extends AcceptedRequest {
  request: LogoutRequest;
  connections: [SamlConnection, ...SamlConnection[]];
}

export type ReceivedLogoutRequests = ReturnType<typeof createReceivedLogoutRequests>;

export function createReceivedLogoutRequests(services: UpstreamSamlServices) {
  const { ownServiceProvider, identityProviders, seenMessages, now } = services;
  return {
    /** Verifies the LogoutRequest. Throws SamlError. */
    async accept(opened: OpenedMessage): Promise<VerifiedRequest> {
      const entityId = opened.claimedIssuer;
      const known = await sendersOf(services, entityId);
      const { request, senders } = await receiveLogoutRequest(opened, known, expectedFrom(services, entityId));
      await seenMessages.assertNew(entityId, request.id);
      const [{ connection }, ...others] = senders;
      const connections: VerifiedRequest['connections'] = [connection, ...others.map((other) => other.connection)];
      return { connection, connections, requestId: request.id, request };
    },

    /** Ends the sessions that the request names; the status to answer with, or the logout run that has to complete first. */
    endSessions: (
      accepted: VerifiedRequest,
      by: { request: RequestInfo; frontChannel?: FrontChannel },
    ): Promise<SamlStatus | { runId: string }> => endSessions(services, accepted, by),

    /** The answer through the browser; undefined when the upstream has no endpoint for it. */
    async answer(
      { connection, requestId }: AcceptedRequest,
      {
        binding,
        relayState,
        status,
      }: { binding: 'redirect' | 'post'; relayState: string | undefined; status: SamlStatus },
    ): Promise<UpstreamRedirect | undefined> {
      const { slo } = await identityProviders.of(connection);
      const target = browserEndpoint(slo, binding);
      if (!target) return undefined;
      const destination = target.responseLocation ?? target.location;
      const issuer = ownServiceProvider.entityIdFor(connection);
      const message = logoutResponse({
        id: newMessageId(),
        issuer,
        destination,
        now: now(),
        inResponseTo: requestId,
        status,
      });
      return encodeForBinding(
        ownServiceProvider,
        { ...target, location: destination },
        'SAMLResponse',
        message,
        relayState,
      );
    },

    /** The unsigned answer to a SOAP request. */
    soapAnswer({ connection, requestId }: AcceptedRequest, status: SamlStatus): XmlElement {
      const issuer = ownServiceProvider.entityIdFor(connection);
      const id = newMessageId();
      // A response on the same connection goes to nobody else.
      return logoutResponse({ id, issuer, destination: undefined, now: now(), inResponseTo: requestId, status });
    },
  };
}

/** The connections with this issuer; each may pin other keys. */
async function sendersOf(
  { connections, identityProviders }: UpstreamSamlServices,
  issuer: string,
): Promise<ReturnType<typeof senderOf>[]> {
  const senders = [];
  for (const connection of await connections.list()) {
    if (connection.kind !== 'saml') continue;
    const identityProvider = await identityProviders.of(connection).catch(noMetadata);
    if (identityProvider?.entityId === issuer) senders.push(senderOf(connection, identityProvider));
  }
  if (senders.length === 0) throw new SamlError('wrong_issuer', { detail: issuer });
  return senders;
}

function noMetadata(error: unknown): undefined {
  if (!(error instanceof FederationError)) throw error;
}

async function endSessions(
  {
    upstreamSessions: sessions,
    identityProviders,
    ownServiceProvider,
    endSession,
    audit,
    repeatedEntries,
  }: UpstreamSamlServices,
  { connection, connections, request }: VerifiedRequest,
  by: { request: RequestInfo; frontChannel?: FrontChannel },
): Promise<SamlStatus | { runId: string }> {
  const { entityId } = await identityProviders.of(connection);
  const data = { connection: connection.id };
  const event = { type: 'saml.logout', clientId: entityId, request: by.request, data } as const;
  const { nameId } = request;
  if (!nameId) {
    await repeatedEntries.record({ ...event, outcome: 'failure', reason: 'name_id_encrypted' });
    return { code: statusCodes.Requester, subcode: statusCodes.RequestUnsupported };
  }
  const named = [];
  for (const one of connections) {
    const parties = { identityProvider: entityId, serviceProvider: ownServiceProvider.entityIdFor(one) };
    const stored = (await sessions.ofNameId(one.id, nameId.value)).flatMap(participationOf);
    named.push(...selectSessions({ ...request, nameId }, stored, parties));
  }
  const [first] = named;
  if (!first) {
    await repeatedEntries.record({ ...event, outcome: 'failure', reason: 'no_such_session' });
    return { code: statusCodes.Requester, subcode: statusCodes.UnknownPrincipal };
  }
  const uids = named.map(({ sessionUid }) => sessionUid);
  const ended = await endSession.several(uids, 'upstream-signed-out', by);
  await audit.record({ ...event, outcome: 'success', subjectId: first.userId });
  const run = ended?.run;
  const needsBrowser = by.frontChannel !== undefined && run !== undefined && run.browserSteps + run.deliveries > 0;
  if (needsBrowser) return { runId: run.id };
  const subcode = run && run.notNotified.length > 0 ? { subcode: statusCodes.PartialLogout } : {};
  return { code: statusCodes.Success, ...subcode };
}

function participationOf({ handle, sessionUid, userId }: UpstreamSession) {
  if (handle?.kind !== 'saml') return [];
  return [{ nameId: asNameId(handle.nameId), sessionIndex: handle.sessionIndex ?? '', sessionUid, userId }];
}
