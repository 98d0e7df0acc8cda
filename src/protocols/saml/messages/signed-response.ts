// Responses: success with one assertion, or a status. An assertion is signed first, then encrypted, and the message is
// signed last (SAML Core 6.2).
import { limits } from '../../../base/limits.ts';
import { type Encryption, encryptAssertion } from '../xml/encrypt.ts';
import type { SamlStatus } from '../xml/errors.ts';
import { bearer, statusCodes } from '../xml/names.ts';
import { type Signer, signElement } from '../xml/sign.ts';
import { canonical, element, samlTime, wireFormat, type XmlChild, type XmlElement } from '../xml/write.ts';
import { attributeStatement, type SamlAttribute } from './attributes.ts';
import { type NameId, nameIdElement } from './name-id.ts';

export type SignedParts = 'assertion' | 'response' | 'both';

export interface ResponseInput {
  id: string;
  issuer: string;
  acsUrl: string;
  inResponseTo: string | undefined;
  now: Date;
}

export interface SuccessInput extends ResponseInput, Omit<AssertionInput, 'id'> {
  assertionId: string;
  sign: SignedParts;
  /** For the service provider; undefined: the assertion is not encrypted. */
  encryption: Encryption | undefined;
}

/** The signed Response with its assertion, as XML text. */
export function successResponse(input: SuccessInput, signer: Signer): string {
  const plain = assertionElement({ ...input, id: input.assertionId });
  const assertion = input.sign === 'response' ? canonical(plain) : signElement(plain, 1, signer);
  const body = input.encryption ? encryptAssertion(assertion, input.encryption) : assertion;
  const response = responseElement(input, { code: statusCodes.Success }, body);
  return wireFormat(input.sign === 'assertion' ? canonical(response) : signElement(response, 1, signer));
}

/** A signed Response with a status and no assertion, as XML text. */
export function statusResponse(input: ResponseInput & { status: SamlStatus }, signer: Signer): string {
  return wireFormat(signElement(responseElement(input, input.status), 1, signer));
}

/** `samlp:Status`, in responses of every kind. */
export function statusElement(status: SamlStatus): XmlElement {
  const inner = status.subcode && element('samlp:StatusCode', { Value: status.subcode });
  return element(
    'samlp:Status',
    {},
    element('samlp:StatusCode', { Value: status.code }, inner || undefined),
    status.message === undefined ? undefined : element('samlp:StatusMessage', {}, status.message),
  );
}

function responseElement(input: ResponseInput, status: SamlStatus, body?: XmlChild): XmlElement {
  return element(
    'samlp:Response',
    {
      Destination: input.acsUrl,
      ID: input.id,
      InResponseTo: input.inResponseTo,
      IssueInstant: samlTime(input.now),
      Version: '2.0',
    },
    element('saml:Issuer', {}, input.issuer),
    statusElement(status),
    body,
  );
}

interface AssertionInput {
  /** `_` and random characters. */
  id: string;
  issuer: string;
  /** Entity ID of the service provider. */
  audience: string;
  acsUrl: string;
  /** Undefined for an IdP-initiated sign-in. */
  inResponseTo: string | undefined;
  nameId: NameId;
  sessionIndex: string;
  authnInstant: Date;
  sessionNotOnOrAfter?: Date | undefined;
  contextClass: string;
  attributes: readonly SamlAttribute[];
  now: Date;
}

/** The unsigned assertion. */
function assertionElement(input: AssertionInput): XmlElement {
  const notOnOrAfter = samlTime(input.now, limits.saml.assertionSeconds);
  return element(
    'saml:Assertion',
    { ID: input.id, IssueInstant: samlTime(input.now), Version: '2.0' },
    element('saml:Issuer', {}, input.issuer),
    element(
      'saml:Subject',
      {},
      nameIdElement(input.nameId),
      element(
        'saml:SubjectConfirmation',
        { Method: bearer },
        element('saml:SubjectConfirmationData', {
          InResponseTo: input.inResponseTo,
          NotOnOrAfter: notOnOrAfter,
          Recipient: input.acsUrl,
        }),
      ),
    ),
    element(
      'saml:Conditions',
      // Earlier than now, for receivers whose clock is behind.
      { NotBefore: samlTime(input.now, -limits.saml.notBeforeSkewSeconds), NotOnOrAfter: notOnOrAfter },
      element('saml:AudienceRestriction', {}, element('saml:Audience', {}, input.audience)),
    ),
    element(
      'saml:AuthnStatement',
      {
        AuthnInstant: samlTime(input.authnInstant),
        SessionIndex: input.sessionIndex,
        SessionNotOnOrAfter: input.sessionNotOnOrAfter && samlTime(input.sessionNotOnOrAfter),
      },
      element('saml:AuthnContext', {}, element('saml:AuthnContextClassRef', {}, input.contextClass)),
    ),
    attributeStatement(input.attributes),
  );
}
