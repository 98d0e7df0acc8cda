// What became of each application, in words, for the person who signed out (issue: nothing is called signed out that
// was not). One line for each application, however many sessions it had.
import type { Participant } from './run.ts';

export interface ResultLine {
  app: string;
  text: string;
  /** The application may still know the person. */
  isOpen: boolean;
}

/** From what is worth telling most to what went well. */
const GRAVITY = ['failed', 'retrying', 'unsupported', 'asked', 'waiting', 'told', 'done'] as const;

/** The lines of the result, in the order in which the applications were told. */
export function resultLines(participants: readonly Participant[]): ResultLine[] {
  const worst = new Map<string, Participant>();
  for (const participant of participants) {
    const before = worst.get(participant.clientId);
    if (!before || gravity(participant) < gravity(before)) worst.set(participant.clientId, participant);
  }
  return [...worst.values()].map((participant) => ({
    app: participant.name,
    text: textOf(participant),
    isOpen: livesOn([participant]),
  }));
}

/** Whether some application ought to have been told and was not: the person has to see that. */
export function hasTrouble(participants: readonly Participant[]): boolean {
  return participants.some(({ state }) => state === 'failed' || state === 'retrying');
}

/** Whether some application may still know the person. */
export function livesOn(participants: readonly Participant[]): boolean {
  return hasTrouble(participants) || participants.some(({ state }) => state === 'unsupported');
}

/** Whether every session that we know of has ended: Success, else PartialLogout (SAML Core 3.7.3.2). */
export function isComplete(participants: readonly Participant[]): boolean {
  return participants.every(({ state }) => state === 'done' || state === 'told');
}

/** Whether something is still under way. */
export function isUnderWay(participants: readonly Participant[]): boolean {
  return participants.some(({ state }) => state === 'waiting' || state === 'asked' || state === 'retrying');
}

function gravity({ state }: Participant): number {
  return GRAVITY.indexOf(state);
}

function textOf({ state, reason, protocol }: Participant): string {
  switch (state) {
    case 'done':
      return reason === 'asked' ? 'Asked for this sign-out.' : 'Signed out.';
    case 'told':
      return 'Was told in this browser. It gives no answer.';
    case 'waiting':
      return 'Is being told.';
    case 'asked':
      return 'Was asked, and has not answered yet.';
    case 'retrying':
      return 'Did not answer. It is told again until it does; until then, close your browser to be safe.';
    case 'unsupported':
      return reason === 'needs_browser'
        ? 'Can only be signed out in the browser that you use it in. Close that browser, or sign out there.'
        : 'Does not support signing out from here. Sign out there, or close your browser.';
    case 'failed':
      return `${failure(reason, protocol)} Sign out there, or close your browser.`;
  }
}

function failure(reason: string | undefined, protocol: Participant['protocol']): string {
  if (reason === 'refused') return 'Answered that it could not sign you out.';
  if (reason === 'switched_off') return 'Is switched off here, so it could not be told.';
  if (reason === 'browser_left') return 'Could not be told, because this browser left before its turn.';
  if (reason === 'other_person') return 'Could not be told, because somebody else is signed in in this browser.';
  if (protocol === 'saml' && reason?.startsWith('invalid_answer')) return 'Gave an answer that proves nothing.';
  return 'Did not answer.';
}
