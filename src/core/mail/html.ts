// The HTML of a mail, from views/mail/mail.eta, in the current language and with the brand of the settings. Every value is escaped, and
// no image, font or script is loaded: a logo is part of the mail.
import { Eta } from 'eta';
import type { BrandLook } from '../../base/http/pages/brand-look.ts';
import { color } from '../../base/http/pages/tokens.ts';
import { directionOf } from '../../base/texts/languages.ts';
import { withoutBadBreaksInMail } from '../../base/texts/line-breaks.ts';
import { currentLanguage, t } from '../../base/texts/text.ts';
import type { MailContent } from './content.ts';

/** @param mode of a preview; a mail has that of the mail program */
export type RenderHtml = (content: MailContent, brand?: BrandLook, mode?: 'light' | 'dark') => string;

/** The address of the logo in the HTML, and the Content-ID of its part (RFC 2392). */
export const LOGO_ID = 'logo';

/** `viewsDir` is the folder `views`. */
export function createHtmlRenderer(viewsDir: string): RenderHtml {
  const eta = new Eta({
    views: viewsDir,
    cache: true,
    autoTrim: [false, 'nl'],
    functionHeader: 'const { color, t } = it;',
  });
  return (content, brand, mode) => {
    const language = currentLanguage();
    const brandColor: typeof color = (name, mode) => brand?.colors?.[mode][name] ?? color(name, mode);
    const logo = brand?.mailLogo && `cid:${LOGO_ID}`;
    const direction = directionOf(language);
    return eta.render('mail/mail', {
      ...withWholeWords(content, language),
      logo,
      color: brandColor,
      t,
      language,
      direction,
      mode,
    });
  };
}

function withWholeWords(content: MailContent, language: string): MailContent {
  const { subject, paragraphs, quote, after, action, facts = [] } = content;
  const whole = (text: string) => withoutBadBreaksInMail(text, language);
  return {
    ...content,
    subject: whole(subject),
    paragraphs: paragraphs.map(whole),
    ...(quote && { quote: { label: whole(quote.label), lines: quote.lines.map(whole) } }),
    after: after.map(whole),
    facts: facts.map(({ label, value }) => ({ label, value: whole(value) })),
    ...(action && { action: { ...action, label: whole(action.label) } }),
  };
}
