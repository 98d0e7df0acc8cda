// Formats of dates in the current language.
import { currentLanguage } from './text.ts';

/** Returns the format for the current language, which is created at its first use. */
export function dateFormats(options: Intl.DateTimeFormatOptions): () => Intl.DateTimeFormat {
  const made = new Map<string, Intl.DateTimeFormat>();
  return () => {
    const language = currentLanguage();
    const format = made.get(language) ?? new Intl.DateTimeFormat(language, options);
    made.set(language, format);
    return format;
  };
}
