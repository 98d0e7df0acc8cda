// Decides the next step of a logout run from its participants and the time alone, so that any instance can continue it
// at any moment.
import { limits } from '../../../base/limits.ts';

/** How an application is notified. */
export type Channel =
  /** OIDC Back-Channel Logout: a logout token from this server. */
  | 'back'
  /** OIDC Front-Channel Logout, in a frame of a page of this server. */
  | 'front'
  /** A SAML LogoutRequest through the browser. */
  | 'redirect'
  | 'post'
  /** A SAML LogoutRequest from this server. */
  | 'soap'
  /** The logout of the upstream identity provider, by the top-level window. */
  | 'upstream'
  | 'none';

export type ParticipantState =
  | 'waiting'
  /** The browser was sent there; its answer is pending. */
  | 'sent'
  /** A delivery failed and will be retried. */
  | 'retrying'
  /** Was notified by a channel that has no answer. */
  | 'notified'
  | 'done'
  | 'failed'
  | 'unsupported';

/** What a request of this server found at the logout URL of an application. */
export type ProbeResult =
  /** It answers; a SAML service provider sends a LogoutResponse. */
  | 'answers'
  /** The same, and the signed LogoutResponse has the status Success. */
  | 'confirmed'
  /** It answers with its own page, which does not send the browser back. */
  | 'no-return'
  /** It does not answer. */
  | 'unreachable'
  /** This server may not call it, or it needs the cookies of the browser. */
  | 'unknown';

export interface ParticipantStatus {
  id: string;
  channel: Channel;
  state: ParticipantState;
  /** Undefined before the probe. */
  probeResult: ProbeResult | undefined;
  /** End of the wait for an answer, or for its frame to open. */
  deadline: Date | undefined;
  /** Of an upstream: the user decides whether the logout goes on there. */
  asksUser?: boolean;
}

export type NextStep =
  /** Probe these before the browser is sent there. */
  | { kind: 'probe'; ids: string[] }
  /** Show these in frames, all at once, for this long. */
  | { kind: 'frames'; ids: string[]; seconds: number }
  /** The time of these frames is over. */
  | { kind: 'leave-frames'; ids: string[] }
  /** Send the browser there: in a frame when it would not return, to all that do not answer at once. */
  | { kind: 'visit'; ids: string[]; inFrame: boolean }
  /** Wait for the answer of this one. */
  | { kind: 'wait'; id: string; inFrame: boolean; seconds: number }
  /** The user decides whether the logout goes on to this upstream. */
  | { kind: 'ask'; id: string }
  /** It did not answer in time. */
  | { kind: 'give-up'; id: string }
  /** Wait a little for the first results of the deliveries. */
  | { kind: 'settle'; seconds: number }
  | { kind: 'complete' };

const inBrowser: readonly Channel[] = ['front', 'redirect', 'post', 'upstream'];

/** Whether notifying this application takes the browser of the user. */
export function needsBrowser({ channel }: { channel: Channel }): boolean {
  return inBrowser.includes(channel);
}

export function isSettled({ state }: { state: string }): boolean {
  return state !== 'waiting' && state !== 'sent';
}

/** The next step of a logout run that began at `startedAt`. */
export function nextStep(participants: readonly ParticipantStatus[], startedAt: Date, now: Date): NextStep {
  const unsettled = participants.filter((one) => !isSettled(one));
  const unprobed = unsettled.filter(
    (one) => needsBrowser(one) && one.state === 'waiting' && one.probeResult === undefined,
  );
  if (unprobed.length > 0) return { kind: 'probe', ids: unprobed.map(({ id }) => id) };

  const framed = unsettled.filter(({ channel }) => channel === 'front');
  if (framed.length > 0) {
    const ids = framed.map(({ id }) => id);
    const secondsLeft = Math.max(...framed.map((one) => remaining(one, now) ?? limits.logout.frameSeconds));
    return secondsLeft > 0 ? { kind: 'frames', ids, seconds: secondsLeft } : { kind: 'leave-frames', ids };
  }

  const browserSteps = unsettled.filter(({ channel }) => channel === 'redirect' || channel === 'post');
  const pending = browserSteps.find(({ state }) => state === 'sent');
  if (pending) {
    const seconds = remaining(pending, now) ?? 0;
    if (seconds <= 0) return { kind: 'give-up', id: pending.id };
    return { kind: 'wait', id: pending.id, inFrame: doesNotReturn(pending), seconds };
  }
  // Its frame was displayed and never opened: some browsers support no frames.
  const unopened = browserSteps.find((one) => remaining(one, now) === 0);
  if (unopened) return { kind: 'give-up', id: unopened.id };
  // First those that return the browser, then those that do not answer, in frames, last those that may not return it.
  const returning = browserSteps.find(returnsBrowser);
  if (returning) return { kind: 'visit', ids: [returning.id], inFrame: false };
  // The user waits once, however many applications are down.
  const unreachable = browserSteps.filter(({ probeResult }) => probeResult === 'unreachable');
  if (unreachable.length > 0) return { kind: 'visit', ids: unreachable.map(({ id }) => id), inFrame: true };
  const next = browserSteps.find(doesNotReturn) ?? browserSteps[0];
  if (next) return { kind: 'visit', ids: [next.id], inFrame: doesNotReturn(next) };

  const upstream = unsettled.find(({ channel }) => channel === 'upstream');
  if (upstream) return upstreamStep(upstream, now);

  const secondsLeft = limits.logout.settleSeconds - (now.getTime() - startedAt.getTime()) / 1000;
  if (unsettled.length > 0 && secondsLeft > 0) return { kind: 'settle', seconds: Math.ceil(Math.min(secondsLeft, 1)) };
  return { kind: 'complete' };
}

/** The last visit, because an upstream may not return the browser. */
function upstreamStep(upstream: ParticipantStatus, now: Date): NextStep {
  const { id, state, probeResult, asksUser } = upstream;
  const seconds = state === 'sent' ? (remaining(upstream, now) ?? 0) : undefined;
  if (seconds === 0 || probeResult === 'unreachable') return { kind: 'give-up', id };
  if (seconds !== undefined) return { kind: 'wait', id, inFrame: false, seconds };
  return asksUser ? { kind: 'ask', id } : { kind: 'visit', ids: [id], inFrame: false };
}

function returnsBrowser({ probeResult }: ParticipantStatus): boolean {
  return probeResult === 'answers' || probeResult === 'confirmed';
}

function doesNotReturn({ probeResult }: ParticipantStatus): boolean {
  return probeResult === 'unreachable' || probeResult === 'no-return';
}

/** Whole seconds until the deadline; 0 when it has passed, undefined when there is none. */
function remaining({ deadline }: ParticipantStatus, now: Date): number | undefined {
  return deadline && Math.max(0, Math.ceil((deadline.getTime() - now.getTime()) / 1000));
}
