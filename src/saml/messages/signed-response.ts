// Responses: success with one assertion, or a status. An assertion is signed first, then encrypted, and the message is
// signed last (SAML Core 6.2).
import { type Encryption, encryptAssertion } from '../xml/encrypt.ts';
import type { SamlStatus } from '../xml/errors.ts';
import { statusCodes } from '../xml/names.ts';
import { type Signer, signElement } from '../xml/sign.ts';
import { canonical, element, samlTime, wireFormat, type XmlChild, type XmlElement } from '../xml/write.ts';
import { type AssertionInput, assertionElement } from './assertion.ts';

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
