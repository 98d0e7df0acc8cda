// A mail before it has a form: one source for its HTML and its plain text, so that the two never say different things.

export interface Letter {
  subject: string;
  /** What mail programs show beside the subject. */
  preheader: string;
  paragraphs: string[];
  /** A code to type, shown large. */
  code?: string;
  /** The one link, as a button. */
  action?: { label: string; url: string };
  facts?: { label: string; value: string }[];
  /** Below the link: what to do when it was not you. */
  after: string[];
  /** The service that writes: the host of the issuer. */
  service: string;
}

const WIDTH = 76;

/** The letter for programs and people that read no HTML. */
export function plainText({ subject, paragraphs, code, action, facts = [], after, service }: Letter): string {
  const blocks = [
    subject,
    ...paragraphs.map(wrap),
    ...(code ? [`    ${code}`] : []),
    ...(facts.length > 0 ? [facts.map(({ label, value }) => `${label}: ${value}`).join('\n')] : []),
    ...(action ? [`${action.label}:\n${action.url}`] : []),
    ...after.map(wrap),
    // The usual mark of a signature (RFC 3676 4.3), which programs set apart.
    `-- \n${service}`,
  ];
  return `${blocks.join('\n\n')}\n`;
}

// Between words only: an address is never broken.
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
