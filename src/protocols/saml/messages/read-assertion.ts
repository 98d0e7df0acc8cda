// A received assertion and its Response as plain data (SAML Core 2.3.3, 3.3.3), read from authenticated trees. Nothing is judged
// here but what has no meaning at all.
import { SamlError } from '../xml/errors.ts';
import { bearer, entityFormat, standardFormat } from '../xml/names.ts';
import { attribute, childOf, childrenOf, elements, isElement, textOf, timeAttribute } from '../xml/read.ts';
import { type NameId, readNameId } from './name-id.ts';
import type { TrustedResponse } from './open-response.ts';

/** A bearer SubjectConfirmation (Profiles 4.1.4.2). */
export interface BearerConfirmation {
  recipient: string | undefined;
  inResponseTo: string | undefined;
  notOnOrAfter: Date | undefined;
  hasNotBefore: boolean;
}

export interface ReceivedAttribute {
  name: string;
  friendlyName: string | undefined;
  values: string[];
}

export interface Assertion {
  id: string;
  issuer: string;
  issueInstant: Date | undefined;
  /** Undefined when it is absent or encrypted. */
  nameId: NameId | undefined;
  confirmations: BearerConfirmation[];
  notBefore: Date | undefined;
  notOnOrAfter: Date | undefined;
  /** The audiences of each AudienceRestriction; all of them apply. */
  audienceRestrictions: string[][];
  /** Conditions that are not understood here; such an assertion is invalid (Core 2.5.1). */
  unknownConditions: string[];
  /** The first AuthnStatement. */
  authentication: Authentication | undefined;
  attributes: ReceivedAttribute[];
}

export interface Authentication {
  instant: Date | undefined;
  sessionIndex: string | undefined;
  sessionNotOnOrAfter: Date | undefined;
  /** A SessionNotOnOrAfter that is no time. */
  isUnreadable: boolean;
  contextClass: string | undefined;
}

export interface ReceivedStatus {
  code: string;
  subcode: string | undefined;
  message: string | undefined;
}

/** What a signed Response says beside its assertion. */
export interface ResponseHead {
  issuer: string | undefined;
  destination: string | undefined;
  inResponseTo: string | undefined;
  status: ReceivedStatus;
}

const MAX_ID = 256;

/** Of a Response that is signed as a whole. */
export function readResponseHead(response: Element): ResponseHead {
  const issuer = childOf(response, 'saml:Issuer');
  const status = childOf(response, 'samlp:Status');
  const outer = status && childOf(status, 'samlp:StatusCode');
  const inner = outer && childOf(outer, 'samlp:StatusCode');
  const message = status && childOf(status, 'samlp:StatusMessage');
  return {
    issuer: issuer && textOf(issuer),
    destination: attribute(response, 'Destination'),
    inResponseTo: attribute(response, 'InResponseTo'),
    status: {
      code: (outer && attribute(outer, 'Value')) ?? '',
      subcode: inner && attribute(inner, 'Value'),
      message: message && textOf(message),
    },
  };
}

/** Throws SamlError for an ID or Issuer that no assertion has. */
export function readAssertion(root: Element): Assertion {
  const id = attribute(root, 'ID') ?? '';
  const issuer = childOf(root, 'saml:Issuer');
  if (!issuer || standardFormat(attribute(issuer, 'Format') ?? entityFormat) !== entityFormat)
    throw new SamlError('wrong_issuer');
  if (id === '' || id.length > MAX_ID) throw new SamlError('not_schema_valid', { detail: 'ID' });
  const subject = childOf(root, 'saml:Subject');
  const conditions = childOf(root, 'saml:Conditions');
  const statements = childrenOf(root, 'saml:AuthnStatement');
  return {
    id,
    issuer: textOf(issuer),
    issueInstant: timeAttribute(root, 'IssueInstant'),
    nameId: subject && readNameId(subject),
    confirmations: subject ? childrenOf(subject, 'saml:SubjectConfirmation').flatMap(readConfirmation) : [],
    ...readConditions(conditions),
    authentication: statements[0] && readAuthentication(statements[0]),
    attributes: childrenOf(root, 'saml:AttributeStatement')
      .flatMap((statement) => childrenOf(statement, 'saml:Attribute'))
      .map(readAttribute),
  };
}

/** The request that the answer claims to belong to; undefined for an unsolicited one. */
export function inResponseToOf({ response, assertion }: TrustedResponse): string | undefined {
  const subject = assertion && childOf(assertion, 'saml:Subject');
  const confirmed = subject && childrenOf(subject, 'saml:SubjectConfirmation').flatMap(readConfirmation);
  const found = confirmed?.find(({ inResponseTo }) => inResponseTo !== undefined)?.inResponseTo;
  return found ?? (response && attribute(response, 'InResponseTo'));
}

function readConfirmation(confirmation: Element): BearerConfirmation[] {
  if (attribute(confirmation, 'Method') !== bearer) return [];
  const data = childOf(confirmation, 'saml:SubjectConfirmationData');
  if (!data) return [];
  return [
    {
      recipient: attribute(data, 'Recipient'),
      inResponseTo: attribute(data, 'InResponseTo'),
      notOnOrAfter: timeAttribute(data, 'NotOnOrAfter'),
      hasNotBefore: attribute(data, 'NotBefore') !== undefined,
    },
  ];
}

function readConditions(conditions: Element | undefined) {
  const restrictions = conditions ? childrenOf(conditions, 'saml:AudienceRestriction') : [];
  const others = conditions ? elements(conditions).filter((child) => !restrictions.includes(child)) : [];
  const unreadable = (['NotBefore', 'NotOnOrAfter'] as const).filter(
    (name) => conditions && attribute(conditions, name) !== undefined && !timeAttribute(conditions, name),
  );
  return {
    notBefore: conditions && timeAttribute(conditions, 'NotBefore'),
    notOnOrAfter: conditions && timeAttribute(conditions, 'NotOnOrAfter'),
    audienceRestrictions: restrictions.map((one) => childrenOf(one, 'saml:Audience').map(textOf)),
    unknownConditions: [...unreadable, ...others.filter((child) => !isHarmless(child)).map(({ nodeName }) => nodeName)],
  };
}

/** OneTimeUse holds for every assertion here. ProxyRestriction matters where it forbids what this server does: assertions of its own. */
function isHarmless(condition: Element): boolean {
  if (isElement(condition, 'saml:OneTimeUse')) return true;
  return isElement(condition, 'saml:ProxyRestriction') && attribute(condition, 'Count') !== '0';
}

function readAuthentication(statement: Element): Authentication {
  const context = childOf(statement, 'saml:AuthnContext');
  const contextClass = context && childOf(context, 'saml:AuthnContextClassRef');
  const sessionNotOnOrAfter = timeAttribute(statement, 'SessionNotOnOrAfter');
  return {
    instant: timeAttribute(statement, 'AuthnInstant'),
    sessionIndex: attribute(statement, 'SessionIndex') || undefined,
    sessionNotOnOrAfter,
    isUnreadable: attribute(statement, 'SessionNotOnOrAfter') !== undefined && sessionNotOnOrAfter === undefined,
    contextClass: contextClass && textOf(contextClass),
  };
}

/** A value is the text of its element; one that holds elements, such as eduPersonTargetedID, the text of those. */
function readAttribute(element: Element): ReceivedAttribute {
  return {
    name: attribute(element, 'Name') ?? '',
    friendlyName: attribute(element, 'FriendlyName') || undefined,
    values: childrenOf(element, 'saml:AttributeValue')
      .map(textOf)
      .filter((value) => value !== ''),
  };
}
