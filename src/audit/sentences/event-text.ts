// What the text of an audit event is made of. A template names its parts in braces: {actor}, {user}, {app},
// {connection} and {with} (the authentication methods) come from sentence.ts, every other name is a value of the event's data.
import type { AuditEntry } from '../audit.ts';

/** The groups by which the activity log is filtered. */
export const eventKinds = {
  'sign-in': 'Sign-ins',
  session: 'Sign-outs and sessions',
  account: 'Accounts',
  password: 'Passwords',
  factor: 'Two-step verification',
  role: 'Roles and access',
  request: 'Tokens and requests',
  application: 'Applications and APIs',
  connection: 'Identity providers',
  server: 'Server',
} as const;

export type EventKind = keyof typeof eventKinds;

export type Template = string | ((entry: Pick<AuditEntry, 'reason' | 'subjectId' | 'clientId' | 'data'>) => string);

export interface EventText {
  kind: EventKind;
  /** The event took place. */
  done: Template;
  /** The same, where the user is the actor; `passive` otherwise. */
  own?: Template;
  /** Where the event names no actor. */
  passive?: Template;
  /** It failed. The reason in words follows, unless `failed` says it. */
  failed?: Template;
  /** The sentence says the reason, so none is added. */
  saysReason?: boolean;
}
