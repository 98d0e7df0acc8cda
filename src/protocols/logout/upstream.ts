// The interface with which a logout run ends the session at the upstream identity provider of the user. Implemented in
// federation/logout.
import type { Tx } from '../../base/storage/database.ts';
import type { NewParticipant, Participant } from './logout-run.ts';
import type { PreparedRequest } from './saml/outgoing-messages.ts';

/** The upstream of an ended session as a participant; undefined when its connection does not forward a logout. */
export type PlanUpstream = (sessionUid: string, tx: Tx) => Promise<NewParticipant | undefined>;

export interface UpstreamParticipants {
  /** The URL to probe; undefined when the upstream has no logout. Throws when it cannot be determined. */
  addressOf(participant: Participant): Promise<string | undefined>;
  /** The request that ends the session there; undefined when the connection is disabled or was deleted. */
  prepare(participant: Participant): Promise<PreparedRequest | undefined>;
}
