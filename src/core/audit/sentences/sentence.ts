// Audit events in sentences, such as `Ann signed in to Payroll with a passkey`, for the activity log and every page that lists events.
import { allOf, hasText, type PageText, Slot, sentenceCase, Text, t } from '../../../base/texts/text.ts';
import type { AuditEntry } from '../audit.ts';
import type { AuditEventType } from '../events.ts';
import { accountTexts } from './accounts.ts';
import { applicationTexts } from './applications.ts';
import type { EventKind, EventText, SentenceKey, Template } from './event-text.ts';
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
  const nameFields = ['name', 'roleName', 'number', 'recipient', 'message', 'domain', 'groupName', 'childName'];
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

const reasonTexts: Record<string, Text> = {
  access_denied: t('activity.reason.access-denied'),
  access_lost: t('console.events.reason.access-lost'),
  account_selection_required: t('console.events.reason.account-selection-required'),
  address_in_use: t('console.events.reason.address-in-use'),
  by_mail: t('console.events.reason.by-mail'),
  captcha_unsolved: t('console.events.reason.captcha-unsolved'),
  consent_required: t('console.events.reason.consent-required'),
  denied_network: t('activity.reason.denied-network'),
  directory_account_disabled: t('console.events.reason.directory-account-disabled'),
  directory_account_expired: t('console.events.reason.directory-account-expired'),
  directory_account_locked: t('console.events.reason.directory-account-locked'),
  directory_answer_invalid: t('console.events.reason.directory-answer-invalid'),
  directory_constraint: t('console.events.reason.directory-constraint'),
  directory_gone: t('console.events.reason.directory-gone'),
  directory_no_identifier: t('console.events.reason.directory-no-identifier'),
  directory_no_password: t('console.events.reason.directory-no-password'),
  directory_no_right: t('console.events.reason.directory-no-right'),
  directory_no_user: t('console.events.reason.directory-no-user'),
  directory_not_here: t('console.events.reason.directory-not-here'),
  directory_not_now: t('console.events.reason.directory-not-now'),
  directory_password_expired: t('console.events.reason.directory-password-expired'),
  directory_password_must_change: t('console.events.reason.directory-password-must-change'),
  directory_unwilling: t('console.events.reason.directory-unwilling'),
  disabled_account: t('activity.reason.disabled-account'),
  expired: t('activity.reason.expired'),
  expired_token: t('console.events.reason.expired-token'),
  'invalid-signature': t('activity.reason.invalid-signature'),
  invalid_client: t('console.events.reason.invalid-client'),
  invalid_client_metadata: t('console.events.reason.invalid-client-metadata'),
  invalid_dpop_proof: t('console.events.reason.invalid-dpop-proof'),
  invalid_grant: t('console.events.reason.invalid-grant'),
  invalid_link: t('console.events.reason.invalid-link'),
  invalid_redirect_uri: t('console.events.reason.invalid-redirect-uri'),
  invalid_request: t('activity.reason.invalid-request'),
  invalid_request_object: t('activity.reason.invalid-request-object'),
  invalid_scope: t('activity.reason.invalid-scope'),
  invalid_target: t('activity.reason.invalid-target'),
  invalid_token: t('console.events.reason.invalid-token'),
  login_required: t('console.events.reason.login-required'),
  malformed: t('activity.reason.malformed'),
  metadata_expired: t('console.events.reason.metadata-expired'),
  name_id_encrypted: t('console.events.reason.name-id-encrypted'),
  no_logout: t('activity.reason.no-logout'),
  no_password: t('console.events.reason.no-password'),
  no_such_session: t('console.events.reason.no-such-session'),
  not_handed_over: t('activity.reason.not-handed-over'),
  not_permitted: t('activity.reason.not-permitted'),
  replayed: t('activity.reason.replayed'),
  revoked: t('activity.reason.revoked'),
  session_ended: t('activity.reason.session-ended'),
  switched_off: t('activity.reason.switched-off'),
  too_many_codes: t('activity.reason.too-many-codes'),
  too_many_requests: t('activity.reason.too-many-requests'),
  too_many_tries: t('activity.reason.too-many-tries'),
  unauthorized_client: t('activity.reason.unauthorized-client'),
  unknown_account: t('console.events.reason.unknown-account'),
  unknown_code: t('console.events.reason.unknown-code'),
  'unknown-credential': t('console.events.reason.unknown-credential'),
  unsupported_grant_type: t('console.events.reason.unsupported-grant-type'),
  used: t('activity.reason.used'),
  wrong: t('activity.reason.wrong'),
  wrong_password: t('console.events.reason.wrong-password'),
};
