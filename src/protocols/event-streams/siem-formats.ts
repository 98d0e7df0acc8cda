// The events in the formats of SIEMs: Splunk HTTP Event Collector, Elastic Common Schema 8, OCSF 1.3 and syslog (RFC 5424).
import { hostname } from 'node:os';
import { kindOfEvent } from '../../core/audit/events.ts';
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

/** Class and activity: https://schema.ocsf.io/1.3.0. */
function ocsfClass(type: string): { class_uid: number; activity_id: number } {
  const verb = type.slice(type.indexOf('.') + 1);
  switch (kindOfEvent(type)) {
    case 'sign-in':
      return { class_uid: 3002, activity_id: 1 }; // Authentication: Logon
    case 'session':
      return { class_uid: 3002, activity_id: 2 }; // Logoff
    case 'account':
    case 'password':
    case 'factor': {
      const activities: Readonly<Record<string, number>> = {
        created: 1,
        enabled: 2,
        changed: 3,
        reset: 4,
        disabled: 5,
        deleted: 6,
        enrolled: 10,
        removed: 11,
      };
      return { class_uid: 3001, activity_id: activities[verb] ?? 99 }; // Account Change
    }
    case 'role':
      return { class_uid: 3005, activity_id: verb === 'assigned' ? 1 : verb === 'unassigned' ? 2 : 99 }; // User Access Management
    case 'group': {
      const activities: Readonly<Record<string, number>> = {
        'member-added': 3,
        'member-removed': 4,
        deleted: 5,
        created: 6,
      };
      return { class_uid: 3006, activity_id: activities[verb] ?? 99 }; // Group Management
    }
    default: {
      const activities: Readonly<Record<string, number>> = { created: 1, updated: 3, deleted: 4 };
      return { class_uid: 3004, activity_id: activities[verb] ?? 99 }; // Entity Management
    }
  }
}

function toOcsf(event: EventBody) {
  const { type, timestamp, data, chain } = event;
  const { class_uid, activity_id } = ocsfClass(type);
  const isFailure = data.outcome !== 'success';
  const userOf = (person: typeof data.subject) =>
    person && without({ uid: person.id, name: person.username, full_name: person.name, email_addr: person.email });
  return {
    category_uid: 3,
    class_uid,
    activity_id,
    ...(activity_id === 99 && { activity_name: type }),
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
    ...(data.actor && { actor: { user: userOf(data.actor) } }),
    user: userOf(data.subject ?? data.actor) ?? { name: 'unknown' },
    ...(data.address !== null && { src_endpoint: { ip: data.address } }),
    ...(data.user_agent !== null && { http_request: { user_agent: data.user_agent, uid: data.request_id } }),
    unmapped: {
      actor_application: data.actor_application,
      application: data.application,
      details: data.details,
      chain,
    },
  };
}

/** The facility "security/authorization", and the severities informational and warning. */
const PRIORITY = { success: 10 * 8 + 6, failure: 10 * 8 + 4 };
const printable = (text: string, max: number) => text.replace(/[^\x21-\x7e]/g, '_').slice(0, max) || '-';

/** A message with its length before it; the event is its text, in JSON. */
function toSyslog(event: EventBody): string {
  const { type, timestamp, data } = event;
  const priority = data.outcome === 'success' ? PRIORITY.success : PRIORITY.failure;
  const header = `<${priority}>1 ${timestamp} ${printable(HOST, 255)} gatehouse - ${printable(type, 32)} -`;
  const message = `${header} \ufeff${JSON.stringify(event)}`;
  return `${Buffer.byteLength(message)} ${message}`;
}
