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
      return reason === INITIATOR ? 'Started this sign-out.' : 'Signed out.';
    case 'notified':
      return 'Notified in this browser. This app doesn’t confirm.';
    case 'waiting':
      return 'Signing out…';
    case 'sent':
      return 'Notified. Waiting for the app to confirm.';
    case 'retrying':
      return 'No answer yet. Gatehouse keeps trying. Close your browser to be safe.';
    case 'unsupported':
      if (reason === NOT_CHOSEN) return 'You chose to stay signed in.';
      return reason === 'needs_browser'
        ? 'You can only sign out of this app in the browser you use it in. Sign out there, or close that browser.'
        : 'This app doesn’t support sign-out from here. Sign out of the app, or close your browser.';
    case 'failed':
      return `${failure(reason, protocol)} Sign out of the app, or close your browser.`;
  }
}

function failure(reason: string | undefined, protocol: Participant['protocol']): string {
  if (reason === 'refused') return 'The app couldn’t sign you out.';
  if (reason === 'switched_off') return 'The app is disabled, so it couldn’t be notified.';
  if (reason === 'browser_left') return 'The app wasn’t notified, because this browser left the page too early.';
  if (reason === 'other_person')
    return 'The app wasn’t notified, because another user is signed in to it in this browser.';
  if (protocol === 'saml' && reason?.startsWith('invalid_answer')) return 'The app sent an invalid answer.';
  return 'The app didn’t answer.';
}
