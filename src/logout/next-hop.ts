// What a sign-out does next, decided from its rows and the time alone (seed 4.3.5): whichever instance the browser comes
// back to, after whatever happened in between, the walk goes on from there.
import { limits } from '../limits.ts';

/** How an application is told. */
export type Channel =
  /** OIDC logout token, from us to it. */
  | 'back'
  /** OIDC front-channel logout, in a frame of a page of ours. */
  | 'front'
  /** SAML LogoutRequest through the browser. */
  | 'redirect'
  | 'post'
  /** SAML LogoutRequest, from us to it. */
  | 'soap'
  | 'none';

export type ParticipantState =
  | 'waiting'
  /** The browser was sent there. */
  | 'asked'
  /** A call of ours failed and will be tried again. */
  | 'retrying'
  /** Was told in a way that has no answer. */
  | 'told'
  | 'done'
  | 'failed'
  | 'unsupported';

/** What a call of ours found at the address of an application. */
export type Reach =
  /** Something that answers; of a SAML service provider: one that sends a browser back to us. */
  | 'answers'
  /** The same, and it said under its signature that it has signed the person out. */
  | 'confirmed'
  /** A page of its own, from which no browser would come back. */
  | 'keeps'
  | 'dead'
  /** We may not call it, or it wants what only the browser has. */
  | 'unknown';

export interface Hop {
  id: string;
  channel: Channel;
  state: ParticipantState;
  /** Undefined before that call. */
  reach: Reach | undefined;
  /** Until when an answer is waited for, once it was asked, or its frame shown. */
  deadline: Date | undefined;
}

export type NextHop =
  /** Find out whether these answer at all, before a browser is sent there. */
  | { kind: 'probe'; ids: string[] }
  /** Show these in frames, all at once, for so long. */
  | { kind: 'frames'; ids: string[]; seconds: number }
  /** These have been in their frames for long enough. */
  | { kind: 'leave-frames'; ids: string[] }
  /** Send the browser there; in a frame when it would probably not come back, and to all that are dead at once. */
  | { kind: 'visit'; ids: string[]; inFrame: boolean }
  /** It was asked; wait for its answer. */
  | { kind: 'wait'; id: string; inFrame: boolean; seconds: number }
  /** It was asked and did not answer in time. */
  | { kind: 'give-up'; id: string }
  /** Wait a little for the first results of our own calls. */
  | { kind: 'settle'; seconds: number }
  | { kind: 'answer' };

const inBrowser: readonly Channel[] = ['front', 'redirect', 'post'];

/** Whether telling this application takes the person's browser. */
export function needsBrowser({ channel }: Pick<Hop, 'channel'>): boolean {
  return inBrowser.includes(channel);
}

export function isSettled({ state }: Pick<Hop, 'state'>): boolean {
  return state !== 'waiting' && state !== 'asked';
}

/** The next step of a sign-out that began at `startedAt`. */
export function nextHop(hops: readonly Hop[], startedAt: Date, now: Date): NextHop {
  const open = hops.filter((hop) => !isSettled(hop));
  const unknown = open.filter((hop) => needsBrowser(hop) && hop.state === 'waiting' && hop.reach === undefined);
  if (unknown.length > 0) return { kind: 'probe', ids: unknown.map(({ id }) => id) };

  const framed = open.filter(({ channel }) => channel === 'front');
  if (framed.length > 0) {
    const ids = framed.map(({ id }) => id);
    const secondsLeft = Math.max(...framed.map((hop) => remaining(hop, now) ?? limits.signOut.frameSeconds));
    return secondsLeft > 0 ? { kind: 'frames', ids, seconds: secondsLeft } : { kind: 'leave-frames', ids };
  }

  const visits = open.filter(({ channel }) => channel === 'redirect' || channel === 'post');
  const asked = visits.find(({ state }) => state === 'asked');
  if (asked) {
    const seconds = remaining(asked, now) ?? 0;
    if (seconds <= 0) return { kind: 'give-up', id: asked.id };
    return { kind: 'wait', id: asked.id, inFrame: wouldStay(asked), seconds };
  }
  // Its frame was shown and never opened: some browsers have none.
  const unopened = visits.find((hop) => remaining(hop, now) === 0);
  if (unopened) return { kind: 'give-up', id: unopened.id };
  // Those that come back, then those that are kept in a frame; where the window may get stuck, all others are done.
  const back = visits.find(comesBack);
  if (back) return { kind: 'visit', ids: [back.id], inFrame: false };
  // However many are down, the person waits once.
  const dead = visits.filter(({ reach }) => reach === 'dead');
  if (dead.length > 0) return { kind: 'visit', ids: dead.map(({ id }) => id), inFrame: true };
  const next = visits.find(wouldStay) ?? visits[0];
  if (next) return { kind: 'visit', ids: [next.id], inFrame: wouldStay(next) };

  const patience = limits.signOut.settleSeconds - (now.getTime() - startedAt.getTime()) / 1000;
  if (open.length > 0 && patience > 0) return { kind: 'settle', seconds: Math.ceil(Math.min(patience, 1)) };
  return { kind: 'answer' };
}

function comesBack({ reach }: Hop): boolean {
  return reach === 'answers' || reach === 'confirmed';
}

function wouldStay({ reach }: Hop): boolean {
  return reach === 'dead' || reach === 'keeps';
}

/** Whole seconds until the deadline; 0 when it has passed, undefined when there is none. */
function remaining({ deadline }: Hop, now: Date): number | undefined {
  return deadline && Math.max(0, Math.ceil((deadline.getTime() - now.getTime()) / 1000));
}
