// Formats dates for pages, in UTC: the server does not know the user's time zone.

const days = new Intl.DateTimeFormat('en-US', { dateStyle: 'long', timeZone: 'UTC' });
const moments = new Intl.DateTimeFormat('en-US', { dateStyle: 'medium', timeStyle: 'short', timeZone: 'UTC' });

/** "November 21, 2026" */
export function day(at: Date): string {
  return days.format(at);
}

/** "Nov 21, 2026, 10:09 AM UTC" */
export function moment(at: Date): string {
  return `${moments.format(at).replace('\u202f', ' ')} UTC`;
}
