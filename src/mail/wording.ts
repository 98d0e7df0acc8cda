// Text that several mails share: the greeting, times, the place of a request, and masked addresses.
import type { RequestInfo } from '../platform/request-info.ts';
import { browserName } from './browser-name.ts';

/** Where a request came from. `browser` is a name from browser-name.ts, never the header itself. */
export interface Place {
  at: Date;
  browser?: string | undefined;
  address?: string | undefined;
}

const MAX_NAME = 60;
const time = new Intl.DateTimeFormat('en-US', { dateStyle: 'long', timeStyle: 'short', timeZone: 'UTC' });
const day = new Intl.DateTimeFormat('en-US', { dateStyle: 'long', timeZone: 'UTC' });

/** The place of the request. */
export function placeOf(request: RequestInfo | undefined, at: Date): Place {
  return { at, browser: browserName(request?.userAgent), address: request?.address };
}

/** `November 21, 2026`, in UTC. */
export function describeDay(at: Date): string {
  return day.format(at);
}

/** The text on one line, cut to 60 characters. */
export function short(text: string): string {
  return [...text.replace(/\s+/gu, ' ').trim()].slice(0, MAX_NAME).join('');
}

/** "Hello Ann,". Only for an address that is verified or was entered by an administrator. */
export function greeting(name: string | null | undefined): string {
  const shortened = short(name ?? '');
  // Mail programs turn text that looks like a URL or an address into a link, so such a name is left out.
  const looksLikeLink = /[./@:]/.test(shortened.replace(/\.(?=\s|$)/g, ''));
  return shortened === '' || looksLikeLink ? 'Hello,' : `Hello ${shortened},`;
}

/** `November 21, 2026 at 9:45 AM UTC`. */
export function describeTime(at: Date): string {
  return `${time.format(at).replace('\u202f', ' ')} UTC`;
}

/** The lines about time, browser and network address, as far as they are known. */
export function facts({ at, browser, address }: Place): { label: string; value: string }[] {
  return [
    { label: 'When', value: describeTime(at) },
    ...(browser ? [{ label: 'Browser', value: browser }] : []),
    ...(address ? [{ label: 'IP address', value: address }] : []),
  ];
}

/** `a•••@example.com`: the owner recognizes it, a reader of the mail cannot use it. */
export function maskEmail(email: string): string {
  const at = email.lastIndexOf('@');
  return `${[...email][0] ?? ''}•••${email.slice(at)}`;
}

/** Who changed a password, after “The password of …”. */
export const changedBy = {
  link: 'was changed with a link that we sent to this address. You were signed out everywhere.',
  owner: 'was changed on your account page.',
  admin: 'was changed by an administrator.',
};
