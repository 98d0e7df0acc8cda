// The assertion of the Web Browser SSO profile (SAML Profiles 4.1.4.2). Pure: IDs and time are parameters.
import { limits } from '../../limits.ts';
import { bearer } from '../xml/names.ts';
import { element, samlTime, type XmlElement } from '../xml/write.ts';
import { attributeStatement, type SamlAttribute } from './attributes.ts';
import { type NameId, nameIdElement } from './name-id.ts';

export interface AssertionInput {
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
export function assertionElement(input: AssertionInput): XmlElement {
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
