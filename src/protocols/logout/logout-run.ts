// A logout run and its participants, as rows and as values, and the audit event of each outcome.

import type { Context } from '../../base/http/context.ts';
import type { Cookies } from '../../base/http/cookies.ts';
import { randomId, randomToken } from '../../base/platform/random.ts';
import type { Db } from '../../base/storage/database.ts';
import type { AuditInput } from '../../core/audit/audit.ts';
import type { NameId } from '../saml/messages/name-id.ts';
import type { ParticipantState, ParticipantStatus, ProbeResult } from './front-channel/next-step.ts';

/** The data of a LogoutRequest that its LogoutResponse needs. */
export interface LogoutRequestContext {
  /** ID of the LogoutRequest. */
  requestId: string;
  binding: 'redirect' | 'post';
  relayState?: string | undefined;
}

/** The value of the browser's cookie; `first-to-open`: the first browser that opens the page of the logout run. */
export type LogoutBrowser = { cookie: string } | 'first-to-open';

/** How a logout run ends for the browser. Stored as JSON. */
export type LogoutCompletion =
  /** With the result page. */
  | { kind: 'page' }
  /** With the post_logout_redirect_uri of a relying party. */
  | { kind: 'oidc'; uri: string }
  /** With the LogoutResponse to an upstream identity provider, which this path sends; `?partial=1` when an application failed. */
  | { kind: 'upstream'; path: string }
  /** With the LogoutResponse to a service provider. */
  | ({ kind: 'saml'; entityId: string } & LogoutRequestContext);

/** What identifies the session at the application: `sid`, or NameID and SessionIndex. Stored as JSON. */
export interface ParticipantData {
  sid?: string | undefined;
  nameId?: NameId;
  sessionIndex?: string;
  /** The service provider also has a SOAP endpoint, for when the browser does not reach it. */
  hasSoap?: boolean;
  /** Of an upstream identity provider: the row of the session there. */
  upstreamSession?: string;
  /** The user decides whether the logout continues at the upstream. */
  asksUser?: boolean;
}

/** An application that takes part in the ended session, or the upstream identity provider that it came from. */
export interface Participant extends ParticipantStatus {
  runId: string;
  clientId: string;
  protocol: 'oidc' | 'saml';
  name: string;
  data: ParticipantData;
  reason: string | undefined;
}

export type NewParticipant = Omit<Participant, 'id' | 'runId' | 'reason' | 'deadline' | 'probeResult'> & {
  reason?: string;
};

export interface LogoutRun {
  id: string;
  userId: string;
  /** client_id or entity ID of the application that began the logout. */
  initiator: string | undefined;
  completion: LogoutCompletion;
  /** The languages that its request asked for. */
  languages: string[];
  createdAt: Date;
  isFinished: boolean;
  participants: Participant[];
}

export interface NewRun {
  userId: string;
  reason: string;
  initiator: string | undefined;
  participants: NewParticipant[];
  /** The browser that runs the front-channel steps; undefined: there are deliveries only. */
  frontChannel: FrontChannel | undefined;
}

/** A front-channel logout: the browser that runs through it, and how it ends. */
export interface FrontChannel {
  browser: LogoutBrowser;
  /** The session of this browser, where several end. */
  sessionUid?: string;
  completion: LogoutCompletion;
  /** The languages that the request asks for. */
  languages?: string[];
}

/** A logout run that has begun, and how its participants are notified. */
export interface StartedRun {
  id: string;
  /** Number of applications, and upstreams, that the browser has to visit. */
  browserSteps: number;
  /** Number of applications that are notified by deliveries. */
  deliveries: number;
  /** Names of the applications that are being notified, with or without the browser. */
  notified: string[];
  /** Names of the applications that cannot be notified. */
  notNotified: string[];
}

/** The reason of the application that began the logout. */
export const INITIATOR = 'initiator';

/** Whether the application is notified by a delivery from this server. */
export function isDirectDelivery(channel: string): boolean {
  return channel === 'back' || channel === 'soap';
}

/** A delivery as a new row. @param participantId of a logout run, if the delivery belongs to one */
export function deliveryRow(
  to: { participantId: string | null; clientId: string; channel: string; accountId: string; sid: string | undefined },
  at: Date,
) {
  return { ...to, id: randomId(), sid: to.sid ?? null, nextTryAt: at, createdAt: at };
}

/** The delivery that notifies a participant, as a new row. */
export function deliveryToParticipant(
  row: { id: string; clientId: string; channel: string; data: string },
  accountId: string,
  at: Date,
) {
  const { sid } = JSON.parse(row.data) as ParticipantData;
  const { id: participantId, clientId, channel } = row;
  return deliveryRow({ participantId, clientId, channel, accountId, sid }, at);
}

/** The audit event of a stored outcome. */
export function outcomeEvent(
  row: { clientId: string; protocol: string; channel: string; state: string; reason: string | null },
  run: { id: string; userId: string },
): AuditInput {
  const { clientId, protocol, channel, reason } = row;
  const isNotified = row.state === 'done' || row.state === 'notified';
  return {
    type: isNotified ? 'logout.delivered' : 'logout.failed',
    outcome: isNotified ? 'success' : 'failure',
    ...(reason === null ? {} : { reason }),
    subjectId: run.userId,
    clientId,
    data: { run: run.id, protocol, channel, state: row.state },
  };
}

type ParticipantRow = Awaited<ReturnType<Db['logoutParticipant']['findMany']>>[number];
type RunRow = Awaited<ReturnType<Db['logoutRun']['findMany']>>[number] & { participants: ParticipantRow[] };

export function toRun(stored: RunRow): LogoutRun {
  const { id, userId, initiator, createdAt, finishedAt, participants, ...row } = stored;
  const { languages = [], ...completion } = JSON.parse(row.completion) as LogoutCompletion & { languages?: string[] };
  return {
    id,
    userId,
    initiator: initiator ?? undefined,
    completion,
    languages,
    createdAt,
    isFinished: finishedAt !== null,
    participants: participants.map(toParticipant),
  };
}

function toParticipant(row: ParticipantRow): Participant {
  const data = JSON.parse(row.data) as ParticipantData;
  return {
    id: row.id,
    runId: row.runId,
    clientId: row.clientId,
    protocol: row.protocol as Participant['protocol'],
    name: row.name,
    channel: row.channel as Participant['channel'],
    data,
    asksUser: data.asksUser === true,
    state: row.state as ParticipantState,
    reason: row.reason ?? undefined,
    probeResult: (row.probeResult as ProbeResult | null) ?? undefined,
    deadline: row.deadline ?? undefined,
  };
}

// The browser of a front-channel logout, recognized by a random value in a cookie.

/** The browser of a request that starts a logout; sets the cookie when there is none. */
export function logoutBrowserOf(ctx: Context, cookies: Cookies): LogoutBrowser {
  // A form POST from another site has no SameSite=Lax cookies; the redirect after it has them.
  if (ctx.method === 'POST' && ctx.get('Sec-Fetch-Site') !== 'same-origin') return 'first-to-open';
  const cookie = cookies.get(ctx, 'logout') ?? randomToken();
  cookies.set(ctx, 'logout', cookie);
  return { cookie };
}
