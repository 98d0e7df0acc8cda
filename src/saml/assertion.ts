// The assertion of seed 2.3 and the Web SSO profile (SAML Profiles 4.1.4.2). Pure: everything that varies is handed in.
import { limits } from '../limits.ts';
import { attributeStatement, type SamlAttribute } from './attributes.ts';
import { type NameId, nameIdElement } from './nameid.ts';
import { bearer } from './names.ts';
import { element, type XmlElement } from './xml/write.ts';

export interface AssertionInput {
  /** `_` and random characters. */
  id: string;
  issuer: string;
  /** Entity ID of the service provider. */
  audience: string;
  acsUrl: string;
  /** Undefined when the sign-in was begun here. */
  inResponseTo: string | undefined;
  nameId: NameId;
  sessionIndex: string;
  authnInstant: Date;
  sessionNotOnOrAfter?: Date;
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
      // Back-dated, because a receiver whose clock is a second behind refuses otherwise.
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

/** xs:dateTime in UTC, whole seconds. */
export function samlTime(time: Date, addSeconds = 0): string {
  return `${new Date(time.getTime() + addSeconds * 1000).toISOString().slice(0, 19)}Z`;
}
