// A sign-out and its participants: the shapes of their rows, and what is noted of an outcome.
import type { AuditInput } from '../audit/audit.ts';
import type { Db } from '../platform/db.ts';
import { randomId } from '../platform/random.ts';
import type { NameId } from '../saml/nameid.ts';
import type { Hop, ParticipantState } from './next-hop.ts';

/** Where the browser goes at the end. */
export type Answer =
  | { kind: 'page' }
  | { kind: 'oidc'; uri: string }
  | {
      kind: 'saml';
      entityId: string;
      requestId: string;
      binding: 'redirect' | 'post';
      relayState?: string | undefined;
    };

/** What an application has to be told, beside that the session has ended. */
export interface ParticipantData {
  sid?: string | undefined;
  nameId?: NameId;
  sessionIndex?: string;
  /** A SAML service provider that can be called as well, should the browser not get through. */
  hasSoap?: boolean;
}

export interface Participant extends Hop {
  runId: string;
  clientId: string;
  protocol: 'oidc' | 'saml';
  name: string;
  data: ParticipantData;
  reason: string | undefined;
}

export type NewParticipant = Pick<Participant, 'clientId' | 'protocol' | 'name' | 'channel' | 'data' | 'state'> & {
  reason?: string;
};

export interface LogoutRun {
  id: string;
  userId: string;
  askedBy: string | undefined;
  answer: Answer;
  createdAt: Date;
  isFinished: boolean;
  participants: Participant[];
}

/** The browser that walks: the value of its cookie, or the first one to open the address. */
export type Walker = { cookie: string } | 'first-to-open';

export interface NewRun {
  userId: string;
  reason: string;
  askedBy: string | undefined;
  participants: NewParticipant[];
  /** Absent: nobody's browser walks, only our own calls are made. */
  walk: { browser: Walker; answer: Answer } | undefined;
}

export interface RunRef {
  id: string;
  /** How many applications the browser has to be led to, */
  visits: number;
  /** how many are told by calls of ours, */
  calls: number;
  /** and the names of those that can't be told. */
  untold: string[];
}

/** Whether the application is told by a call of ours. */
export function isCall(channel: string): boolean {
  return channel === 'back' || channel === 'soap';
}

/** The call that tells a participant. */
export function deliveryOf(
  row: { id: string; clientId: string; channel: string; data: string },
  accountId: string,
  at: Date,
) {
  const { sid } = JSON.parse(row.data) as ParticipantData;
  const { id: participantId, clientId, channel } = row;
  return {
    id: randomId(),
    participantId,
    clientId,
    channel,
    accountId,
    sid: sid ?? null,
    nextTryAt: at,
    createdAt: at,
  };
}

/** The audit event of an outcome. */
export function eventOf(
  row: { clientId: string; protocol: string; channel: string; state: string; reason: string | null },
  run: { id: string; userId: string },
): AuditInput {
  const { clientId, protocol, channel, reason } = row;
  const isTold = row.state === 'done' || row.state === 'told';
  return {
    type: isTold ? 'logout.delivered' : 'logout.failed',
    outcome: isTold ? 'success' : 'failure',
    ...(reason === null ? {} : { reason }),
    subjectId: run.userId,
    clientId,
    data: { run: run.id, protocol, channel, state: row.state },
  };
}

type ParticipantRow = Awaited<ReturnType<Db['logoutParticipant']['findMany']>>[number];
type RunRow = Awaited<ReturnType<Db['logoutRun']['findMany']>>[number] & { participants: ParticipantRow[] };

export function toRun({ id, userId, askedBy, answer, createdAt, finishedAt, participants }: RunRow): LogoutRun {
  return {
    id,
    userId,
    askedBy: askedBy ?? undefined,
    answer: JSON.parse(answer) as Answer,
    createdAt,
    isFinished: finishedAt !== null,
    participants: participants.map(toParticipant),
  };
}

export function toParticipant(row: ParticipantRow): Participant {
  return {
    id: row.id,
    runId: row.runId,
    clientId: row.clientId,
    protocol: row.protocol as Participant['protocol'],
    name: row.name,
    channel: row.channel as Participant['channel'],
    data: JSON.parse(row.data) as ParticipantData,
    state: row.state as ParticipantState,
    reason: row.reason ?? undefined,
    reach: (row.reach as Hop['reach']) ?? undefined,
    deadline: row.deadline ?? undefined,
  };
}
