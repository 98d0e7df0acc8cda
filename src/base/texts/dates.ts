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

const [MINUTE, HOUR, DAY] = [60, 3600, 24 * 3600];

/** `45 seconds`, `2 minutes`, `24 hours` or `3 days`: how long to wait, rounded up. */
export function waitText(seconds: number): Text {
  const whole = Math.max(1, Math.ceil(seconds));
  if (whole < 1.5 * MINUTE) return t('duration.seconds', { count: whole });
  if (whole < 1.5 * HOUR) return t('duration.minutes', { count: Math.ceil(whole / MINUTE) });
  if (whole < 2 * DAY) return t('duration.hours', { count: Math.ceil(whole / HOUR) });
  return t('duration.days', { count: Math.ceil(whole / DAY) });
}
