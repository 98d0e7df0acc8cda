// Received logout messages as plain data (SAML Core 3.7, Profiles 4.4), of service providers and of upstream identity providers. Only
// signed messages are accepted, because they end sessions, whatever the registration of the sender says of its other messages.

import type { SenderKeys } from '../xml/enveloped-signature.ts';
import { SamlError } from '../xml/errors.ts';
import { statusCodes } from '../xml/names.ts';
import { parseXml } from '../xml/parse.ts';
import { attribute, childOf, childrenOf, textOf, timeAttribute } from '../xml/read.ts';
import { checkHead, type Expectation, type MessageHead, readHead } from './message-head.ts';
import { type NameId, readNameId } from './name-id.ts';
import { authenticateMessage, type OpenedMessage, type TrustedMessage } from './open-message.ts';

export interface LogoutRequest extends MessageHead {
  /** Undefined when it is absent or encrypted; the IdP metadata has no encryption key. */
  nameId: NameId | undefined;
  /** Empty: every session of this user at this service provider. */
  sessionIndexes: string[];
  notOnOrAfter: Date | undefined;
}

export interface LogoutResponse extends MessageHead {
  inResponseTo: string;
  /** Top-level and second-level status code. */
  statusCode: string;
  subcode: string | undefined;
  succeeded: boolean;
}

/**
 * Authenticates and reads a LogoutRequest; the caller checks its ID for replay.
 *
 * @param senders the registrations of its issuer, which may differ in their keys
 * @returns with those whose keys verify the message. Throws the SamlError of the first one when none does.
 */
export async function receiveLogoutRequest<One extends SenderKeys>(
  opened: OpenedMessage,
  senders: readonly One[],
  expectation: Expectation,
): Promise<{ request: LogoutRequest; senders: [One, ...One[]] }> {
  const verifying: One[] = [];
  let message: TrustedMessage | undefined;
  let fault: unknown = new SamlError('wrong_issuer', { detail: opened.claimedIssuer });
  for (const sender of senders) {
    try {
      // Parsed again each time, because a verification takes the signature out of the tree.
      const unverified = senders.length > 1 ? parseXml(opened.decoded.xml) : opened.unverified;
      message = await authenticateMessage({ ...opened, unverified }, { ...sender, requireSigned: true });
      verifying.push(sender);
    } catch (error) {
      if (!(error instanceof SamlError)) throw error;
      if (sender === senders[0]) fault = error;
    }
  }
  const [first, ...others] = verifying;
  if (!first || !message) throw fault;
  return { request: readLogoutRequest(message, expectation), senders: [first, ...others] };
}

/** Authenticates and reads the LogoutResponse to the LogoutRequest `requestId`. Throws SamlError. */
export async function receiveLogoutResponse(
  opened: OpenedMessage,
  sender: SenderKeys,
  expectation: Expectation & {
    requestId: string;
    /** TLS has authenticated the responder, so that a response without a signature counts (Bindings 3.2.3). */
    isProvenByTransport?: boolean;
  },
): Promise<LogoutResponse> {
  if (opened.claimedIssuer !== expectation.entityId) throw new SamlError('wrong_issuer');
  const { isProvenByTransport = false } = expectation;
  const message = await authenticateMessage(opened, { ...sender, requireSigned: !isProvenByTransport });
  return readLogoutResponse({ ...message, signed: message.signed || isProvenByTransport }, expectation);
}

/** Reads and checks a LogoutRequest; `selectSessions` finds the sessions it names. Throws SamlError. */
export function readLogoutRequest(message: TrustedMessage, expectation: Expectation): LogoutRequest {
  const { root } = message;
  const head = checkedHead(message, 'LogoutRequest', expectation);
  const notOnOrAfter = timeAttribute(root, 'NotOnOrAfter');
  if (attribute(root, 'NotOnOrAfter') !== undefined) {
    const lastMoment = (notOnOrAfter?.getTime() ?? 0) + (expectation.skewSeconds ?? 0) * 1000;
    if (expectation.now.getTime() >= lastMoment) throw new SamlError('expired', { detail: notOnOrAfter });
  }
  const sessionIndexes = childrenOf(root, 'samlp:SessionIndex').map(textOf);
  return { ...head, nameId: readNameId(root), sessionIndexes, notOnOrAfter };
}

/** Reads and checks a LogoutResponse. `requestId` is the ID of the LogoutRequest. Throws SamlError. */
export function readLogoutResponse(
  message: TrustedMessage,
  expectation: Expectation & { requestId: string },
): LogoutResponse {
  const head = checkedHead(message, 'LogoutResponse', expectation);
  const inResponseTo = attribute(message.root, 'InResponseTo') ?? '';
  if (inResponseTo !== expectation.requestId) throw new SamlError('unexpected_response', { detail: inResponseTo });
  const status = childOf(message.root, 'samlp:Status');
  const outer = status && childOf(status, 'samlp:StatusCode');
  const inner = outer && childOf(outer, 'samlp:StatusCode');
  const statusCode = (outer && attribute(outer, 'Value')) ?? '';
  const subcode = inner && attribute(inner, 'Value');
  return {
    ...head,
    inResponseTo,
    statusCode,
    subcode,
    succeeded: statusCode === statusCodes.Success && subcode !== statusCodes.PartialLogout,
  };
}

/** InResponseTo of an unauthenticated message, only to find the logout run it may belong to. */
export function claimedInResponseTo(root: Element): string | undefined {
  return attribute(root, 'InResponseTo');
}

function checkedHead(
  message: TrustedMessage,
  name: 'LogoutRequest' | 'LogoutResponse',
  expectation: Expectation,
): MessageHead {
  if (message.name !== name) throw new SamlError('wrong_root', { detail: message.name });
  if (!message.signed) throw new SamlError('signature_missing');
  const head = readHead(message);
  checkHead(head, expectation);
  return head;
}
