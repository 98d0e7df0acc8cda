// Formats dates for pages, in UTC: the server does not know the user's time zone.

const days = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone: 'UTC' });
const moments = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'short', timeZone: 'UTC' });

/** "21 November 2026" */
export function day(at: Date): string {
  return days.format(at);
}

/** "21 Nov 2026, 10:09 UTC" */
export function moment(at: Date): string {
  return `${moments.format(at)} UTC`;
}
