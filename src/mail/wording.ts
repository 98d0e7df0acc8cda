// Small pieces of a mail: how it greets, tells times and places, and hides part of an address.
import type { RequestInfo } from '../platform/request-info.ts';
import { browserName } from './browser-name.ts';

/** Where something was done; `browser` in words of ours (browser-name.ts), never as it was sent. */
export interface Place {
  at: Date;
  browser?: string | undefined;
  address?: string | undefined;
}

const MAX_NAME = 60;
const time = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeStyle: 'short', timeZone: 'UTC' });

/** The place that a request came from. */
export function placeOf(request: RequestInfo | undefined, at: Date): Place {
  return { at, browser: browserName(request?.userAgent), address: request?.address };
}

const day = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone: 'UTC' });

export function describeDay(at: Date): string {
  return day.format(at);
}

/** One line of a length that fits into a sentence. */
export function short(text: string): string {
  return [...text.replace(/\s+/gu, ' ').trim()].slice(0, MAX_NAME).join('');
}

/** "Hello Ann," in a mail to an address that the account has proven or was given. */
export function greeting(name: string | null | undefined): string {
  const called = short(name ?? '');
  // Mail programs turn whatever looks like an address of the web into a link: that is no name.
  return called === '' || /[./@:]/.test(called.replace(/\.(?=\s|$)/g, '')) ? 'Hello,' : `Hello ${called},`;
}

export function describeTime(at: Date): string {
  return `${time.format(at)} UTC`;
}

/** When and from where, as far as it is known. */
export function facts({ at, browser, address }: Place): { label: string; value: string }[] {
  return [
    { label: 'When', value: describeTime(at) },
    ...(browser ? [{ label: 'Browser', value: browser }] : []),
    ...(address ? [{ label: 'Network address', value: address }] : []),
  ];
}

/** `a•••@example.com`: enough for the owner to recognise. */
export function masked(email: string): string {
  const at = email.lastIndexOf('@');
  return `${[...email][0] ?? ''}•••${email.slice(at)}`;
}
