// The text keys (views/texts) of the sentence of an audit event. Texts whose key starts with `activity` are also displayed to users, on
// /account/activity. sentence.ts fills in their placeholders.
import { type TextKey, t } from '../../../base/texts/text.ts';
import type { AuditEntry } from '../audit.ts';

/** The filter groups of the activity log. */
export const eventKinds = {
  'sign-in': t('console.events.kind.sign-in'),
  session: t('console.events.kind.session'),
  account: t('console.events.kind.account'),
  password: t('console.events.kind.password'),
  factor: t('console.events.kind.factor'),
  role: t('console.events.kind.role'),
  group: t('console.events.kind.group'),
  request: t('console.events.kind.request'),
  application: t('console.events.kind.application'),
  connection: t('console.events.kind.connection'),
  server: t('console.events.kind.server'),
} as const;

export type EventKind = keyof typeof eventKinds;

export type SentenceKey = Extract<TextKey, `activity.event.${string}` | `console.events.${string}`>;

export type Template =
  | SentenceKey
  | ((entry: Pick<AuditEntry, 'reason' | 'subjectId' | 'clientId' | 'data'>) => SentenceKey);

export interface EventText {
  kind: EventKind;
  /** The sentence of a successful event. */
  done: Template;
  /** The same if the actor is the user; without it, `passive`. */
  own?: Template;
  /** The same if the event has no actor. */
  passive?: Template;
  /** The sentence of a failed event. The text of the reason follows, unless `saysReason`. */
  failed?: Template;
  /** The sentence already contains the reason. */
  saysReason?: boolean;
}
