// The HTML of a mail, from views/mail/mail.eta. Every value is escaped, and no image, font or script is loaded.
import { Eta } from 'eta';
import { color } from '../http/pages/tokens.ts';
import type { MailContent } from './content.ts';

export type RenderHtml = (content: MailContent) => string;

/** `viewsDir` is the folder `views`. */
export function createHtmlRenderer(viewsDir: string): RenderHtml {
  const eta = new Eta({
    views: viewsDir,
    cache: true,
    autoTrim: [false, 'nl'],
    functionHeader: 'const color = it.color;',
  });
  return (content) => eta.render('mail/mail', { ...content, color });
}
