// What the text of an audit event is made of: keys of views/texts. Those that begin with `activity` are for people too, because they are on
// /account/activity. sentence.ts has the values of their placeholders.
import { type TextKey, t } from '../../texts/text.ts';
import type { AuditEntry } from '../audit.ts';

/** The groups by which the activity log is filtered. */
export const eventKinds = {
  'sign-in': t('console.events.kind.sign-in'),
  session: t('console.events.kind.session'),
  account: t('console.events.kind.account'),
  password: t('console.events.kind.password'),
  factor: t('console.events.kind.factor'),
  role: t('console.events.kind.role'),
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
