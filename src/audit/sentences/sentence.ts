// Audit events in sentences, such as `Ann signed in to Payroll with a passkey`, for the activity log and every page that lists events.
import { allOf, hasText, type PageText, Slot, sentenceCase, Text, t } from '../../texts/text.ts';
import type { AuditEntry } from '../audit.ts';
import type { AuditEventType } from '../events.ts';
import { accountTexts } from './accounts.ts';
import { applicationTexts } from './applications.ts';
import type { EventKind, EventText, SentenceKey, Template } from './event-text.ts';
import { reasonTexts } from './reasons.ts';
import { signInTexts } from './sign-ins.ts';

export const eventTexts: Record<AuditEventType, EventText> = { ...signInTexts, ...accountTexts, ...applicationTexts };

/** A user, application or connection in a sentence; `name` is the name in the event, for one that was deleted. */
export interface Mention {
  type: 'user' | 'application' | 'connection';
  /** The id of a user or connection, the client_id or entity ID of an application. */
  id: string;
  name?: string | undefined;
}

type Event = Pick<
  AuditEntry,
  'type' | 'outcome' | 'reason' | 'actorId' | 'actorApp' | 'subjectId' | 'clientId' | 'data'
>;

/** Renders a mention on a page: a slot for a name, a text for words. */
export type MentionRenderer = (mention: Mention) => Slot | Text;

/** The event types of a kind. */
export function typesOfKind(kind: EventKind): AuditEventType[] {
  return (Object.keys(eventTexts) as AuditEventType[]).filter((type) => eventTexts[type].kind === kind);
}

/** The event as one sentence without its full stop; an unknown event (of a newer version) as its type. */
export function sentenceOf(event: Event, nameOf: MentionRenderer): PageText {
  const text = (eventTexts as Partial<Record<string, EventText>>)[event.type];
  if (!text) return event.type;
  const sentence = withOutcome(text, event, new Text(keyOf(text, event), valuesOf(event, nameOf)));
  const reason = text.saysReason || event.outcome === 'success' ? undefined : reasonTexts[event.reason ?? ''];
  return sentenceCase(reason ? t('activity.event.reason', { event: sentence, reason }) : sentence);
}

/** The application that the event is about, or whose sign-in it is a step of. */
export function applicationOf({ clientId, data }: Pick<Event, 'clientId' | 'data'>): Mention | undefined {
  if (clientId !== null) return { type: 'application', id: clientId, name: nameIn(data, 'name') };
  return typeof data.application === 'string' ? { type: 'application', id: data.application } : undefined;
}

/** All mentions in the sentences of these events, so that a page can load their names first. */
export function mentionsIn(events: readonly Event[]): Mention[] {
  return events.flatMap((event) => {
    const mentions: Mention[] = [applicationOf(event) ?? []].flat();
    valuesOf(event, (mention) => {
      mentions.push(mention);
      return nameSlot('');
    });
    return mentions;
  });
}

/** A name in a sentence; its first letter is never capitalized. */
export const nameSlot = (name: string) => new Slot({ text: name });

/** What the console calls a setting; an unknown one (of a newer version) by its name in the configuration file. */
function settingLabel(name: string): PageText {
  const key = `console.setting.${name}.label`;
  return hasText(key) ? new Text(key) : name;
}

function keyOf({ done, own, passive, failed }: EventText, event: Event): SentenceKey {
  const { actorId, actorApp, subjectId, outcome } = event;
  if (outcome !== 'success') return resolveTemplate(failed ?? done, event);
  if (actorId !== null && actorId === subjectId) return resolveTemplate(own ?? passive ?? done, event);
  return resolveTemplate(actorId === null && actorApp === null ? (passive ?? done) : done, event);
}

function withOutcome({ failed }: EventText, { outcome }: Event, sentence: Text): Text {
  return outcome === 'success' || failed ? sentence : t('activity.event.failed', { event: sentence });
}

function resolveTemplate(template: Template, event: Event): SentenceKey {
  return typeof template === 'string' ? template : template(event);
}

/** The values of all placeholders of the sentences. */
function valuesOf(event: Event, nameOf: MentionRenderer): Record<string, string | Slot | Text> {
  const { subjectId, clientId, data } = event;
  const nameFields = ['name', 'roleName', 'number', 'recipient', 'message', 'domain'];
  const connection =
    typeof data.connection === 'string' ? nameOf({ type: 'connection', id: data.connection }) : undefined;
  return {
    ...Object.fromEntries(nameFields.map((name) => [name, nameSlot(nameIn(data, name) ?? '…')])),
    // Events of the configuration file have it as their name.
    setting: new Slot({ text: settingLabel(nameIn(data, 'setting') ?? nameIn(data, 'name') ?? '…') }),
    actor: actorOf(event, nameOf),
    user:
      subjectId === null
        ? t('activity.unknown.user')
        : nameOf({ type: 'user', id: subjectId, name: nameIn(data, 'username') }),
    app:
      clientId === null
        ? t('activity.unknown.application')
        : nameOf({ type: 'application', id: clientId, name: nameIn(data, 'name') }),
    connection: connection ?? t('activity.unknown.connection'),
    with: methodsOf(data.amr, connection),
    method: data.method === 'recovery-code' ? 'recovery' : String(data.method),
    channel: String(data.channel),
  };
}

/** An event without a user or an application was caused by the server, the command line or the configuration file. */
function actorOf({ actorId, actorApp, data }: Event, nameOf: MentionRenderer): Slot | Text {
  if (actorId !== null) return nameOf({ type: 'user', id: actorId });
  if (actorApp !== null) return nameOf({ type: 'application', id: actorApp });
  const isFile = data.by === 'file' || data.source === 'file';
  return isFile ? t('activity.actor.configuration-file') : t('activity.actor.server');
}

/** A text of the event, looked up in `data`, `data.after` and `data.before`. */
function nameIn(data: Record<string, unknown>, name: string): string | undefined {
  for (const place of [data, data.after, data.before]) {
    const value = typeof place === 'object' && place !== null ? (place as Record<string, unknown>)[name] : undefined;
    if (typeof value === 'string' && value !== '') return value;
  }
  return name === 'name' ? nameIn(data, 'identifier') : undefined;
}

const METHODS: [string, Text][] = [
  ['pwd', t('activity.method.password')],
  ['otp', t('activity.method.authenticator-app')],
  ['sms', t('activity.method.sms')],
  ['email', t('activity.method.email')],
  ['recovery', t('activity.method.recovery-code')],
  ['hwk', t('activity.method.passkey')],
  ['swk', t('activity.method.passkey')],
];

/** `a password and a passkey`, from the authentication methods (RFC 8176), or the identity provider of the sign-in. */
function methodsOf(amr: unknown, connection: Slot | Text | undefined): Slot | Text {
  const amrValues = Array.isArray(amr) ? amr : [];
  const methods = [...new Set(METHODS.flatMap(([value, text]) => (amrValues.includes(value) ? [text] : [])))];
  const provider = connection ?? (amrValues.includes('fed') ? t('activity.unknown.connection') : undefined);
  if (methods.length === 0) return provider ?? t('activity.method.unknown');
  return provider
    ? t('activity.method.at-connection', { methods: allOf(methods), connection: provider })
    : allOf(methods);
}
