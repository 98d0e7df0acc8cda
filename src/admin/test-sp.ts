// The service provider in the box: what it says and how it judges what it is told, as a service provider of somebody else
// would. It knows this server by its published certificates alone, and signs with a key of its own.
import { createPrivateKey, type KeyObject } from 'node:crypto';
import { z } from 'zod';
import { selfSignedCertificate } from '../keys/certificate.ts';
import { makeKeyPair } from '../keys/key-pair.ts';
import { limits } from '../limits.ts';
import { acrLevel } from '../mfa/acr.ts';
import type { Clock } from '../platform/clock.ts';
import { newMessageId } from '../saml/answers.ts';
import { samlTime } from '../saml/assertion.ts';
import { decodePost, decodeRedirect } from '../saml/decode.ts';
import { verifyEnveloped } from '../saml/enveloped-signature.ts';
import { SamlError } from '../saml/errors.ts';
import { authenticateMessage, openMessage } from '../saml/inbound.ts';
import { logoutRequest, logoutResponse, redirectUrl } from '../saml/logout-messages.ts';
import { bindings, contextClasses, statusCodes } from '../saml/names.ts';
import { readLogoutRequest } from '../saml/slo.ts';
import { parseXml } from '../saml/xml/parse.ts';
import { attribute, childOf, textOf, timeAttribute } from '../saml/xml/read.ts';
import { judgeWellFormed } from '../saml/xml/schema.ts';
import { createSigner, type Signer } from '../saml/xml/sign.ts';
import { canonical, element, wireForm, type XmlElement } from '../saml/xml/write.ts';

/** A message that is ready to go, and its text for reading. */
export interface Sent {
  id: string;
  xml: string;
  url: string;
}

/** One thing that a service provider looks at. */
export interface Check {
  label: string;
  passed: boolean;
  received?: string | undefined;
  expected?: string | undefined;
}

/** The person as the service provider knows them: what a LogoutRequest names. */
export const heldSession = z.object({
  nameId: z.object({
    value: z.string(),
    format: z.string(),
    nameQualifier: z.string().optional(),
    spNameQualifier: z.string().optional(),
  }),
  sessionIndex: z.string(),
});
export type HeldSession = z.output<typeof heldSession>;

export interface Received {
  xml: string;
  checks: Check[];
  relayState: string | undefined;
  /** Of a sign-in that worked. */
  held?: HeldSession | undefined;
}

export interface TestSpNeeds {
  issuer: string;
  /** Its entity ID, and where its addresses begin. */
  entityId: string;
  now: Clock;
  skewSeconds(): number;
  /** The public keys that our metadata shows. */
  publishedKeys(): readonly KeyObject[];
  /** What `newTestSpCredential` made, once and for all instances. */
  credential(): Promise<string>;
}

const stored = z.object({ privateKey: z.string(), certificate: z.string() });

/** A key and its certificate as one text. */
export async function newTestSpCredential(host: string, now: Date): Promise<string> {
  const { privateKey, publicKey } = await makeKeyPair('RS256');
  const until = new Date(now.getTime() + limits.saml.certificateDays * 24 * 3600 * 1000);
  const certificate = selfSignedCertificate({ privateKey, publicKey, host, from: now, until });
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  return JSON.stringify({ privateKey: pem, certificate } satisfies z.output<typeof stored>);
}

export type TestSp = ReturnType<typeof createTestSp>;

export function createTestSp({ issuer, entityId, now, skewSeconds, publishedKeys, credential }: TestSpNeeds) {
  const identityProvider = `${issuer}/saml/metadata`;
  const acsUrl = `${entityId}/acs`;
  const sloUrl = `${entityId}/slo`;
  const sender = () => ({ signingKeys: publishedKeys(), allowSha1: false, requireSigned: true });
  let signer: Promise<{ signer: Signer; certificate: string }> | undefined;

  async function load() {
    const { privateKey, certificate } = stored.parse(JSON.parse(await credential()));
    return {
      signer: createSigner({ privateKey: createPrivateKey(privateKey), certificatePem: certificate }),
      certificate,
    };
  }

  function own() {
    signer ??= load().catch((error: unknown) => {
      signer = undefined; // the next one tries again
      throw error;
    });
    return signer;
  }

  async function sent(message: XmlElement, location: string, relayState: string): Promise<Sent> {
    const target = { location, parameter: 'SAMLRequest' as const, message, relayState };
    return {
      id: message.attributes.ID ?? '',
      xml: wireForm(canonical(message)),
      url: redirectUrl(target, (await own()).signer),
    };
  }

  /** What every answer has in common. */
  function headChecks(root: Element, destination: string, inResponseTo: string | undefined): Check[] {
    const issuerElement = childOf(root, 'saml:Issuer');
    const status = childOf(root, 'samlp:Status');
    const code = status && childOf(status, 'samlp:StatusCode');
    const inner = code && childOf(code, 'samlp:StatusCode');
    const told = inner ? attribute(inner, 'Value') : code && attribute(code, 'Value');
    return [
      same('Issuer is this server', issuerElement && textOf(issuerElement), identityProvider),
      same('Destination is the address that it came to', attribute(root, 'Destination'), destination),
      inResponseTo === undefined
        ? same('It answers no request (IdP-initiated)', attribute(root, 'InResponseTo'), undefined)
        : same('It answers the request that was sent', attribute(root, 'InResponseTo'), inResponseTo),
      same('Status', told, statusCodes.Success),
    ];
  }

  function assertionChecks(assertion: Element | undefined): Check[] {
    if (!assertion) return [{ label: 'It holds an assertion', passed: false }];
    const conditions = childOf(assertion, 'saml:Conditions');
    const restriction = conditions && childOf(conditions, 'saml:AudienceRestriction');
    const audience = restriction && childOf(restriction, 'saml:Audience');
    const confirmation = subjectOf(assertion, 'saml:SubjectConfirmation');
    const data = confirmation && childOf(confirmation, 'saml:SubjectConfirmationData');
    const from = conditions && timeAttribute(conditions, 'NotBefore');
    const until = conditions && timeAttribute(conditions, 'NotOnOrAfter');
    const at = now();
    return [
      same('Audience is this service provider', audience && textOf(audience), entityId),
      same('Recipient is its address', data && attribute(data, 'Recipient'), acsUrl),
      {
        label: 'It is valid now',
        passed: from !== undefined && until !== undefined && from <= at && at < until,
        received: `${from?.toISOString()} to ${until?.toISOString()}`,
        expected: at.toISOString(),
      },
    ];
  }

  return {
    entityId,

    /** What it is registered with. */
    async declaration() {
      const { certificate } = await own();
      return {
        ...{ name: 'Test service provider', entity_id: entityId, acs_url: acsUrl, slo_url: sloUrl },
        ...{ certificates: [{ use: 'signing', pem: certificate }], require_signed_requests: true },
        ...{ sign: 'response', idp_initiated: true, consent: 'implicit' },
        attributes: { email: 'email', displayName: 'name', roles: 'roles' },
      };
    },

    authnRequest(wishes: { forceAuthn: boolean; acr?: string }, relayState: string): Promise<Sent> {
      const wanted = Object.values(contextClasses)[acrLevel(wishes.acr) - 1];
      const message = element(
        'samlp:AuthnRequest',
        {
          AssertionConsumerServiceURL: acsUrl,
          Destination: `${issuer}/saml/sso`,
          ForceAuthn: wishes.forceAuthn ? 'true' : undefined,
          ID: newMessageId(),
          IssueInstant: samlTime(now()),
          ProtocolBinding: bindings.post,
          Version: '2.0',
        },
        element('saml:Issuer', {}, entityId),
        wanted &&
          element(
            'samlp:RequestedAuthnContext',
            { Comparison: 'minimum' },
            element('saml:AuthnContextClassRef', {}, wanted),
          ),
      );
      return sent(message, `${issuer}/saml/sso`, relayState);
    },

    logoutRequest({ nameId, sessionIndex }: HeldSession, relayState: string): Promise<Sent> {
      const destination = `${issuer}/saml/slo`;
      const { value, format, nameQualifier, spNameQualifier } = nameId;
      const qualifiers = { ...(nameQualifier && { nameQualifier }), ...(spNameQualifier && { spNameQualifier }) };
      const message = logoutRequest({
        ...{ id: newMessageId(), issuer: entityId, destination, now: now(), reason: 'user' },
        ...{ nameId: { value, format, ...qualifiers }, sessionIndexes: [sessionIndex] },
      });
      return sent(message, destination, relayState);
    },

    /** Reads and judges a Response that was posted to it. Throws SamlError where there is none. */
    response(body: string, requestIdOf: (relayState: string | undefined) => string | undefined): Received {
      const { xml, relayState } = decodePost(body);
      const { checks: signed, root } = trusted(() => parseXml(verifyEnveloped(parseXml(xml), sender())).root, xml);
      const head = headChecks(root, acsUrl, requestIdOf(relayState));
      const isSuccess = head.at(-1)?.passed;
      const assertion = childOf(root, 'saml:Assertion');
      const checks = [...signed, ...head, ...(isSuccess ? assertionChecks(assertion) : [])];
      const isGood = checks.every(({ passed }) => passed);
      return { xml, checks, relayState, held: isGood && assertion ? heldIn(assertion) : undefined };
    },

    /** Reads and judges the LogoutResponse in the query of a redirect. */
    async logoutResponse(query: string, requestIdOf: (relayState: string | undefined) => string | undefined) {
      const decoded = await decodeRedirect(query);
      const { xml, relayState } = decoded;
      const opened = openMessage(decoded, ['LogoutResponse'], judgeWellFormed);
      const { checks: signed, root } = trusted(() => authenticateMessage(opened, sender()).root, xml);
      const checks = [...signed, ...headChecks(root, sloUrl, requestIdOf(relayState) ?? '')];
      return { xml, checks, relayState } satisfies Received;
    },

    /** Does what a LogoutRequest of this server says: where the browser takes the answer. It holds no session to end. */
    async answerLogout(query: string): Promise<string> {
      const decoded = await decodeRedirect(query);
      const opened = openMessage(decoded, ['LogoutRequest'], judgeWellFormed);
      const expectation = { entityId: identityProvider, endpoint: sloUrl, now: now(), skewSeconds: skewSeconds() };
      const request = readLogoutRequest(authenticateMessage(opened, sender()), expectation);
      const destination = `${issuer}/saml/slo`;
      const message = logoutResponse({
        ...{ id: newMessageId(), issuer: entityId, destination, now: now(), inResponseTo: request.id },
        status: { code: statusCodes.Success },
      });
      const { relayState } = decoded;
      const target = { location: destination, parameter: 'SAMLResponse' as const, message, relayState };
      return redirectUrl(target, (await own()).signer);
    },
  };
}

function same(label: string, received: string | undefined, expected: string | undefined): Check {
  return { label, passed: received === expected, received, expected };
}

/** What was signed; where the signature is wrong, the message as it came, to be shown beside that. */
function trusted(read: () => Element, xml: string): { checks: Check[]; root: Element } {
  const label = 'It is signed with a key from the metadata of this server';
  try {
    return { root: read(), checks: [{ label, passed: true }] };
  } catch (error) {
    if (!(error instanceof SamlError)) throw error;
    return { root: parseXml(xml).root, checks: [{ label, passed: false, received: error.message }] };
  }
}

function subjectOf(assertion: Element, name: 'saml:NameID' | 'saml:SubjectConfirmation'): Element | undefined {
  const subject = childOf(assertion, 'saml:Subject');
  return subject && childOf(subject, name);
}

function heldIn(assertion: Element): HeldSession | undefined {
  const nameId = subjectOf(assertion, 'saml:NameID');
  const statement = childOf(assertion, 'saml:AuthnStatement');
  const sessionIndex = statement && attribute(statement, 'SessionIndex');
  if (!nameId || !sessionIndex) return undefined;
  const of = (name: string) => attribute(nameId, name);
  return heldSession.parse({
    sessionIndex,
    nameId: {
      ...{ value: textOf(nameId), format: of('Format') ?? '' },
      ...{ nameQualifier: of('NameQualifier'), spNameQualifier: of('SPNameQualifier') },
    },
  });
}
