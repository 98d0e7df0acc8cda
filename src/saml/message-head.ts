// What every SAML message begins with (SAML Core 3.2.1, 3.2.2), and the checks that it is ours, now, and from whom it
// should be from. A message that fails here is answered with a page: its sender is not proven.
import { limits } from '../limits.ts';
import { SamlError } from './errors.ts';
import type { TrustedMessage } from './inbound.ts';
import { entityFormat } from './names.ts';
import { attribute, childOf, textOf, timeAttribute } from './xml/read.ts';

export interface MessageHead {
  id: string;
  issuer: string;
  issueInstant: Date;
  destination: string | undefined;
  signed: boolean;
}

/** The head, from the tree that may be read. */
export function readHead({ root, signed }: TrustedMessage): MessageHead {
  const id = attribute(root, 'ID');
  const issuer = childOf(root, 'saml:Issuer');
  const issueInstant = timeAttribute(root, 'IssueInstant');
  if (!issuer || (attribute(issuer, 'Format') ?? entityFormat) !== entityFormat) throw new SamlError('wrong_issuer');
  // The schema has seen to both; what it lets through is an ID of any length and a time such as 24:00:00.
  if (!id || id.length > 256) throw new SamlError('not_schema_valid', { detail: 'ID' });
  if (!issueInstant) throw new SamlError('expired', { detail: attribute(root, 'IssueInstant') });
  return { id, issuer: textOf(issuer), issueInstant, destination: attribute(root, 'Destination')?.trim(), signed };
}

export interface Expectation {
  /** Entity ID of the registered sender whose keys verified the message. */
  entityId: string;
  /** The absolute URL at which the message arrived; undefined for an answer on a connection of ours. */
  endpoint: string | undefined;
  now: Date;
  /** How far the two clocks may differ, on top of the accepted age. */
  skewSeconds?: number;
}

/** Issuer, Destination and age. Whether the ID was seen before is for the caller, who has the store. */
export function checkHead(head: MessageHead, { entityId, endpoint, now, skewSeconds = 0 }: Expectation): void {
  if (head.issuer !== entityId) throw new SamlError('wrong_issuer', { detail: head.issuer });
  // Bindings 3.4.5.2 and 3.5.5.2: a signed message has to say where it goes, or it could be replayed elsewhere.
  const isElsewhere = head.destination === undefined ? head.signed : head.destination !== endpoint;
  if (endpoint !== undefined && isElsewhere) {
    throw new SamlError('wrong_destination', { detail: head.destination });
  }
  const ageSeconds = (now.getTime() - head.issueInstant.getTime()) / 1000;
  const window = limits.saml.requestAgeSeconds + skewSeconds;
  if (ageSeconds > window) throw new SamlError('expired', { detail: head.issueInstant });
  if (ageSeconds < -window) throw new SamlError('from_future', { detail: head.issueInstant });
}
