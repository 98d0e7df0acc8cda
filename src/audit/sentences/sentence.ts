// Audit events in sentences, such as `Ann signed in to Payroll with a passkey`, for the activity log and every page that lists events.
import type { AuditEntry } from '../audit.ts';
import type { AuditEventType } from '../events.ts';
import { accountTexts } from './accounts.ts';
import { applicationTexts } from './applications.ts';
import type { EventKind, EventText, Template } from './event-text.ts';
import { reasonTexts } from './reasons.ts';
import { signInTexts } from './sign-ins.ts';

export const eventTexts: Record<AuditEventType, EventText> = { ...signInTexts, ...accountTexts, ...applicationTexts };

/** A user, application or connection in a sentence; `name` where it was deleted since, as far as the event says it. */
export interface Mention {
  of: 'user' | 'application' | 'connection';
  /** The id of a user or connection, the client_id or entity ID of an application. */
  id: string;
  name?: string | undefined;
}

export type SentencePart = string | Mention;

type Event = Pick<
  AuditEntry,
  'type' | 'outcome' | 'reason' | 'actorId' | 'actorApp' | 'subjectId' | 'clientId' | 'data'
>;

/** The event types of a kind. */
export function typesOfKind(kind: EventKind): AuditEventType[] {
  return (Object.keys(eventTexts) as AuditEventType[]).filter((type) => eventTexts[type].kind === kind);
}

/** The event as one sentence without its full stop. An event of a later version is named by its type. */
export function sentenceOf(event: Event): SentencePart[] {
  const text = (eventTexts as Partial<Record<string, EventText>>)[event.type];
  if (!text) return [event.type];
  const template = templateOf(text, event);
  const parts = template.split(/(\{\w+\})/).flatMap((piece): SentencePart[] => {
    const name = /^\{(\w+)\}$/.exec(piece)?.[1];
    return name === undefined ? [piece] : partsFor(name, event);
  });
  const reason = text.saysReason || event.outcome === 'success' ? undefined : reasonTexts[event.reason ?? ''];
  return capitalized(merged([...parts, ...(reason ? [`: ${reason}`] : [])]));
}

/** The sentence as text. @param nameOf the name of a mention */
export function sentenceText(parts: readonly SentencePart[], nameOf: (mention: Mention) => string): string {
  return parts.map((part) => (typeof part === 'string' ? part : nameOf(part))).join('');
}

function templateOf({ done, own, passive, failed }: EventText, event: Event): string {
  const { actorId, actorApp, subjectId, outcome } = event;
  if (outcome !== 'success') return failed ? textOf(failed, event) : `${textOf(done, event)} (failed)`;
  if (actorId !== null && actorId === subjectId) return textOf(own ?? passive ?? done, event);
  return textOf(actorId === null && actorApp === null ? (passive ?? done) : done, event);
}

function textOf(template: Template, event: Parameters<Exclude<Template, string>>[0]): string {
  return typeof template === 'string' ? template : template(event);
}

function partsFor(name: string, event: Event): SentencePart[] {
  const { actorId, actorApp, subjectId, clientId, data } = event;
  switch (name) {
    case 'actor':
      if (actorId !== null) return [{ of: 'user', id: actorId }];
      return actorApp === null ? [serverName(data)] : [{ of: 'application', id: actorApp }];
    case 'user':
      return subjectId === null ? ['an unknown user'] : [{ of: 'user', id: subjectId, name: nameIn(data, 'username') }];
    case 'app':
      return clientId === null ? ['an application'] : [{ of: 'application', id: clientId, name: nameIn(data, 'name') }];
    case 'connection':
      return typeof data.connection === 'string'
        ? [{ of: 'connection', id: data.connection }]
        : ['an identity provider'];
    case 'with':
      return [`${signInMethods(data.amr)}`, ...upstreamOf(data)];
    default:
      return [nameIn(data, name) ?? '…'];
  }
}

/** The actor of an event that has none: the server itself, the command line or the configuration file. */
const serverName = (data: Record<string, unknown>) =>
  data.by === 'file' || data.source === 'file' ? 'the configuration file' : 'the server';

/** A text of the event's data, also of what it says before or after the change. */
function nameIn(data: Record<string, unknown>, name: string): string | undefined {
  for (const place of [data, data.after, data.before]) {
    const value = typeof place === 'object' && place !== null ? (place as Record<string, unknown>)[name] : undefined;
    if (typeof value === 'string' && value !== '') return value;
  }
  return name === 'name' ? nameIn(data, 'identifier') : undefined;
}

const METHOD_NAMES: [string, string][] = [
  ['pwd', 'a password'],
  ['otp', 'an authenticator app'],
  ['sms', 'a code by SMS'],
  ['email', 'a code by email'],
  ['recovery', 'a recovery code'],
  ['hwk', 'a passkey'],
  ['swk', 'a passkey'],
];

/** `a password and a passkey`, from the authentication methods (RFC 8176). */
function signInMethods(amr: unknown): string {
  const proven = Array.isArray(amr) ? amr : [];
  const names = [...new Set(METHOD_NAMES.flatMap(([value, text]) => (proven.includes(value) ? [text] : [])))];
  if (names.length < 2) return names[0] ?? (proven.includes('fed') ? '' : 'an unknown method');
  return `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;
}

function upstreamOf({ amr, connection }: Record<string, unknown>): SentencePart[] {
  if (typeof connection !== 'string') return Array.isArray(amr) && amr.includes('fed') ? ['an identity provider'] : [];
  const isAlone = signInMethods(amr) === '';
  return [isAlone ? '' : ' at ', { of: 'connection', id: connection }];
}

function merged(parts: readonly SentencePart[]): SentencePart[] {
  const result: SentencePart[] = [];
  for (const part of parts) {
    const last = result.at(-1);
    if (part === '') continue;
    if (typeof part === 'string' && typeof last === 'string') result[result.length - 1] = last + part;
    else result.push(part);
  }
  return result;
}

function capitalized([first, ...rest]: SentencePart[]): SentencePart[] {
  if (first === undefined) return [];
  return [typeof first === 'string' ? first.charAt(0).toUpperCase() + first.slice(1) : first, ...rest];
}
