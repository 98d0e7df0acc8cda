// Text that several mails share: the greeting, times, the place of a request, and masked addresses.

import type { RequestInfo } from '../../base/platform/request-info.ts';
import { dateFormats } from '../../base/texts/dates.ts';
import { addressIn, type PageText, type TextKey, t } from '../../base/texts/text.ts';
import { browserName } from './browser-name.ts';

/** Where a request came from. `browser` is a name from browser-name.ts, never the header itself. */
export interface Place {
  at: Date;
  browser?: PageText | undefined;
  address?: string | undefined;
  /** Of the address, by its code. */
  country?: string | undefined;
}

const MAX_NAME = 60;
const time = dateFormats({ dateStyle: 'long', timeStyle: 'short', timeZone: 'UTC' });
const day = dateFormats({ dateStyle: 'long', timeZone: 'UTC' });

/** The text in the language of the mail that is being written. */
export function words<Key extends TextKey>(...text: Parameters<typeof t<Key>>): string {
  return String(t<Key>(...text));
}

/** The place of the request. */
export function placeOf(request: RequestInfo | undefined, at: Date): Place {
  return { at, browser: browserName(request?.userAgent), address: request?.address };
}

/** `November 21, 2026`, in UTC. */
export function describeDay(at: Date): string {
  return day().format(at);
}

/** The text on one line, cut to 60 characters, or so many. */
export function short(text: string, most = MAX_NAME): string {
  return [...text.replace(/\s+/gu, ' ').trim()].slice(0, most).join('');
}

/** "Hello Ann,". Only for an address that is verified or was entered by an administrator. */
export function greeting(name: string | null | undefined): string {
  const shortened = withoutLink(name);
  return shortened === '' ? words('mail.hello') : words('mail.hello-name', { name: shortened });
}

/** "Ann Example (ann)", for a mail to someone else; the username alone where there is no name. */
export function personOf({ username, name }: { username: string; name: string | null }): string {
  const shortened = withoutLink(name);
  return shortened === '' ? short(username) : `${shortened} (${short(username)})`;
}

/** The name, cut; empty where it looks like a URL or an address, which mail programs turn into a link. */
export function withoutLink(name: string | null | undefined): string {
  const shortened = short(name ?? '');
  return /[./@:]/.test(shortened.replace(/\.(?=\s|$)/g, '')) ? '' : shortened;
}

/** `November 21, 2026 at 9:45 AM UTC`. */
export function describeTime(at: Date): string {
  return `${time().format(at).replace('\u202f', ' ')} UTC`;
}

/** The lines about time, browser and network address, as far as they are known. */
export function facts({ at, browser, address, country }: Place): { label: string; value: string }[] {
  return [
    { label: words('mail.when'), value: describeTime(at) },
    ...(browser ? [{ label: words('mail.browser'), value: String(browser) }] : []),
    ...(address ? [{ label: words('mail.address'), value: String(addressIn(address, country)) }] : []),
  ];
}

/** `a•••@example.com`: the owner recognizes it, a reader of the mail cannot use it. */
export function maskEmail(email: string): string {
  const at = email.lastIndexOf('@');
  return `${[...email][0] ?? ''}•••${email.slice(at)}`;
}
