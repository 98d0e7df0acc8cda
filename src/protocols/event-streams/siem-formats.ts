// The events in the formats of SIEMs: Splunk HTTP Event Collector, Elastic Common Schema 8, OCSF 1.3 and syslog (RFC 5424).
import { hostname } from 'node:os';
import { limitedJson } from '../../core/audit/audit.ts';
import { type AuditEventType, kindOfEvent } from '../../core/audit/events.ts';
import type { EventBody } from './event.ts';
import type { StreamDeclaration } from './streams.ts';

interface Batch {
  contentType: string;
  /** Of the header `Authorization`. */
  scheme: 'Bearer' | 'Splunk' | 'ApiKey';
  body: string;
}

const HOST = hostname();
const lines = (values: readonly object[]) => values.map((value) => `${JSON.stringify(value)}\n`).join('');

/** One request for all of these events. */
export function batchOf(format: StreamDeclaration['format'], events: readonly EventBody[]): Batch {
  switch (format) {
    case 'splunk':
      return {
        contentType: 'application/json',
        scheme: 'Splunk',
        body: events.map((event) => JSON.stringify(toSplunk(event))).join('\n'),
      };
    case 'ecs':
      return {
        contentType: 'application/x-ndjson',
        scheme: 'ApiKey',
        // A test of the stream has no hash.
        body: lines(events.flatMap((event) => [{ create: { _id: event.chain.hash || undefined } }, toEcs(event)])),
      };
    case 'ocsf':
      return { contentType: 'application/json', scheme: 'Bearer', body: JSON.stringify(events.map(toOcsf)) };
    case 'syslog':
      return { contentType: '', scheme: 'Bearer', body: events.map(toSyslog).join('') };
    default:
      return { contentType: 'application/json', scheme: 'Bearer', body: JSON.stringify(events) };
  }
}

function toSplunk(event: EventBody) {
  return {
    time: Date.parse(event.timestamp) / 1000,
    host: HOST,
    source: 'gatehouse',
    sourcetype: 'gatehouse:audit',
    event,
  };
}

const without = (values: Record<string, unknown>): object | undefined => {
  const given = Object.entries(values).filter(([, value]) => value !== null && value !== undefined);
  return given.length === 0 ? undefined : Object.fromEntries(given);
};

const ECS_CATEGORY: Readonly<Record<string, readonly string[]>> = {
  'sign-in': ['authentication'],
  session: ['session', 'authentication'],
  factor: ['iam', 'authentication'],
  account: ['iam'],
  password: ['iam'],
  role: ['iam'],
  group: ['iam'],
  request: ['authentication', 'web'],
};

function toEcs({ type, timestamp, data, chain }: EventBody) {
  const { actor, subject } = data;
  const user = subject ?? actor;
  return {
    '@timestamp': timestamp,
    ecs: { version: '8.11.0' },
    event: {
      kind: 'event',
      module: 'gatehouse',
      dataset: 'gatehouse.audit',
      category: ECS_CATEGORY[kindOfEvent(type) ?? ''] ?? ['configuration'],
      action: type,
      outcome: data.outcome === 'success' ? 'success' : 'failure',
      id: String(data.id),
      sequence: chain.seq,
      hash: chain.hash,
      ...(data.reason !== null && { reason: data.reason }),
    },
    user: without({ id: user?.id, name: user?.username, full_name: user?.name, email: user?.email }),
    source: without({ ip: data.address }),
    user_agent: without({ original: data.user_agent }),
    http: data.request_id === null ? undefined : { request: { id: data.request_id } },
    service: { name: 'gatehouse' },
    gatehouse: {
      actor,
      actor_application: data.actor_application,
      application: data.application,
      details: JSON.stringify(data.details),
      chain,
    },
  };
}

const [LOGON, PREAUTH, OTHER] = [1, 6, 99];
/** The class and activity of OCSF 1.3 (https://schema.ocsf.io/1.3.0), where `ocsfActivity` does not find them. */
const OCSF_ACTIVITIES: Readonly<Partial<Record<AuditEventType, readonly [OcsfClass, number]>>> = {
  'account.created': ['account', 1],
  'account.registered': ['account', 1],
  'account.updated': ['account', OTHER],
  'account.enabled': ['account', 2],
  'account.disabled': ['account', 5],
  'account.ended': ['account', 5],
  'account.deleted': ['account', 6],
  'email.changed': ['account', OTHER],
  'password.set': ['account', 3],
  'password.changed': ['account', 3],
  'password.reset-requested': ['account', 4],
  'password.reset': ['account', 4],
  'totp.enrolled': ['account', 10],
  'passkey.enrolled': ['account', 10],
  'phone.confirmed': ['account', 10],
  'totp.removed': ['account', 11],
  'passkey.removed': ['account', 11],
  'phone.removed': ['account', 11],
  'factors.reset': ['account', 11],
  'sign-in.completed': ['authentication', LOGON],
  'session.ended': ['authentication', 2],
  'sessions.ended-all': ['authentication', 2],
  'role.assigned': ['access', 1],
  'role.unassigned': ['access', 2],
  'group.role-added': ['group', 1],
  'group.role-removed': ['group', 2],
  'group.member-added': ['group', 3],
  'group.member-removed': ['group', 4],
  'group.member-expired': ['group', 4],
  'group.deleted': ['group', 5],
  'group.created': ['group', 6],
};

const OCSF_CLASSES = {
  other: 0,
  account: 3001,
  authentication: 3002,
  entity: 3004,
  access: 3005,
  group: 3006,
} as const;
type OcsfClass = keyof typeof OCSF_CLASSES;

/** A step of a sign-in is its preparation, and a failed one a failed sign-in. */
const OCSF_SIGN_IN_STEPS = ['password', 'passkey', 'upstream', 'second-factor', 'recovery-code'].map(
  (step) => `sign-in.${step}`,
);
const OCSF_ENTITY_ACTIVITIES: Readonly<Record<string, number>> = {
  created: 1,
  updated: 3,
  changed: 3,
  deleted: 4,
  revoked: 4,
  enabled: 8,
  disabled: 9,
};

function ocsfActivity(type: string, isFailure: boolean): readonly [OcsfClass, number] {
  const known = OCSF_ACTIVITIES[type as AuditEventType];
  if (known) return known;
  if (OCSF_SIGN_IN_STEPS.includes(type)) return ['authentication', isFailure ? LOGON : PREAUTH];
  const kind = kindOfEvent(type);
  if (kind === 'group') return ['group', OTHER];
  const activity = OCSF_ENTITY_ACTIVITIES[type.slice(type.indexOf('.') + 1)];
  if (activity && kind !== 'request' && kind !== 'factor') return ['entity', activity];
  return kind === 'account' || kind === 'password' || kind === 'factor' ? ['account', OTHER] : ['other', OTHER];
}

function toOcsf({ type, timestamp, data, chain }: EventBody) {
  const { details, application, actor, actor_application, subject, address, user_agent, request_id } = data;
  const isFailure = data.outcome !== 'success';
  const [name, activity_id] = ocsfActivity(type, isFailure);
  const class_uid = OCSF_CLASSES[name];
  const userOf = (person: typeof subject) =>
    person && without({ uid: person.id, name: person.username, full_name: person.name, email_addr: person.email });
  const user = userOf(subject ?? actor) ?? { name: 'unknown' };
  const [noun = ''] = type.split('.');
  const namesOf = {
    other: {},
    account: { user },
    authentication: { user, service: application === null ? { name: 'Gatehouse' } : { uid: application } },
    entity: { entity: { type: noun, ...ocsfEntity(details, application ?? noun) } },
    access: { user, privileges: [String(details.roleName ?? '')] },
    group: {
      group: without({ uid: details.groupId, name: details.groupName }) ?? { name: 'unknown' },
      ...(subject && { user }),
      privileges: details.roleName === undefined ? [] : [String(details.roleName)],
    },
  } as const;
  return {
    category_uid: Math.floor(class_uid / 1000),
    class_uid,
    activity_id,
    ...(activity_id === OTHER && { activity_name: type }),
    type_uid: class_uid * 100 + activity_id,
    time: Date.parse(timestamp),
    severity_id: isFailure ? 2 : 1,
    status_id: isFailure ? 2 : 1,
    ...(data.reason !== null && { status_detail: data.reason }),
    metadata: {
      version: '1.3.0',
      uid: String(data.id),
      sequence: chain.seq,
      event_code: type,
      product: { name: 'Gatehouse', vendor_name: 'Gatehouse' },
    },
    ...namesOf[name],
    ...(class_uid > 0 && {
      actor: actor ? { user: userOf(actor) } : undefined,
      src_endpoint: without({ ip: address }),
      http_request: without({ user_agent, uid: request_id }),
    }),
    unmapped: {
      // The Base Event has no place for these, and Entity Management none for the person that it is about.
      ...(class_uid === 0 && { actor, address, user_agent, request_id }),
      ...((name === 'other' || name === 'entity') && { subject }),
      actor_application,
      application,
      details,
      chain,
    },
  };
}

/** What was created, changed or deleted: by the names that the details of events have. */
function ocsfEntity(details: EventBody['data']['details'], otherwise: string): object {
  const uid = details.connectionId ?? details.streamId ?? details.codeId ?? details.keyId ?? details.tokenId;
  const { name = details.roleName ?? details.setting ?? details.connection ?? details.kid } = details;
  return without({ uid, name }) ?? { name: otherwise };
}

/** The facility "security/authorization", and the severities informational and warning. */
const PRIORITY = { success: 10 * 8 + 6, failure: 10 * 8 + 4 };
const printable = (text: string, max: number) => text.replace(/[^\x21-\x7e]/g, '_').slice(0, max) || '-';

/** What each receiver takes (RFC 5425 4.3.1). A server cuts a longer message, and stores the rest as one of its own. */
const MOST_OCTETS = 8192;

/** A message with its length before it; the event is its text, in JSON. `data` that is too long is cut, and `data.truncated` says so. */
function toSyslog(event: EventBody): string {
  const { type, timestamp, data, chain } = event;
  const priority = data.outcome === 'success' ? PRIORITY.success : PRIORITY.failure;
  const header = `<${priority}>1 ${timestamp} ${printable(HOST, 255)} gatehouse - ${printable(type, 32)} -`;
  const textOf = (content: object) => `${header} \ufeff${JSON.stringify({ ...event, data: content })}`;
  // `after` may differ in a replay. As if it were as long as `chain`, which no `after` exceeds, so that `data` is cut the same.
  const around =
    Buffer.byteLength(textOf({ id: data.id })) - JSON.stringify(chain.after).length + JSON.stringify(chain).length;
  const most = MOST_OCTETS - around;
  const isTooLong = Buffer.byteLength(JSON.stringify(data)) > most;
  const message = textOf(isTooLong ? { ...JSON.parse(limitedJson({ ...data }, most)), id: data.id } : data);
  return `${Buffer.byteLength(message)} ${message}`;
}
