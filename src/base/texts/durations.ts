// Durations in words, for pages.
import { type Text, t } from './text.ts';

/** `45 seconds` or `2 minutes`: how long to wait. */
export function waitText(seconds: number): Text {
  const whole = Math.max(1, Math.ceil(seconds));
  return whole < 90 ? t('duration.seconds', { count: whole }) : t('duration.minutes', { count: Math.ceil(whole / 60) });
}
