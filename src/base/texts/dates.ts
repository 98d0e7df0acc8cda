// Formats of dates in the current language.
import { currentLanguage, type Text, t } from './text.ts';

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

// Durations in words, for pages.

/** `45 seconds` or `2 minutes`: how long to wait. */
export function waitText(seconds: number): Text {
  const whole = Math.max(1, Math.ceil(seconds));
  return whole < 90 ? t('duration.seconds', { count: whole }) : t('duration.minutes', { count: Math.ceil(whole / 60) });
}
