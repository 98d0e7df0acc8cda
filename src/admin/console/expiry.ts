// How soon something expires, as a tag beside the date: certificates and secrets.
import { t } from '../../base/texts/text.ts';
import type { Cell, Mark } from './cells.ts';

const DAY_MS = 86_400_000;
const WARN_DAYS = 30;
const BAD_DAYS = 7;

/** `Expired`, or `Expires in 12 days` in the last 30 days; undefined before. */
export function expiryTag(at: Date, now: Date): Mark | undefined {
  const left = at.getTime() - now.getTime();
  // As the date beside it counts them, whose day ends at midnight; the last one is 1.
  const dayOf = (ms: number) => Math.floor(ms / DAY_MS);
  const days = Math.max(1, dayOf(at.getTime() - 1) - dayOf(now.getTime()));
  if (left <= 0) return { text: t('console.shared.expired'), tone: 'bad' };
  if (days > WARN_DAYS) return undefined;
  return { text: t('console.shared.expires-in-days', { count: days }), tone: days <= BAD_DAYS ? 'bad' : 'warn' };
}

/** The date, with the tag in its last days; nothing where it does not expire. */
export function expiryCell(at: Date | null | undefined, now: Date): Cell {
  if (!at) return null;
  const tag = expiryTag(at, now);
  return tag ? [at, tag] : at;
}
