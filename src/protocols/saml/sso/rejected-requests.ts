// What a rejected AuthnRequest contained, for the list of rejected requests in the console. Nothing here is trusted: the
// certificate is named only when its key made the signature of this request.

import type { KeyObject } from 'node:crypto';
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { Context } from '../../../base/http/context.ts';
import { AppError } from '../../../base/http/errors.ts';
import type { ReceivedParameters } from '../../../core/rejections/rejections.ts';
import type { BrokenRule, RuleResult } from '../../../core/rejections/rules.ts';
import type { People } from '../../../people/people.ts';
import type { RequestedAuthnContext } from '../messages/authn-request.ts';
import { authenticateMessage, type ClaimedMessage, type OpenedMessage } from '../messages/open-message.ts';
import type { ServiceProvider } from '../metadata/service-providers.ts';
import { readCertificate } from '../xml/certificates.ts';
import { SamlError } from '../xml/errors.ts';
import { attribute, childOf, childrenOf, textOf } from '../xml/read.ts';
import { contextText } from './request-checks.ts';

const RECORDED_ATTRIBUTES = [
  'ID',
  'Destination',
  'IssueInstant',
  'AssertionConsumerServiceURL',
  'AssertionConsumerServiceIndex',
  'ProtocolBinding',
  'ForceAuthn',
  'IsPassive',
  'NotOnOrAfter',
];

/** The parameters of the request by name; what is absent or empty is left out. Of a message that cannot be opened, who claims to have sent it. */
export async function requestParameters(opened: OpenedMessage | ClaimedMessage): Promise<ReceivedParameters> {
  if (!isOpened(opened)) return { Issuer: opened.claimedIssuer, binding: opened.decoded.binding };
  const { root } = opened.unverified;
  const policy = childOf(root, 'samlp:NameIDPolicy');
  const context = childOf(root, 'samlp:RequestedAuthnContext');
  const nameId = childOf(root, 'saml:NameID');
  const sessionIndex = childOf(root, 'samlp:SessionIndex');
  const certificate = await signerOf(opened);
  return Object.fromEntries(
    [
      ['Issuer', opened.claimedIssuer],
      ['binding', opened.decoded.binding],
      ...RECORDED_ATTRIBUTES.map((name) => [name, attribute(root, name)]),
      ['NameIDPolicy', policy && (attribute(policy, 'Format') ?? 'any')],
      ['SPNameQualifier', policy && attribute(policy, 'SPNameQualifier')],
      ['AllowCreate', policy && attribute(policy, 'AllowCreate')],
      ['RequestedAuthnContext', context && contextIn(context)],
      // Of a LogoutRequest. The value of a NameID may be personal.
      ['NameID', nameId && (attribute(nameId, 'Format') ?? 'no format')],
      ['SessionIndex', sessionIndex && textOf(sessionIndex)],
      [
        'signed',
        opened.decoded.querySignature || root.getElementsByTagNameNS(DS, 'Signature').length > 0 ? 'yes' : 'no',
      ],
      ['SignatureMethod', opened.decoded.querySignature?.algorithm ?? methodIn(root)],
      ['certificate', certificate],
    ].filter((pair): pair is [string, string] => typeof pair[1] === 'string' && pair[1] !== ''),
  );
}

/** A message that was rejected, as far as it could be read. */
export interface RejectedMessage {
  error: SamlError | AppError;
  message: OpenedMessage | ClaimedMessage | undefined;
  /** Its sender, where that is registered. */
  sp?: ServiceProvider | undefined;
  /** Of a message to /saml/sp/slo: the connection to its sender, where there is one. */
  upstream?: { connectionId: string | undefined };
}

/** Records the rejection for the console. Returns the code that the user sees. */
export async function recordRejection(
  { rejections }: People,
  ctx: Context,
  rulesOf: (brokenRule: BrokenRule) => RuleResult[],
  { error, message, sp, upstream }: RejectedMessage,
): Promise<string> {
  const detail = typeof error.detail === 'string' ? ` (${error.detail})` : '';
  const received = message ? await requestParameters(message) : {};
  return rejections.record(ctx.state.request, {
    endpoint: upstream ? 'upstream' : 'saml',
    reason: error.code,
    message: `${error.message}${detail}`,
    clientId: upstream ? upstream.connectionId : message?.claimedIssuer,
    received,
    rules: rulesOf(await brokenRuleOf(error, message, received, sp?.signingKeys)),
  });
}

/** The error as the rejection of a message; throws any other. */
export async function rejectionIn(error: unknown): Promise<SamlError | AppError> {
  if (!(error instanceof SamlError || error instanceof AppError)) throw error;
  // Parsing an untrusted message took one turn of the event loop; recording its rejection takes another.
  await yieldToEventLoop();
  return error;
}

/** The rule that a message broke. `keys`: those of its sender. */
export async function brokenRuleOf(
  error: SamlError | AppError,
  message: OpenedMessage | ClaimedMessage | undefined,
  received: ReceivedParameters,
  keys: readonly KeyObject[] | undefined,
): Promise<BrokenRule> {
  if (error instanceof SamlError) {
    const isUnverified = error.brokenRule.rule === 'signature' && message && isOpened(message) && keys;
    return isUnverified ? brokenSignatureRule(message, received, keys) : error.brokenRule;
  }
  return error.code === 'service_provider_unknown'
    ? { rule: 'client' }
    : { rule: 'parameters', received: error.message };
}

const isOpened = (message: OpenedMessage | ClaimedMessage): message is OpenedMessage => 'unverified' in message;

function contextIn(context: Element): string {
  const comparison = (attribute(context, 'Comparison') ?? 'exact') as RequestedAuthnContext['comparison'];
  const classes = childrenOf(context, 'saml:AuthnContextClassRef').map(textOf);
  return contextText({
    comparison,
    classes,
    declarations: childrenOf(context, 'saml:AuthnContextDeclRef').map(textOf),
  });
}

const DS = 'http://www.w3.org/2000/09/xmldsig#';
type Root = OpenedMessage['unverified']['root'];

function methodIn(root: Root): string | undefined {
  const [method] = Array.from(root.getElementsByTagNameNS(DS, 'SignatureMethod'));
  return method && attribute(method, 'Algorithm');
}

/**
 * The rule that a signature breaks which no registered key verifies: the key of the certificate in the message made it, it was made without
 * the RelayState, or nobody knows who made it over what.
 */
async function brokenSignatureRule(
  opened: OpenedMessage,
  { certificate }: ReceivedParameters,
  keys: readonly KeyObject[],
): Promise<BrokenRule> {
  if (certificate !== undefined) return { rule: 'certificate' };
  if (await isSignedWithoutRelayState(opened, keys)) {
    const received = 'a signature without RelayState';
    return { rule: 'signature', received, expected: 'a signature over RelayState too' };
  }
  const place = opened.decoded.querySignature ? 'query' : 'message';
  return { rule: 'signature', received: `a signature in the ${place} that no registered certificate verifies` };
}

/** Whether the signature in the query verifies when the RelayState is left out of the signed text. */
async function isSignedWithoutRelayState(opened: OpenedMessage, keys: readonly KeyObject[]): Promise<boolean> {
  const { querySignature } = opened.decoded;
  if (!querySignature) return false;
  const octets = querySignature.octets.map((text) => text.replace(/&RelayState=[^&]*/, ''));
  if (octets[0] === querySignature.octets[0]) return false;
  const decoded = { ...opened.decoded, querySignature: { ...querySignature, octets } };
  const sender = { signingKeys: keys.slice(0, 2), allowSha1: true, requireSigned: true };
  try {
    await authenticateMessage({ ...opened, decoded }, sender);
    return true;
  } catch {
    return false;
  }
}

/** The certificate in the request as PEM, if the request was signed with its key. */
async function signerOf(opened: OpenedMessage): Promise<string | undefined> {
  const [element] = Array.from(opened.unverified.root.getElementsByTagNameNS(DS, 'X509Certificate'));
  const base64 = element && textOf(element).replace(/\s+/g, '');
  if (!base64) return undefined;
  const pem = `-----BEGIN CERTIFICATE-----\n${base64.replace(/(.{64})/g, '$1\n').trim()}\n-----END CERTIFICATE-----`;
  try {
    const { publicKey } = readCertificate(pem);
    await authenticateMessage(opened, { signingKeys: [publicKey], allowSha1: false, requireSigned: true });
    return pem;
  } catch {
    return undefined;
  }
}
