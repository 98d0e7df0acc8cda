// SAML 2.0 as service provider (SAML Profiles 4.1): the protocol of its connections, which sends an AuthnRequest and redeems the answer that
// /saml/acs stored, and its routes.

import { z } from 'zod';
import type { Context } from '../../base/http/context.ts';
import type { Core } from '../../core/core.ts';
import type { RuleId } from '../../core/rejections/rules.ts';
import type { People } from '../../people/people.ts';
import type { LogoutBrowser } from '../../protocols/logout/logout-run.ts';
import type { SessionServices } from '../../protocols/logout/session-services.ts';
import { newMessageId, postMessage, redirectUrl } from '../../protocols/saml/messages/encode.ts';
import type { NameId } from '../../protocols/saml/messages/name-id.ts';
import type { TrustedResponse } from '../../protocols/saml/messages/open-response.ts';
import {
  type Assertion,
  type Authentication,
  type ReceivedAttribute,
  type ReceivedStatus,
  readAssertion,
  readResponseHead,
} from '../../protocols/saml/messages/read-assertion.ts';
import type { SamlServices } from '../../protocols/saml/sso/saml-services.ts';
import { isSameAddress } from '../../protocols/saml/xml/addresses.ts';
import { SamlError } from '../../protocols/saml/xml/errors.ts';
import { bindings, nameIdFormatOf, nameIdFormats, statusCodes } from '../../protocols/saml/xml/names.ts';
import { element, samlTime, type XmlElement } from '../../protocols/saml/xml/write.ts';
import { claimAt, groupNames, textOf } from '../accounts/mapping.ts';
import type { Connection, SamlConnection } from '../connections/connection.ts';
import type { SamlSettings } from '../connections/kinds/saml.ts';
import { type Quirks, quirksOf } from '../connections/presets/presets.ts';
import { FederationError } from '../faults.ts';
import type { FederationServices } from '../federation-services.ts';
import type { UpstreamLogoutProtocol } from '../logout/upstream-participants.ts';
import type { RejectedSignIns } from '../rejected-sign-ins.ts';
import type {
  PassedCheck,
  SentRequest,
  UpstreamAnswer,
  UpstreamIdentity,
  UpstreamProtocol,
  UpstreamRedirect,
  UpstreamRequirements,
} from '../upstream.ts';
import type { UpstreamSignIn } from '../upstream-sign-in.ts';
import { acsRoutes } from './acs-routes.ts';
import {
  asFederationError,
  authenticAnswer,
  createIdentityProviders,
  type UpstreamSamlServices,
} from './identity-provider.ts';
import { createReceivedLogoutRequests, createSentLogoutRequests, type SentLogoutRequests } from './logout.ts';
import { createOwnServiceProvider } from './service-provider.ts';
import { sloRoutes } from './slo-routes.ts';

/** What is stored with a request. */
const memorySchema = z.object({ requestId: z.string() });

function createSamlProtocol(services: UpstreamSamlServices): UpstreamProtocol {
  const { identityProviders, ownServiceProvider, now } = services;
  return {
    async begin(connection, requirements, acsUrl) {
      const saml = asSaml(connection);
      const { settings } = saml;
      const { sso, wantsSignedRequests } = await identityProviders.of(saml);
      const requestId = newMessageId();
      const message = authnRequest({
        id: requestId,
        issuer: ownServiceProvider.entityIdFor(saml),
        destination: sso.location,
        acsUrl,
        settings,
        requirements,
        now: now(),
      });
      const signer = settings.sign_requests || wantsSignedRequests ? ownServiceProvider.signer() : undefined;
      // RelayState only tells an answer without InResponseTo from an unsolicited one, and is never an address.
      const relayState = requestId;
      const location = withLoginHint(sso.location, requirements.loginHint);
      const redirect: UpstreamRedirect =
        sso.binding === 'redirect'
          ? {
              method: 'redirect',
              url: redirectUrl({ location, parameter: 'SAMLRequest', message, relayState }, signer),
            }
          : {
              method: 'post',
              url: sso.location,
              fields: { SAMLRequest: postMessage(message, signer), RelayState: relayState },
            };
      return { handle: requestId, redirect, memory: { requestId } };
    },

    redeem: (connection, answer, request) => redeem(services, asSaml(connection), answer, request),
  };
}

async function redeem(
  services: UpstreamSamlServices,
  connection: SamlConnection,
  answer: UpstreamAnswer,
  { memory, callbackUrl, sentAt }: SentRequest,
) {
  const { ownServiceProvider, seenMessages, now, skewSeconds } = services;
  const { requestId } = memorySchema.parse(memory);
  const { trusted, identityProvider } = await authenticAnswer(services, connection, answer.SAMLResponse ?? '');
  const checked = checkAnswer(trusted, {
    issuer: identityProvider.entityId,
    audience: ownServiceProvider.entityIdFor(connection),
    acsUrl: callbackUrl,
    requestId,
    sentAt,
    now: now(),
    skewSeconds: skewSeconds(),
  });
  await seenMessages.assertNew(identityProvider.entityId, checked.assertion.id).catch(asUsedBefore);
  const signature: PassedCheck[] = [
    { name: 'Signature', expected: 'of the identity provider', received: trusted.response ? 'Response' : 'assertion' },
    {
      name: 'Encryption',
      expected: connection.settings.want_encrypted ? 'yes' : 'optional',
      received: trusted.wasEncrypted ? 'yes' : 'no',
    },
  ];
  return { identity: identityOf(connection, quirksOf(connection), checked), checks: [...signature, ...checked.checks] };
}

function asUsedBefore(error: unknown): never {
  throw error instanceof SamlError ? asFederationError(error) : error;
}

/** Entra ID and AD FS fill the address in; others ignore the parameter. SAML's own Subject would demand this user. */
function withLoginHint(location: string, loginHint: string | undefined): string {
  if (loginHint === undefined) return location;
  return `${location}${location.includes('?') ? '&' : '?'}${new URLSearchParams({ login_hint: loginHint })}`;
}

function asSaml(connection: Connection): SamlConnection {
  if (connection.kind !== 'saml') throw new TypeError(`${connection.id} is no SAML connection`);
  return connection;
}

interface AuthnRequestInput {
  id: string;
  issuer: string;
  destination: string;
  acsUrl: string;
  now: Date;
  settings: SamlSettings;
  requirements: UpstreamRequirements;
}

/** The unsigned element. */
function authnRequest(input: AuthnRequestInput): XmlElement {
  const { settings, requirements } = input;
  // SAML has no max_age, so an application that limits the age gets a new authentication.
  const isForced = requirements.forced || requirements.maxAgeSeconds !== undefined;
  return element(
    'samlp:AuthnRequest',
    {
      AssertionConsumerServiceURL: input.acsUrl,
      Destination: input.destination,
      ForceAuthn: isForced ? 'true' : undefined,
      ID: input.id,
      IssueInstant: samlTime(input.now),
      ProtocolBinding: bindings.post,
      Version: '2.0',
    },
    element('saml:Issuer', {}, input.issuer),
    nameIdPolicy(settings),
    settings.request_authn_context ? requestedContext(requirements.acrValues) : undefined,
  );
}

/** Where an attribute identifies the user, the upstream chooses the NameID unless the connection names a format. */
function nameIdPolicy({ name_id_format, subject_attribute }: AuthnRequestInput['settings']): XmlElement | undefined {
  const format = name_id_format ?? (subject_attribute === undefined ? 'persistent' : undefined);
  if (format === undefined) return undefined;
  return element('samlp:NameIDPolicy', { AllowCreate: 'true', Format: nameIdFormats[format] });
}

function requestedContext(classes: readonly string[]): XmlElement | undefined {
  if (classes.length === 0) return undefined;
  const names = classes.map((name) => element('saml:AuthnContextClassRef', {}, name));
  return element('samlp:RequestedAuthnContext', { Comparison: 'exact' }, ...names);
}

// Whether an authentic answer is the one to this request, for this server, and valid now (SAML Profiles 4.1.4.3). Pure; each check
// that passes is listed for "Try it", and the first that fails is thrown with what was expected and received.

interface AnswerExpectation {
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

interface CheckedAnswer {
  assertion: Assertion;
  authentication: Authentication;
  checks: PassedCheck[];
}

/** Throws FederationError upstream_denied or upstream_answer_invalid. */
function checkAnswer(trusted: TrustedResponse, expected: AnswerExpectation): CheckedAnswer {
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
    reason: `${name} isn’t as expected.`,
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
    reason: `The identity provider answers ${status}${message ? `: ${message}` : ''}`,
    expected: 'Success, with an assertion',
    received: status,
  });
}

// From a checked assertion to an identity: attributes under their names, friendly names and the names of OpenID Connect. Pure.

const ws = 'http://schemas.xmlsoap.org/ws/2005/05/identity/claims/';
const microsoft = 'http://schemas.microsoft.com/';

/** The names of attributes for each standard claim, the preferred one first: eduPerson and inetOrgPerson as OIDs, WS-Federation, plain. */
const standardNames: Record<string, readonly string[]> = {
  email: ['urn:oid:0.9.2342.19200300.100.1.3', `${ws}emailaddress`, 'mail', 'email', 'emailAddress'],
  name: ['urn:oid:2.16.840.1.113730.3.1.241', `${microsoft}identity/claims/displayname`, 'displayName', 'name', 'cn'],
  given_name: ['urn:oid:2.5.4.42', `${ws}givenname`, 'givenName', 'given_name', 'firstName'],
  family_name: ['urn:oid:2.5.4.4', `${ws}surname`, 'sn', 'surname', 'family_name', 'lastName'],
  preferred_username: ['urn:oid:0.9.2342.19200300.100.1.1', 'uid', 'username', 'preferred_username', `${ws}upn`],
};

/** The authentication methods of Entra ID and AD FS. */
const METHODS = `${microsoft}claims/authnmethodsreferences`;
/** Entra ID sends it in place of more than 150 groups. */
const GROUPS_LINK = `${microsoft}claims/groups.link`;

/** What identifies the user is missing: an empty subject, which signs nobody in. */
function identityOf(
  { settings }: SamlConnection,
  quirks: Quirks,
  { assertion, authentication }: { assertion: Assertion; authentication: Authentication },
): UpstreamIdentity {
  const claims = claimsOf(assertion.attributes);
  const { nameId } = assertion;
  const { instant, contextClass, sessionIndex } = authentication;
  return {
    subject: subjectOf(settings.subject_attribute, claims, assertion),
    claims,
    groups: settings.groups_claim === undefined ? undefined : groupsOf(claims, settings.groups_claim, quirks),
    acr: contextClass,
    amr: groupNames(claims[METHODS]) ?? [],
    authTime: instant,
    session: nameId && { kind: 'saml', sessionIndex, nameId: { ...nameId } },
  };
}

/** The attribute, with exactly one value; else the persistent NameID. Other NameIDs may change, or pass to another user. */
function subjectOf(
  attribute: string | undefined,
  claims: Record<string, unknown>,
  { nameId, issuer }: Assertion,
): string {
  if (attribute !== undefined) {
    const value = claimAt(claims, attribute);
    return typeof value === 'string' ? value : '';
  }
  return nameId && nameIdFormatOf(nameId.format) === 'persistent' ? qualifiedSubject(nameId, issuer) : '';
}

/** An identifier that another identity provider made is unique together with its name only (Core 8.3.7). */
function qualifiedSubject({ value, nameQualifier }: NameId, issuer: string): string {
  return nameQualifier === undefined || nameQualifier === issuer ? value : `${nameQualifier}!${value}`;
}

function claimsOf(attributes: readonly ReceivedAttribute[]): Record<string, unknown> {
  const valuesBy = (nameOf: (one: ReceivedAttribute) => string | undefined) => {
    const found = new Map<string, string[]>();
    for (const one of attributes) {
      const name = nameOf(one);
      if (name && one.values.length > 0) found.set(name, [...(found.get(name) ?? []), ...one.values]);
    }
    return found;
  };
  // The name is what the upstream defines; a friendly name never replaces an attribute of that name (Core 2.7.3.1).
  const values = new Map([...valuesBy(({ friendlyName }) => friendlyName), ...valuesBy(({ name }) => name)]);
  for (const [claim, names] of Object.entries(standardNames)) {
    const source = values.has(claim) ? claim : names.find((name) => values.has(name));
    if (source !== undefined) values.set(claim, values.get(source) ?? []);
  }
  return Object.fromEntries([...values].map(([name, list]) => [name, list.length === 1 ? list[0] : list]));
}

/** A missing attribute means no groups, so that a user who left the last one loses its role. */
function groupsOf(claims: Record<string, unknown>, path: string, quirks: Quirks): UpstreamIdentity['groups'] {
  const isOverage = quirks.groups === 'entra-overage' && textOf(claims[GROUPS_LINK]) !== undefined;
  return { names: groupNames(claimAt(claims, path)) ?? [], isComplete: !isOverage };
}

export function createSamlUpstream(given: Core & SessionServices & FederationServices & SamlServices) {
  const identityProviders = createIdentityProviders(given);
  const services = { ...given, identityProviders, ownServiceProvider: createOwnServiceProvider(given) };
  const received = createReceivedLogoutRequests(services);
  const sent = createSentLogoutRequests(services);
  return {
    logoutProtocol: logoutProtocol(sent),
    protocol: createSamlProtocol(services),
    routes: (signIns: { rejected: RejectedSignIns; upstreamSignIn: UpstreamSignIn }) =>
      acsRoutes({ ...services, ...signIns }),
    logoutRoutes: (people: People, logoutBrowserOf: (ctx: Context) => LogoutBrowser) =>
      sloRoutes({ ...services, ...people, received, sent, logoutBrowserOf }),
  };
}

/** The logout at the upstream, the last step of a logout run (federation/logout). */
function logoutProtocol(sent: SentLogoutRequests): UpstreamLogoutProtocol {
  return {
    addressOf: async (connection) => (connection.kind === 'saml' ? sent.addressOf(connection) : undefined),
    request: async (connection, handle) =>
      connection.kind === 'saml' && handle.kind === 'saml' ? sent.request(connection, handle) : undefined,
  };
}

export type SamlUpstream = ReturnType<typeof createSamlUpstream>;
