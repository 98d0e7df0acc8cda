// The result of a logout run in words, one line per application. No application is called signed out without proof.
import { INITIATOR, type Participant } from '../logout-run.ts';

export interface ResultLine {
  app: string;
  text: string;
  /** The user may still be signed in at the application. */
  isOpen: boolean;
}

/** Of several sessions of one application, the most severe state is displayed. */
const SEVERITY = ['failed', 'retrying', 'unsupported', 'sent', 'waiting', 'notified', 'done'] as const;

/** One line per application, in the order of the participants. */
export function resultLines(participants: readonly Participant[]): ResultLine[] {
  const worst = new Map<string, Participant>();
  for (const participant of participants) {
    const other = worst.get(participant.clientId);
    if (!other || severity(participant) < severity(other)) worst.set(participant.clientId, participant);
  }
  return [...worst.values()].map((participant) => ({
    app: participant.name,
    text: textOf(participant),
    isOpen: mayStillBeSignedIn([participant]),
  }));
}

/** Whether the notification of an application failed, which the user has to see. */
export function hasFailures(participants: readonly Participant[]): boolean {
  return participants.some(({ state }) => state === 'failed' || state === 'retrying');
}

/** Whether the user may still be signed in at some application. */
export function mayStillBeSignedIn(participants: readonly Participant[]): boolean {
  return hasFailures(participants) || participants.some(({ state }) => state === 'unsupported');
}

/** The reason of an upstream where the user chose to stay signed in. */
export const NOT_CHOSEN = 'not_chosen';

/** Whether all participants have ended their sessions: Success, else PartialLogout (SAML Core 3.7.3.2). */
export function isComplete(participants: readonly Participant[]): boolean {
  return participants.every(({ state, reason }) => state === 'done' || state === 'notified' || reason === NOT_CHOSEN);
}

/** Whether some notification is still in progress. */
export function isInProgress(participants: readonly Participant[]): boolean {
  return participants.some(({ state }) => state === 'waiting' || state === 'sent' || state === 'retrying');
}

function severity({ state }: Participant): number {
  return SEVERITY.indexOf(state);
}

function textOf({ state, reason, protocol }: Participant): string {
  switch (state) {
    case 'done':
      return reason === INITIATOR ? 'Began this sign-out.' : 'Signed out.';
    case 'notified':
      return 'Was notified in this browser. It gives no answer.';
    case 'waiting':
      return 'Is being notified.';
    case 'sent':
      return 'Was notified, and has not answered yet.';
    case 'retrying':
      return 'Did not answer. It is notified again until it does; until then, close your browser to be safe.';
    case 'unsupported':
      if (reason === NOT_CHOSEN) return 'You stay signed in there, as you chose.';
      return reason === 'needs_browser'
        ? 'Can only be signed out in the browser that you use it in. Close that browser, or sign out there.'
        : 'Does not support signing out from here. Sign out there, or close your browser.';
    case 'failed':
      return `${failure(reason, protocol)} Sign out there, or close your browser.`;
  }
}

function failure(reason: string | undefined, protocol: Participant['protocol']): string {
  if (reason === 'refused') return 'Answered that it could not sign you out.';
  if (reason === 'switched_off') return 'Is switched off here, so it could not be notified.';
  if (reason === 'browser_left') return 'Could not be notified, because this browser left before its turn.';
  if (reason === 'other_person')
    return 'Could not be notified, because another user is signed in to it in this browser.';
  if (protocol === 'saml' && reason?.startsWith('invalid_answer')) return 'Gave an answer that proves nothing.';
  return 'Did not answer.';
}
