// The content of a mail: one source for its HTML (html.ts) and its plain text, so that the two cannot differ.

import { words } from './wording.ts';

export interface MailContent {
  subject: string;
  /** The preview text that mail programs show beside the subject. */
  preheader: string;
  paragraphs: string[];
  /** What a person wrote, in lines, and how it is introduced. */
  quote?: { label: string; lines: string[] };
  /** A code to type, in large characters. */
  code?: string;
  /** The one link, as a button. */
  action?: { label: string; url: string };
  facts?: { label: string; value: string }[];
  /** Below the link: what to do when the recipient did not cause the mail. */
  after: string[];
  /** The name of this server, as its pages display it. */
  sender: string;
  /** The host of the issuer. */
  service: string;
}

const WIDTH = 76;

/** The content as plain text in the current language (RFC 2046, section 5.1.4), in lines of at most 76 characters. */
export function plainText(content: MailContent): string {
  const { subject, quote, code, action, facts = [], after, sender, service } = content;
  const [opening, ...paragraphs] = content.paragraphs.map(wrap);
  const blocks = [
    subject,
    ...(opening === undefined ? [] : [opening]),
    ...(quote ? [words('page.label', { label: quote.label }), quote.lines.map(quoted).join('\n')] : []),
    ...paragraphs,
    ...(code ? [`    ${code}`] : []),
    ...(facts.length > 0
      ? [facts.map(({ label, value }) => `${words('page.label', { label })} ${value}`).join('\n')]
      : []),
    ...(action ? [`${words('page.label', { label: action.label })}\n${action.url}`] : []),
    ...after.map(wrap),
    // The signature separator (RFC 3676, section 4.3).
    `-- \n${sender}\n${service}`,
  ];
  return `${blocks.join('\n\n')}\n`;
}

/** RFC 3676, section 4.5. */
const quoted = (line: string) => wrap(line).replace(/^/gm, '> ').trimEnd();

// Breaks between words only: a URL stays on one line.
function wrap(text: string): string {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + word.length >= WIDTH) {
      lines.push(line);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  return [...lines, line].join('\n');
}
