// Single logout with SAML upstreams (SAML Profiles 4.4): a LogoutRequest from the upstream ends the sessions here and everything
// downstream; a logout here sends a LogoutRequest to the upstream.
import type { Audit } from '../../audit/audit.ts';
import type { RepeatedEntries } from '../../audit/repeated-entries.ts';
import type { SamlConnection } from '../../connections/connection.ts';
import type { Connections } from '../../connections/connections.ts';
import type { EndSession } from '../../logout/end-session.ts';
import type { FrontChannel } from '../../logout/logout-run.ts';
import type { Clock } from '../../platform/clock.ts';
import type { RequestInfo } from '../../platform/request-info.ts';
import { postMessage, redirectUrl } from '../../saml/messages/encode.ts';
import { newMessageId } from '../../saml/messages/message-id.ts';
import type { NameId } from '../../saml/messages/name-id.ts';
import {
  authenticateMessage,
  type OpenedMessage,
  type Sender,
  type TrustedMessage,
} from '../../saml/messages/open-message.ts';
import { type LogoutRequest, readLogoutRequest, readLogoutResponse } from '../../saml/messages/read-logout.ts';
import type { SeenMessages } from '../../saml/messages/seen-messages.ts';
import { logoutRequest, logoutResponse } from '../../saml/messages/write-logout.ts';
import type { SloEndpoint } from '../../saml/metadata/entity.ts';
import { selectSessions } from '../../saml/slo/select-sessions.ts';
import { SamlError, type SamlStatus } from '../../saml/xml/errors.ts';
import { statusCodes } from '../../saml/xml/names.ts';
import { parseXml } from '../../saml/xml/parse.ts';
import type { XmlElement } from '../../saml/xml/write.ts';
import { FederationError } from '../faults.ts';
import type { UpstreamSession, UpstreamSessions } from '../sessions.ts';
import type { UpstreamRedirect, UpstreamSessionHandle } from '../upstream.ts';
import type { IdentityProvider, IdentityProviders } from './identity-provider.ts';
import type { ServiceProvider } from './service-provider.ts';

export interface UpstreamLogoutDependencies {
  connections: Pick<Connections, 'list' | 'find'>;
  identityProviders: IdentityProviders;
  serviceProvider: ServiceProvider;
  sessions: Pick<UpstreamSessions, 'ofNameId'>;
  endSession: Pick<EndSession, 'several'>;
  seenMessages: SeenMessages;
  audit: Pick<Audit, 'record'>;
  repeatedEntries: Pick<RepeatedEntries, 'record'>;
  now: Clock;
  skewSeconds(): number;
}

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

export interface UpstreamLogout {
  /** Verifies the LogoutRequest. Throws SamlError. */
  accept(opened: OpenedMessage): Promise<VerifiedRequest>;
  /** Ends the sessions that the request names; the status to answer with, or the logout run that has to complete first. */
  endSessions(
    accepted: VerifiedRequest,
    by: { request: RequestInfo; frontChannel?: FrontChannel },
  ): Promise<SamlStatus | { runId: string }>;
  /** The answer through the browser; undefined when the upstream has no endpoint for it. */
  answer(
    accepted: AcceptedRequest,
    how: { binding: 'redirect' | 'post'; relayState: string | undefined; status: SamlStatus },
  ): Promise<UpstreamRedirect | undefined>;
  /** The unsigned answer to a SOAP request. */
  soapAnswer(accepted: AcceptedRequest, status: SamlStatus): XmlElement;
  /**
   * Our own LogoutRequest, signed, for the session at the upstream; undefined when the upstream has no endpoint for it.
   * Its answer comes to /saml/sp/slo and is read by `isConfirmed`.
   */
  request(
    connection: SamlConnection,
    handle: Extract<UpstreamSessionHandle, { kind: 'saml' }>,
    relayState?: string,
  ): Promise<{ messageId: string; redirect: UpstreamRedirect } | undefined>;
  /** The address of its single logout; undefined when the upstream has none. */
  addressOf(connection: SamlConnection): Promise<string | undefined>;
  /** Whether a LogoutResponse confirms that request. Throws SamlError when it is not authentic. */
  isConfirmed(connection: SamlConnection, opened: OpenedMessage, messageId: string): Promise<boolean>;
}

export function createUpstreamLogout(dependencies: UpstreamLogoutDependencies): UpstreamLogout {
  const { serviceProvider, identityProviders, seenMessages, now, skewSeconds } = dependencies;
  const expectation = (entityId: string) => ({
    ...{ entityId, endpoint: serviceProvider.sloUrl, now: now(), skewSeconds: skewSeconds() },
  });

  return {
    async accept(opened) {
      const entityId = opened.claimedIssuer;
      const { message, connections } = verifiedBy(opened, await sendersOf(dependencies, entityId));
      const request = readLogoutRequest(message, expectation(entityId));
      if (!(await seenMessages.isNew(entityId, request.id))) throw new SamlError('replayed');
      return { connection: connections[0], connections, requestId: request.id, request };
    },

    endSessions: (accepted, by) => endSessions(dependencies, accepted, by),

    async answer({ connection, requestId }, { binding, relayState, status }) {
      const { slo } = await identityProviders.of(connection);
      const target = browserEndpoint(slo, binding);
      if (!target) return undefined;
      const destination = target.responseLocation ?? target.location;
      const issuer = serviceProvider.entityIdFor(connection);
      const message = logoutResponse({
        ...{ id: newMessageId(), issuer, destination, now: now(), inResponseTo: requestId, status },
      });
      return sendThrough(serviceProvider, { ...target, location: destination }, 'SAMLResponse', message, relayState);
    },

    soapAnswer({ connection, requestId }, status) {
      const issuer = serviceProvider.entityIdFor(connection);
      const id = newMessageId();
      // A response on the same connection goes to nobody else.
      return logoutResponse({ id, issuer, destination: undefined, now: now(), inResponseTo: requestId, status });
    },

    async addressOf(connection) {
      const { slo } = await identityProviders.of(connection);
      return browserEndpoint(slo, 'redirect')?.location;
    },

    async request(connection, { nameId, sessionIndex }, relayState) {
      const { slo } = await identityProviders.of(connection);
      const target = browserEndpoint(slo, 'redirect');
      if (!target) return undefined;
      const messageId = newMessageId();
      const message = logoutRequest({
        ...{ id: messageId, issuer: serviceProvider.entityIdFor(connection), destination: target.location, now: now() },
        nameId: asNameId(nameId),
        sessionIndexes: sessionIndex === undefined ? [] : [sessionIndex],
        reason: 'user',
      });
      return { messageId, redirect: sendThrough(serviceProvider, target, 'SAMLRequest', message, relayState) };
    },

    async isConfirmed(connection, opened, messageId) {
      const identityProvider = await identityProviders.of(connection);
      const { entityId } = identityProvider;
      if (opened.claimedIssuer !== entityId) throw new SamlError('wrong_issuer');
      const message = authenticateMessage(opened, senderKeys(connection, identityProvider));
      return readLogoutResponse(message, { ...expectation(entityId), requestId: messageId }).succeeded;
    },
  };
}

type KnownSender = [SamlConnection, IdentityProvider];

/** The connections with this issuer; each may pin other keys. */
async function sendersOf(
  { connections, identityProviders }: UpstreamLogoutDependencies,
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
function verifiedBy(opened: OpenedMessage, senders: readonly KnownSender[]) {
  const connections: SamlConnection[] = [];
  let message: TrustedMessage | undefined;
  let fault: unknown;
  for (const [connection, identityProvider] of senders) {
    try {
      // Parsed again each time, because a verification takes the signature out of the tree.
      const unverified = parseXml(opened.decoded.xml);
      message = authenticateMessage({ ...opened, unverified }, senderKeys(connection, identityProvider));
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

/** Ending a session takes a signature. */
function senderKeys({ settings }: SamlConnection, { signingKeys }: IdentityProvider): Sender {
  return { signingKeys, allowSha1: settings.allow_sha1, requireSigned: true };
}

async function endSessions(
  { sessions, identityProviders, serviceProvider, endSession, audit, repeatedEntries }: UpstreamLogoutDependencies,
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
  return needsBrowser ? { runId: run.id } : { code: statusCodes.Success };
}

function participationOf({ handle, sessionUid, userId }: UpstreamSession) {
  if (handle?.kind !== 'saml') return [];
  return [{ nameId: asNameId(handle.nameId), sessionIndex: handle.sessionIndex ?? '', sessionUid, userId }];
}

function asNameId({ value = '', format = '', nameQualifier, spNameQualifier }: Record<string, string>): NameId {
  return { value, format, ...(nameQualifier && { nameQualifier }), ...(spNameQualifier && { spNameQualifier }) };
}

/** By this binding, else by the other one. */
function browserEndpoint(slo: readonly SloEndpoint[], binding: 'redirect' | 'post'): SloEndpoint | undefined {
  const offered = slo.filter((endpoint) => endpoint.binding !== 'soap');
  return offered.find((endpoint) => endpoint.binding === binding) ?? offered[0];
}

function sendThrough(
  { signer }: ServiceProvider,
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
