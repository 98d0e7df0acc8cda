// The attributes that every SAML message has (SAML Core 3.2.1, 3.2.2), and the checks of Issuer, Destination and age. A
// message that fails them is answered with an error page, because its sender is not proven.
import { limits } from '../../../base/limits.ts';
import { isSameAddress } from '../xml/addresses.ts';
import { SamlError } from '../xml/errors.ts';
import { entityFormat, standardFormat } from '../xml/names.ts';
import { attribute, childOf, textOf, timeAttribute } from '../xml/read.ts';
import type { TrustedMessage } from './open-message.ts';

export interface MessageHead {
  id: string;
  issuer: string;
  issueInstant: Date;
  destination: string | undefined;
  signed: boolean;
}

/** Reads the head of an authenticated message. Throws SamlError. */
export function readHead({ root, signed }: TrustedMessage): MessageHead {
  const id = attribute(root, 'ID');
  const issuer = childOf(root, 'saml:Issuer');
  const issueInstant = timeAttribute(root, 'IssueInstant');
  if (!issuer || standardFormat(attribute(issuer, 'Format') ?? entityFormat) !== entityFormat)
    throw new SamlError('wrong_issuer', {
      rule: 'sender',
      received: issuer && attribute(issuer, 'Format'),
      expected: entityFormat,
    });
  // The schema requires both, but allows an ID of any length and a time such as 24:00:00.
  if (!id || id.length > 256) throw new SamlError('not_schema_valid', { detail: 'ID' });
  if (!issueInstant) throw new SamlError('expired', { detail: attribute(root, 'IssueInstant') });
  return { id, issuer: textOf(issuer), issueInstant, destination: attribute(root, 'Destination') || undefined, signed };
}

export interface Expectation {
  /** Entity ID of the registered sender whose keys verified the message. */
  entityId: string;
  /** The URL that received the message; undefined for a SOAP response, which needs no Destination. */
  endpoint: string | undefined;
  now: Date;
  /** How far the two clocks may differ, on top of the accepted age. */
  skewSeconds?: number;
}

/** Checks Issuer, Destination and age; the caller checks the ID for replay. Throws SamlError. */
export function checkHead(head: MessageHead, { entityId, endpoint, now, skewSeconds = 0 }: Expectation): void {
  if (head.issuer !== entityId) {
    throw new SamlError('wrong_issuer', { detail: head.issuer, received: head.issuer, expected: entityId });
  }
  // Bindings 3.4.5.2 and 3.5.5.2: a signed message needs a Destination, or it could be replayed elsewhere.
  const { destination } = head;
  const isElsewhere = (at: string) => (destination === undefined ? head.signed : !isSameAddress(destination, at));
  if (endpoint !== undefined && isElsewhere(endpoint)) {
    throw new SamlError('wrong_destination', { detail: destination, received: destination, expected: endpoint });
  }
  const ageSeconds = (now.getTime() - head.issueInstant.getTime()) / 1000;
  const window = limits.saml.requestAgeSeconds + skewSeconds;
  const times = { received: head.issueInstant.toISOString(), expected: `about ${now.toISOString()}` };
  if (ageSeconds > window) throw new SamlError('expired', { detail: head.issueInstant, ...times });
  if (ageSeconds < -window) throw new SamlError('from_future', { detail: head.issueInstant, ...times });
}
