// The HTML of a mail, from views/mail/mail.eta, in the current language. Every value is escaped, and no image, font or script is loaded.
import { Eta } from 'eta';
import { color } from '../http/pages/tokens.ts';
import { directionOf } from '../texts/languages.ts';
import { currentLanguage, t } from '../texts/text.ts';
import type { MailContent } from './content.ts';

export type RenderHtml = (content: MailContent) => string;

/** `viewsDir` is the folder `views`. */
export function createHtmlRenderer(viewsDir: string): RenderHtml {
  const eta = new Eta({
    views: viewsDir,
    cache: true,
    autoTrim: [false, 'nl'],
    functionHeader: 'const { color, t } = it;',
  });
  return (content) => {
    const language = currentLanguage();
    return eta.render('mail/mail', { ...content, color, t, language, direction: directionOf(language) });
  };
}
