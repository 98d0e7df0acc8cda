// The filter of a list of audit entries.
import type { Fragment } from '../../base/storage/fragments.ts';
import type { AuditEventType, AuditOutcome } from './events.ts';

export interface AuditFilter {
  types?: AuditEventType[];
  outcome?: AuditOutcome;
  actorId?: string;
  actorApp?: string;
  subjectId?: string;
  /** The account that acted, or that the event is about. */
  partyId?: string;
  clientId?: string;
  address?: string;
  requestId?: string;
  from?: Date;
  until?: Date;
  /** The cursor: the id of the last entry of the previous page. Only older entries are listed. */
  before?: number;
  /** The oldest first; then `after` is the cursor. */
  isOldestFirst?: boolean;
  /** The cursor from the oldest on: only newer entries are listed. */
  after?: number;
  limit?: number;
  /** Condition on a column that holds a user: only entries about such users. */
  isVisible?: (column: string) => Fragment;
}
