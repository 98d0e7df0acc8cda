// LogoutRequest and LogoutResponse to send (SAML Core 3.7); encode.ts signs them. The NameID is written exactly as it was
// issued, because receivers compare it whole.
import { limits } from '../../../base/limits.ts';
import type { SamlStatus } from '../xml/errors.ts';
import { element, samlTime, type XmlElement } from '../xml/write.ts';
import { type NameId, nameIdElement } from './name-id.ts';
import { statusElement } from './signed-response.ts';

interface Outgoing {
  id: string;
  issuer: string;
  /** Location; of responses ResponseLocation, where there is one. Undefined in a response by SOAP. */
  destination: string | undefined;
  now: Date;
}

export interface LogoutRequestInput extends Outgoing {
  nameId: NameId;
  sessionIndexes: readonly string[];
  reason?: 'user' | 'admin';
}

export interface LogoutResponseInput extends Outgoing {
  inResponseTo: string;
  status: SamlStatus;
}

/** The unsigned element; `postMessage` or `redirectUrl` signs it. */
export function logoutRequest(input: LogoutRequestInput): XmlElement {
  return element(
    'samlp:LogoutRequest',
    {
      Destination: input.destination,
      ID: input.id,
      IssueInstant: samlTime(input.now),
      NotOnOrAfter: samlTime(input.now, limits.saml.requestAgeSeconds),
      Reason: input.reason && `urn:oasis:names:tc:SAML:2.0:logout:${input.reason}`,
      Version: '2.0',
    },
    element('saml:Issuer', {}, input.issuer),
    nameIdElement(input.nameId),
    ...input.sessionIndexes.map((index) => element('samlp:SessionIndex', {}, index)),
  );
}

/** The unsigned element; `postMessage` or `redirectUrl` signs it. */
export function logoutResponse(input: LogoutResponseInput): XmlElement {
  return element(
    'samlp:LogoutResponse',
    {
      Destination: input.destination,
      ID: input.id,
      InResponseTo: input.inResponseTo,
      IssueInstant: samlTime(input.now),
      Version: '2.0',
    },
    element('saml:Issuer', {}, input.issuer),
    statusElement(input.status),
  );
}
