// The texts of the result of a logout run, one line per application. An application without a confirmation is never displayed as
// signed out.
import { type PageText, sentences, t } from '../../texts/text.ts';
import { INITIATOR, type Participant } from '../logout-run.ts';
import { mayStillBeSignedIn, NOT_CHOSEN } from './run-outcome.ts';

export interface ResultLine {
  app: string;
  text: PageText;
  /** The user may still be signed in at the application. */
  isOpen: boolean;
}

/** If an application has several sessions, the most severe state is displayed. */
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

function severity({ state }: Participant): number {
  return SEVERITY.indexOf(state);
}

function textOf({ state, reason, protocol }: Participant): PageText {
  switch (state) {
    case 'done':
      return reason === INITIATOR ? t('logout.app-initiator') : t('logout.app-done');
    case 'notified':
      return t('logout.app-notified');
    case 'waiting':
      return t('logout.app-waiting');
    case 'sent':
      return t('logout.app-sent');
    case 'retrying':
      return reason === 'rejected' ? t('logout.app-rejected-retrying') : t('logout.app-retrying');
    case 'unsupported':
      if (reason === NOT_CHOSEN) return t('logout.app-not-chosen');
      return reason === 'needs_browser' ? t('logout.app-needs-browser') : t('logout.app-unsupported');
    case 'failed':
      return sentences([failure(reason, protocol), t('logout.failed-advice')]);
  }
}

function failure(reason: string | undefined, protocol: Participant['protocol']): PageText {
  if (reason === 'rejected') return t('logout.failed-rejected');
  if (reason === 'switched_off') return t('logout.failed-disabled');
  if (reason === 'browser_left') return t('logout.failed-left');
  if (reason === 'other_person') return t('logout.failed-other-user');
  if (protocol === 'saml' && reason?.startsWith('invalid_answer')) return t('logout.failed-invalid');
  return t('logout.failed-no-answer');
}
