// What the states of its participants say about a logout run as a whole.
import type { Participant } from '../logout-run.ts';

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
