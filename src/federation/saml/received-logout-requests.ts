// Single logout that a SAML upstream begins (SAML Profiles 4.4): its LogoutRequest ends the sessions here and everything downstream.

import type { RequestInfo } from '../../base/platform/request-info.ts';
import type { Core } from '../../core/core.ts';
import type { FrontChannel } from '../../protocols/logout/logout-run.ts';
import { newMessageId } from '../../protocols/saml/messages/message-id.ts';
import {
  authenticateMessage,
  type OpenedMessage,
  type TrustedMessage,
} from '../../protocols/saml/messages/open-message.ts';
import { type LogoutRequest, readLogoutRequest } from '../../protocols/saml/messages/read-logout.ts';
import type { SeenMessages } from '../../protocols/saml/messages/seen-messages.ts';
import { logoutResponse } from '../../protocols/saml/messages/write-logout.ts';
import { selectSessions } from '../../protocols/saml/slo/select-sessions.ts';
import { SamlError, type SamlStatus } from '../../protocols/saml/xml/errors.ts';
import { statusCodes } from '../../protocols/saml/xml/names.ts';
import { parseXml } from '../../protocols/saml/xml/parse.ts';
import type { XmlElement } from '../../protocols/saml/xml/write.ts';
import type { SessionServices } from '../../protocols/session-services.ts';
import type { SamlConnection } from '../connections/connection.ts';
import { FederationError } from '../faults.ts';
import type { FederationServices } from '../federation-services.ts';
import type { UpstreamRedirect } from '../upstream.ts';
import type { UpstreamSession } from '../upstream-session-rows.ts';
import type { IdentityProvider, IdentityProviders } from './identity-provider.ts';
import { asNameId, browserEndpoint, encodeForBinding, expectedFrom, senderKeys } from './logout-messages.ts';
import type { ServiceProvider } from './service-provider.ts';

/** What the answer to a LogoutRequest needs. */
export interface AcceptedRequest {
  connection: SamlConnection;
  requestId: string;
}

/** A new LogoutRequest, and every connection to its sender whose keys verify it; the answer goes out over the first. */
export interface VerifiedRequest extends AcceptedRequest {
  request: LogoutRequest;
  connections: [SamlConnection, ...SamlConnection[]];
}

export type ReceivedLogoutRequests = ReturnType<typeof createReceivedLogoutRequests>;

export function createReceivedLogoutRequests(
  dependencies: Core &
    SessionServices &
    FederationServices & {
      identityProviders: IdentityProviders;
      serviceProvider: ServiceProvider;
      seenMessages: SeenMessages;
      skewSeconds(): number;
    },
) {
  const { serviceProvider, identityProviders, seenMessages, now } = dependencies;
  return {
    /** Verifies the LogoutRequest. Throws SamlError. */
    async accept(opened: OpenedMessage): Promise<VerifiedRequest> {
      const entityId = opened.claimedIssuer;
      const { message, connections } = await verifiedBy(opened, await sendersOf(dependencies, entityId));
      const request = readLogoutRequest(message, expectedFrom(dependencies, entityId));
      if (!(await seenMessages.isNew(entityId, request.id))) throw new SamlError('replayed');
      return { connection: connections[0], connections, requestId: request.id, request };
    },

    /** Ends the sessions that the request names; the status to answer with, or the logout run that has to complete first. */
    endSessions: (
      accepted: VerifiedRequest,
      by: { request: RequestInfo; frontChannel?: FrontChannel },
    ): Promise<SamlStatus | { runId: string }> => endSessions(dependencies, accepted, by),

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
      const issuer = serviceProvider.entityIdFor(connection);
      const message = logoutResponse({
        id: newMessageId(),
        issuer,
        destination,
        now: now(),
        inResponseTo: requestId,
        status,
      });
      return encodeForBinding(
        serviceProvider,
        { ...target, location: destination },
        'SAMLResponse',
        message,
        relayState,
      );
    },

    /** The unsigned answer to a SOAP request. */
    soapAnswer({ connection, requestId }: AcceptedRequest, status: SamlStatus): XmlElement {
      const issuer = serviceProvider.entityIdFor(connection);
      const id = newMessageId();
      // A response on the same connection goes to nobody else.
      return logoutResponse({ id, issuer, destination: undefined, now: now(), inResponseTo: requestId, status });
    },
  };
}

type KnownSender = [SamlConnection, IdentityProvider];

/** The connections with this issuer; each may pin other keys. */
async function sendersOf(
  { connections, identityProviders }: FederationServices & { identityProviders: IdentityProviders },
  issuer: string,
): Promise<KnownSender[]> {
  const senders: KnownSender[] = [];
  for (const connection of await connections.list()) {
    if (connection.kind !== 'saml') continue;
    const identityProvider = await identityProviders.of(connection).catch(noMetadata);
    if (identityProvider?.entityId === issuer) senders.push([connection, identityProvider]);
  }
  if (senders.length === 0) throw new SamlError('wrong_issuer', { detail: issuer });
  return senders;
}

/** The message and the connections whose keys verify it. Throws the SamlError of the first connection when none does. */
async function verifiedBy(opened: OpenedMessage, senders: readonly KnownSender[]) {
  const connections: SamlConnection[] = [];
  let message: TrustedMessage | undefined;
  let fault: unknown;
  for (const [connection, identityProvider] of senders) {
    try {
      // Parsed again each time, because a verification takes the signature out of the tree.
      const unverified = parseXml(opened.decoded.xml);
      message = await authenticateMessage({ ...opened, unverified }, senderKeys(connection, identityProvider));
      connections.push(connection);
    } catch (error) {
      if (!(error instanceof SamlError)) throw error;
      fault ??= error;
    }
  }
  const [first, ...others] = connections;
  if (!first || !message) throw fault;
  return { message, connections: [first, ...others] as [SamlConnection, ...SamlConnection[]] };
}

function noMetadata(error: unknown): undefined {
  if (!(error instanceof FederationError)) throw error;
}

async function endSessions(
  {
    upstreamSessions: sessions,
    identityProviders,
    serviceProvider,
    endSession,
    audit,
    repeatedEntries,
  }: Core &
    SessionServices &
    FederationServices & { identityProviders: IdentityProviders; serviceProvider: ServiceProvider },
  { connections, request }: VerifiedRequest,
  by: { request: RequestInfo; frontChannel?: FrontChannel },
): Promise<SamlStatus | { runId: string }> {
  const [{ id }] = connections;
  const { entityId } = await identityProviders.of(connections[0]);
  const event = { type: 'saml.logout', clientId: entityId, request: by.request, data: { connection: id } } as const;
  const { nameId } = request;
  if (!nameId) {
    await repeatedEntries.record({ ...event, outcome: 'failure', reason: 'name_id_encrypted' });
    return { code: statusCodes.Requester, subcode: statusCodes.RequestUnsupported };
  }
  const named = [];
  for (const connection of connections) {
    const parties = { identityProvider: entityId, serviceProvider: serviceProvider.entityIdFor(connection) };
    const stored = (await sessions.ofNameId(connection.id, nameId.value)).flatMap(participationOf);
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
