// Whether an authentic answer is the one to this request, for this server, and valid now (SAML Profiles 4.1.4.3). Pure; each check
// that passes is listed for "Try it", and the first that fails is thrown with what was expected and received.

import type { RuleId } from '../../core/rejections/rules.ts';
import type { TrustedResponse } from '../../protocols/saml/messages/open-response.ts';
import {
  type Assertion,
  type Authentication,
  type ReceivedStatus,
  readAssertion,
  readResponseHead,
} from '../../protocols/saml/messages/read-assertion.ts';
import { isSameAddress } from '../../protocols/saml/xml/addresses.ts';
import { statusCodes } from '../../protocols/saml/xml/names.ts';
import { FederationError } from '../faults.ts';
import type { PassedCheck } from '../upstream.ts';

export interface AnswerExpectation {
  /** Entity ID of the upstream. */
  issuer: string;
  /** Entity ID of this server. */
  audience: string;
  acsUrl: string;
  requestId: string;
  /** When the request was sent, by the clock of this server. */
  sentAt: Date;
  now: Date;
  /** How far the two clocks may differ. */
  skewSeconds: number;
}

export interface CheckedAnswer {
  assertion: Assertion;
  authentication: Authentication;
  checks: PassedCheck[];
}

/** Throws FederationError upstream_denied or upstream_answer_invalid. */
export function checkAnswer(trusted: TrustedResponse, expected: AnswerExpectation): CheckedAnswer {
  const checks: PassedCheck[] = [];
  const check = (rule: RuleId, name: string, isMet: boolean, wanted: string, received: string | undefined) => {
    if (!isMet) throw mismatch(rule, name, wanted, received);
    checks.push({ name, expected: wanted, received: received ?? 'nothing' });
  };
  if (trusted.response) checkResponse(trusted.response, expected, check);
  if (!trusted.assertion) throw denied({ code: statusCodes.Success, subcode: undefined, message: 'no assertion' });
  const assertion = readAssertion(trusted.assertion);
  check('issuer', 'Issuer of the assertion', assertion.issuer === expected.issuer, expected.issuer, assertion.issuer);
  checkConditions(assertion, expected, check);
  checkConfirmation(assertion, expected, check);
  const { authentication } = assertion;
  if (!authentication) throw mismatch('statement', 'AuthnStatement', 'one', undefined);
  checkAuthentication(authentication, expected, check);
  return { assertion, authentication, checks };
}

type Check = (rule: RuleId, name: string, isMet: boolean, wanted: string, received: string | undefined) => void;

function checkResponse(response: Element, { issuer, acsUrl, requestId }: AnswerExpectation, check: Check): void {
  const head = readResponseHead(response);
  check('issuer', 'Issuer of the Response', (head.issuer ?? issuer) === issuer, issuer, head.issuer);
  // Bindings 3.5.5.2: a signed Response without one could have been meant for another service provider.
  check('destination', 'Destination', isAcs(head.destination, acsUrl), acsUrl, head.destination);
  check(
    'in_response_to',
    'InResponseTo of the Response',
    head.inResponseTo === requestId,
    requestId,
    head.inResponseTo,
  );
  if (head.status.code !== statusCodes.Success) throw denied(head.status);
}

function checkConditions(assertion: Assertion, expected: AnswerExpectation, check: Check): void {
  const { audience, now, sentAt, skewSeconds } = expected;
  const { audienceRestrictions, unknownConditions, issueInstant, notBefore, notOnOrAfter } = assertion;
  const skew = skewSeconds * 1000;
  check(
    'conditions',
    'Conditions',
    unknownConditions.length === 0,
    'only known ones',
    unknownConditions.join(' ') || 'known',
  );
  const isForUs = audienceRestrictions.length > 0 && audienceRestrictions.every((list) => list.includes(audience));
  check('audience', 'Audience', isForUs, audience, audienceRestrictions.flat().join(', ') || undefined);
  const time = now.getTime();
  const clock = `about ${now.toISOString()}`;
  // An assertion that is older than the request was made for another one.
  const issued = issueInstant?.getTime() ?? 0;
  const isIssuedNow = issued >= sentAt.getTime() - skew && issued <= time + skew;
  check('time', 'IssueInstant', isIssuedNow, `after ${sentAt.toISOString()}`, issueInstant?.toISOString());
  const hasBegun = notBefore === undefined || notBefore.getTime() <= time + skew;
  check('time', 'NotBefore', hasBegun, clock, notBefore?.toISOString());
  const isValid = notOnOrAfter === undefined || notOnOrAfter.getTime() > time - skew;
  check('time', 'NotOnOrAfter', isValid, clock, notOnOrAfter?.toISOString());
}

function isAcs(address: string | undefined, acsUrl: string): boolean {
  return address !== undefined && isSameAddress(address, acsUrl);
}

/** One bearer confirmation has to meet every rule (Profiles 4.1.4.2). */
function checkConfirmation({ confirmations }: Assertion, expected: AnswerExpectation, check: Check): void {
  const { acsUrl, requestId, now, skewSeconds } = expected;
  const isInTime = (end: Date | undefined) => end !== undefined && end.getTime() > now.getTime() - skewSeconds * 1000;
  check(
    'confirmation',
    'SubjectConfirmation',
    confirmations.length > 0,
    'bearer',
    confirmations.length > 0 ? 'bearer' : undefined,
  );
  const ofRequest = confirmations.filter(({ inResponseTo }) => inResponseTo === requestId);
  check('in_response_to', 'InResponseTo', ofRequest.length > 0, requestId, confirmations[0]?.inResponseTo);
  const forUs = ofRequest.filter(({ recipient }) => isAcs(recipient, acsUrl));
  check('recipient', 'Recipient', forUs.length > 0, acsUrl, ofRequest[0]?.recipient);
  const valid = forUs.filter(({ notOnOrAfter, hasNotBefore }) => isInTime(notOnOrAfter) && !hasNotBefore);
  const [first] = forUs;
  check(
    'time',
    'SubjectConfirmation NotOnOrAfter',
    valid.length > 0,
    `after ${now.toISOString()}, and no NotBefore`,
    first?.hasNotBefore ? 'a NotBefore' : first?.notOnOrAfter?.toISOString(),
  );
}

function checkAuthentication(statement: Authentication, { now, skewSeconds }: AnswerExpectation, check: Check): void {
  const skew = skewSeconds * 1000;
  const { instant, sessionNotOnOrAfter, isUnreadable } = statement;
  const isPast = instant !== undefined && instant.getTime() <= now.getTime() + skew;
  check('time', 'AuthnInstant', isPast, `before ${now.toISOString()}`, instant?.toISOString());
  const lasts = !isUnreadable && (sessionNotOnOrAfter?.getTime() ?? Number.POSITIVE_INFINITY) > now.getTime() - skew;
  check('time', 'SessionNotOnOrAfter', lasts, `after ${now.toISOString()}`, sessionNotOnOrAfter?.toISOString());
}

function mismatch(rule: RuleId, name: string, expected: string, received = 'nothing'): FederationError {
  return new FederationError('upstream_answer_invalid', {
    rule,
    message: `${name} isn’t as expected.`,
    expected,
    received,
  });
}

const DENIED: readonly string[] = [
  statusCodes.AuthnFailed,
  statusCodes.NoAuthnContext,
  statusCodes.NoPassive,
  statusCodes.RequestDenied,
  statusCodes.UnknownPrincipal,
];

/** The upstream answers without an assertion: the user or its policy rejected the sign-in, or it rejects the request. */
function denied({ code, subcode, message }: ReceivedStatus): FederationError {
  const nameOf = (uri: string) => uri.slice(uri.lastIndexOf(':') + 1);
  const status = [code, subcode].flatMap((uri) => (uri ? [nameOf(uri)] : [])).join(', ');
  const isDenied = [code, subcode].some((uri) => uri !== undefined && DENIED.includes(uri));
  return new FederationError(isDenied ? 'upstream_denied' : 'upstream_answer_invalid', {
    rule: 'answer',
    message: `The identity provider answers ${status}${message ? `: ${message}` : ''}`,
    expected: 'Success, with an assertion',
    received: status,
  });
}
