// Formats dates for pages, in UTC: the server does not know the user's time zone.
import { dateFormats } from '../../texts/dates.ts';

const days = dateFormats({ dateStyle: 'long', timeZone: 'UTC' });
const moments = dateFormats({ dateStyle: 'medium', timeStyle: 'short', timeZone: 'UTC' });

/** "November 21, 2026", in the language of the page. */
export function day(at: Date): string {
  return days().format(at);
}

/** "Nov 21, 2026, 10:09 AM UTC", in the language of the page. */
export function moment(at: Date): string {
  return `${moments().format(at).replace('\u202f', ' ')} UTC`;
}
