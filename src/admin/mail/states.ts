// What became of an email, in words: the state is read from the outbox whenever a page is displayed.
import { type PageText, t } from '../../base/texts/text.ts';
import type { Cell, Mark, Tone } from '../console/blocks.ts';
import type { MailState, MailView } from './mail.ts';

export const STATES: Record<MailState, { text: PageText; tone: Tone }> = {
  sent: { text: t('console.mail.state.sent'), tone: 'good' },
  waiting: { text: t('console.mail.state.waiting'), tone: 'plain' },
  failed: { text: t('console.mail.state.failed'), tone: 'bad' },
};
/** While no mail server was set. */
export const WRITTEN: { text: PageText; tone: Tone } = { text: t('console.mail.state.written'), tone: 'warn' };

export const stateMark = ({ state, isFile }: MailView): Mark => (isFile ? WRITTEN : STATES[state]);

/** The state, which says that it is that of an email, when, and to whom or why not. */
export function deliveryCell(mail: MailView): Cell {
  const { state, recipient, lastError, createdAt, sentAt } = mail;
  const mark = stateMark(mail);
  const isStuck = state === 'waiting' && lastError !== null;
  const small = state === 'sent' ? recipient : (lastError ?? recipient);
  return [
    {
      ...mark,
      text: t('console.mail.state.of-email', { state: mark.text }),
      ...(isStuck && { tone: 'warn' as const }),
    },
    { text: small },
    sentAt ?? createdAt,
  ];
}
