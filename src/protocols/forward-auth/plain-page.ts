// A page of this server on the host of a website, where it has neither its styles nor its pictures.

import { directionOf } from '../../base/texts/languages.ts';
import { escapeHtml } from '../../base/texts/messages.ts';
import { inLanguage, type PageText } from '../../base/texts/text.ts';

export interface PlainPage {
  title: PageText;
  text: PageText;
  /** Opens in the whole window; `isNewTab`: beside this page, whose form stays. */
  link: { href: string; label: PageText; isNewTab: boolean } | undefined;
  language: string;
}

export function plainPage({ title, text, link, language }: PlainPage): string {
  return inLanguage(language, () => {
    const [heading, paragraph] = [escapeHtml(String(title)), escapeHtml(String(text))];
    const target = link?.isNewTab ? '_blank' : '_top';
    const anchor = link
      ? `<p><a href="${escapeHtml(link.href)}" target="${target}" rel="noopener">${escapeHtml(String(link.label))}</a></p>`
      : '';
    return `<!doctype html>
<html lang="${language}" dir="${directionOf(language)}">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<title>${heading}</title>
<main>
<h1>${heading}</h1>
<p>${paragraph}</p>
${anchor}
</main>
</html>
`;
  });
}
