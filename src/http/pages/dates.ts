// Formats dates for pages, in UTC: the server does not know the user's time zone.
import { currentLanguage } from '../../texts/text.ts';

const days = formats({ dateStyle: 'long', timeZone: 'UTC' });
const moments = formats({ dateStyle: 'medium', timeStyle: 'short', timeZone: 'UTC' });

/** "November 21, 2026", in the language of the page. */
export function day(at: Date): string {
  return days().format(at);
}

/** "Nov 21, 2026, 10:09 AM UTC", in the language of the page. */
export function moment(at: Date): string {
  return `${moments().format(at).replace('\u202f', ' ')} UTC`;
}

/** The format for the current language, made at its first use. */
function formats(options: Intl.DateTimeFormatOptions): () => Intl.DateTimeFormat {
  const made = new Map<string, Intl.DateTimeFormat>();
  return () => {
    const language = currentLanguage();
    const format = made.get(language) ?? new Intl.DateTimeFormat(language, options);
    made.set(language, format);
    return format;
  };
}
