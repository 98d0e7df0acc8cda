// Audit events in sentences, such as `Ann signed in to Payroll with a passkey`, for the activity log and every page that lists events.
import {
  allOf,
  countryName,
  hasText,
  type PageText,
  Slot,
  sentenceCase,
  Text,
  type TextKey,
  t,
} from '../../base/texts/text.ts';
import { type AuditEntry, directoryActor } from './audit.ts';
import type { AuditEventType } from './events.ts';

/** A user, application, connection or directory (SCIM) in a sentence; `name` is the name in the event, for one that was deleted. */
export interface Mention {
  type: 'user' | 'application' | 'connection' | 'directory';
  /** The id of a user, connection or directory, the client_id or entity ID of an application. */
  id: string;
  name?: string | undefined;
}

/** Renders a mention on a page: a slot for a name, a text for words. */
export type MentionRenderer = (mention: Mention) => Slot | Text;

/** The event as one sentence without its full stop; an unknown event (of a newer version) as its type. */
export function sentenceOf(event: AuditEntry, nameOf: MentionRenderer): PageText {
  const { type, outcome } = event;
  const failure = outcome === 'success' ? undefined : textWith(failureKeys(event));
  const key = failure ?? textWith(outcome === 'success' ? successKeys(event) : doneKeys(event));
  if (!key) return type;
  const text = new Text(key, valuesOf(event, nameOf));
  const sentence = outcome === 'success' || failure ? text : t('activity.event.failed', { event: text });
  const reason = outcome === 'success' || SAY_REASON.has(type) ? undefined : reasonText(event);
  return sentenceCase(reason ? t('activity.event.reason', { event: sentence, reason }) : sentence);
}

/** What an event of this type says, with `…` for the names in it. */
export function sentenceOfType(type: AuditEventType): PageText {
  const names = { actorId: 'actor', subjectId: 'subject', clientId: 'application', actorApp: null, erasedBy: null };
  const rest = { reason: null, address: null, userAgent: null, requestId: null };
  const data = { connection: 'connection' };
  return sentenceOf({ id: 0, at: new Date(0), type, outcome: 'success', data, ...names, ...rest }, () => nameSlot('…'));
}

/** The application that the event is about, or whose sign-in it is a step of. */
export function applicationOf({
  clientId,
  data,
}: {
  clientId: string | null;
  data: Record<string, unknown>;
}): Mention | undefined {
  if (clientId !== null) return { type: 'application', id: clientId, name: nameIn(data, 'name') };
  return typeof data.application === 'string' ? { type: 'application', id: data.application } : undefined;
}

/** All mentions in the sentences of these events, so that a page can load their names first. */
export function mentionsIn(events: readonly AuditEntry[]): Mention[] {
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

/**
 * What the console calls a setting outside of its page: "Branding: Name". An unknown one (of a newer version) is called by its name in the
 * configuration file.
 */
export function settingLabel(name: string): PageText {
  const key = `console.setting.${name}.label`;
  const label = hasText(key) ? new Text(key) : name;
  return name.startsWith('brand_') ? t('console.settings.of-brand', { setting: label }) : label;
}

// The keys of the sentences, by the name of the event, the most specific first. Those below `activity.event` are also displayed to users, on
// /account/activity.

type SentenceKey = Extract<TextKey, `activity.event.${string}` | `console.events.${string}`>;

/** The first of these that has a text. */
function textWith(names: readonly string[]): SentenceKey | undefined {
  return names
    .flatMap((name) => [`activity.event.${name}` as const, `console.events.${name}` as const])
    .find((key): key is SentenceKey => hasText(key));
}

/** `own`: the actor is the user. `passive`: the event has no actor. */
function successKeys(event: AuditEntry): string[] {
  const { type, actorId, actorApp, subjectId } = event;
  const isOwn = actorId !== null && actorId === subjectId;
  const isPassive = isOwn || (actorId === null && actorApp === null);
  return [
    ...(isOwn ? [`${type}.own`] : []),
    ...(isPassive ? [`${type}.passive`] : []),
    ...doneKeys(event),
    ...failureKeys(event),
  ];
}

function doneKeys(event: AuditEntry): string[] {
  const { type, reason } = event;
  const variant = variantOf(event);
  return [
    ...(variant ? [...withReason(`${type}.${variant}`, reason), `${type}.${variant}`] : []),
    ...withReason(type, reason),
    // One session ends for the same reasons as all of them.
    ...(type === 'session.ended' ? withReason('sessions.ended-all', reason) : []),
    type,
  ];
}

/** `unknown`: no account has the name that was entered. */
function failureKeys(event: AuditEntry): string[] {
  const { type, reason, subjectId, erasedBy } = event;
  const variant = variantOf(event);
  return [
    ...(subjectId === null && erasedBy === null ? [...withReason(`${type}.unknown`, reason), `${type}.unknown`] : []),
    ...(variant ? [`${type}.failed.${variant}`] : []),
    ...withReason(`${type}.failed`, reason),
    `${type}.failed`,
  ];
}

const nameOfReason = (reason: string) => reason.replaceAll('_', '-');
const withReason = (name: string, reason: string | null) => (reason ? [`${name}.${nameOfReason(reason)}`] : []);

/** What else the sentence of an event depends on. */
function variantOf({ type, outcome, subjectId, clientId, data }: AuditEntry): string | undefined {
  switch (type) {
    case 'sign-in.completed':
    case 'token.revoked':
      return clientId === null ? undefined : 'app';
    // A text message was handed to the gateway; an email is in the queue, and has an entry of its own when it leaves.
    case 'one-time-code.sent':
      return data.channel === 'sms' ? 'sms' : undefined;
    case 'passkey.removed':
      return typeof data.name === 'string' ? 'one' : undefined;
    case 'administrator.added':
      return typeof data.count === 'number' ? 'many' : undefined;
    case 'provisioning.sent':
      return subjectId === null ? 'group' : String(data.action);
    case 'configuration.taken-over':
    case 'configuration.released':
      if (data.section === 'settings') return 'setting';
      return clientId === null ? undefined : 'app';
    case 'application.created':
      return data.source === 'dynamic' || data.source === 'document' ? data.source : undefined;
    case 'consent.granted':
      return apisOf(data).length > 0 ? 'apis' : undefined;
    case 'setting.changed':
      return (data.setting ?? data.name) ? undefined : 'unnamed';
    case 'mail.sent':
      return data.file === true ? 'file' : undefined;
    case 'mail.failed':
      return outcome === 'success' || data.recipient ? undefined : 'unwritten';
    default:
      return undefined;
  }
}

/** The sentences that already contain the reason of a failure. */
export const SAY_REASON: ReadonlySet<string> = new Set<AuditEventType>([
  'sign-in.password',
  'sign-in.throttled',
  'session.ended',
  'sessions.ended-all',
  'logout.rejected',
  'token.revoked',
  'connection.secret-rejected',
  'connection.document-failed',
  'mail.failed',
  'integrity.alarm',
  'address.denied',
]);

function reasonText({ reason }: AuditEntry): Text | undefined {
  if (!reason) return undefined;
  const key = [`activity.reason.${nameOfReason(reason)}`, `console.events.reason.${nameOfReason(reason)}`].find(
    hasText,
  );
  return key && new Text(key);
}

/** The values of all placeholders of the sentences. */
function valuesOf(event: AuditEntry, nameOf: MentionRenderer): Record<string, string | Slot | Text> {
  const { subjectId, clientId, data } = event;
  const nameFields = [
    'name',
    'roleName',
    'number',
    'message',
    'domain',
    'version',
    'groupName',
    'childName',
    'api',
    'host',
  ];
  const connection =
    typeof data.connection === 'string' ? nameOf({ type: 'connection', id: data.connection }) : undefined;
  return {
    ...Object.fromEntries(nameFields.map((name) => [name, nameSlot(nameIn(data, name) ?? '…')])),
    recipient: recipientOf(event, nameOf),
    // Events of the configuration file have it as their name.
    setting: new Slot({ text: settingLabel(nameIn(data, 'setting') ?? nameIn(data, 'name') ?? '…') }),
    actor: actorOf(event, nameOf),
    user:
      subjectId === null
        ? t(event.erasedBy === null ? 'activity.unknown.user' : 'activity.erased.user')
        : nameOf({ type: 'user', id: subjectId, name: nameIn(data, 'username') }),
    app:
      clientId === null
        ? t('activity.unknown.application')
        : nameOf({ type: 'application', id: clientId, name: nameIn(data, 'name') }),
    connection: connection ?? t('activity.unknown.connection'),
    with: methodsOf(data.amr, connection),
    method: data.method === 'recovery-code' ? 'recovery' : String(data.method),
    channel: String(data.channel),
    country: typeof data.country === 'string' ? countryName(data.country) : nameSlot('…'),
    count: nameSlot(String(data.count ?? '…')),
    apis: nameSlot(apisOf(data).join(', ')),
  };
}

/** The APIs that a consent is for. */
const apisOf = ({ resources }: Record<string, unknown>): string[] => Object.keys(resources ?? {});

/** Of an email: the user as in every other sentence, else the address. */
function recipientOf({ subjectId, data }: AuditEntry, nameOf: MentionRenderer): Slot | Text {
  const name = nameIn(data, 'recipient');
  return subjectId === null ? nameSlot(name ?? '…') : nameOf({ type: 'user', id: subjectId, name });
}

/** An event without a user or an application was caused by the server, the command line or the configuration file. */
function actorOf({ actorId, actorApp, data, erasedBy }: AuditEntry, nameOf: MentionRenderer): Slot | Text {
  if (actorId !== null) return nameOf({ type: 'user', id: actorId });
  const { scim } = data as { scim?: { id: string; name: string } };
  if (scim && actorApp === directoryActor(scim.id)) return nameOf({ type: 'directory', ...scim });
  if (actorApp !== null) return nameOf({ type: 'application', id: actorApp });
  if (erasedBy !== null) return t('activity.erased.user');
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
