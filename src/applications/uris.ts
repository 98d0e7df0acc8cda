// Which URIs an application may register (RFC 9700 4.1, RFC 8252 for native apps). Each function returns the fault, or
// undefined.

import { z } from 'zod';
import { isLoopback } from '../base/config/addresses.ts';
import { type Fault, fault, faultFrom } from '../base/texts/faults.ts';

// White space (also U+0085 and the no-break spaces) and characters without a width, which come along when an address is copied.
const BLANK = '[\\s\\u0085\\u00ad\\u180e\\u200b-\\u200f\\u202a-\\u202e\\u2060-\\u2064\\u2066-\\u2069\\ufeff]';
const BLANK_ENDS = new RegExp(`^${BLANK}+|${BLANK}+$`, 'g');

/** An address as typed or pasted: blank characters around it are left out. */
export const typedAddress = (max: number) =>
  z
    .string()
    .overwrite((value) => value.replace(BLANK_ENDS, ''))
    .max(max);

/** The first character that no address has, by its name; `blank` characters around it were left out before. */
export function characterFault(uri: string): Fault | undefined {
  const [found] = new RegExp(`${BLANK}|[\\\\\\p{Cc}]`, 'u').exec(uri) ?? [];
  if (found === undefined) return undefined;
  if (found === ' ') return fault([], 'uri-space');
  if (found === '\\') return fault([], 'uri-backslash');
  if (/[\n\r\u0085\u2028\u2029]/.test(found)) return fault([], 'uri-line-break');
  const code = (found.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
  return fault([], 'uri-invisible', { code: `U+${code}` });
}

/** An entity ID of SAML is any URI, also a URN. */
const entityIdFault = (uri: string) => characterFault(uri) ?? (/[<>"]/.test(uri) ? fault([], 'uri-marks') : undefined);

/** SAML Core 8.3.6: an entity ID is a URI of at most 1024 characters. */
export const entityId = typedAddress(1024)
  .min(1)
  .superRefine(faultFrom(entityIdFault))
  .meta({ pattern: '^[^\\s<>"]+$' });

// Schemes that a browser runs or opens locally, those of systems and stores, and standard ones that belong to no app.
const NOT_AN_APP =
  /^(javascript|vbscript|data|blob|file|filesystem|about|view-source|chrome[a-z-]*|edge|intent|android-app|ms-[a-z-]+|search|search-ms|shell|itms[a-z-]*|market|x-apple[a-z.-]*|prefs|app-prefs|wss?|ftp|ssh|mailto|tel|facetime[a-z-]*|sms|urn):/i;

const HOST_NAME = '([A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?\\.)*[A-Za-z]([A-Za-z0-9-]*[A-Za-z0-9])?';
const IPV4 = '[0-9]{1,3}(\\.[0-9]{1,3}){3}';
const PORT_AND_PATH = '(:([0-9]{1,4}|[1-5][0-9]{4}|6[0-4][0-9]{3}))?([/?#][!-\\[\\]-~]*)?$';
/** What `webUriFault` accepts, as JSON Schema can say it for URIs of RFC 3986. */
export const webUriSchema = {
  format: 'uri',
  pattern: `^(https://(${HOST_NAME}|${IPV4}|\\[[0-9A-Fa-f:.]+\\])|http://(localhost|127(\\.[0-9]{1,3}){3}|\\[::1\\]))${PORT_AND_PATH}`,
};
/** The same for `redirectUriFault` of either type of application. */
export const redirectUriSchema = { format: 'uri', pattern: '^[A-Za-z][A-Za-z0-9+.-]*:[!"$-)+-\\[\\]-~]+$' };
// The characters of RFC 3986 without a fragment; brackets are around an IPv6 address only.
const ABSOLUTE_URI =
  "^[A-Za-z][A-Za-z0-9+.-]*:(//\\[[0-9A-Fa-f:.]+\\])?([A-Za-z0-9._~:/?@!$&'()*+,;=-]|%[0-9A-Fa-f]{2})+$";
/** The same for `resourceFault`. */
export const resourceSchema = { format: 'uri', pattern: ABSOLUTE_URI };

/** https, or http on this machine; no URI that two parsers could read differently. */
export function webUriFault(uri: string): Fault | undefined {
  if (!URL.canParse(uri) && characterFault(uri) === undefined && !uri.includes(':')) return fault([], 'https-url');
  const general = uriFault(uri);
  if (general !== undefined) return general;
  const { protocol, hostname } = new URL(uri);
  if (protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname))) return undefined;
  return protocol === 'http:' ? fault([], 'https') : fault([], 'https-url');
}

/** https, on this machine too. */
export function httpsUriFault(uri: string): Fault | undefined {
  const found = webUriFault(uri);
  return found?.code === 'https' || /^http:/i.test(uri) ? fault([], 'https-url') : found;
}

/** The field that decides which URIs an application may have. */
const TYPE = { key: 'application_type' };

/** Any port of a loopback address (RFC 8252 7.3), as other servers write it. */
const LOOPBACK_WILDCARD = /^https?:\/\/(localhost|127\.0\.0\.1|\[::1\])(:\*|\*)/i;

/** A redirect URI (or post-logout redirect URI) of a web or native application. */
export function redirectUriFault(uri: string, applicationType: 'web' | 'native'): Fault | undefined {
  const character = characterFault(uri);
  if (character !== undefined) return character;
  if (uri.includes('#')) return fault([], 'no-fragment');
  if (uri.includes('*'))
    return LOOPBACK_WILDCARD.test(uri) ? fault([], 'loopback-port', TYPE) : fault([], 'no-wildcard');
  const general = uriFault(uri);
  if (applicationType === 'web')
    return general === undefined && !/^https?:/i.test(uri) && !NOT_AN_APP.test(uri)
      ? fault([], 'web-scheme', TYPE)
      : webUriFault(uri);
  if (general !== undefined) return general;
  const { protocol, hostname } = new URL(uri);
  if (protocol === 'http:') {
    return isLoopback(hostname) ? undefined : fault([], 'native-uri');
  }
  if (protocol === 'https:') {
    return isLoopback(hostname) ? fault([], 'loopback-http') : undefined;
  }
  return NOT_AN_APP.test(uri) ? fault([], 'forbidden-scheme', { scheme: protocol.slice(0, -1) }) : undefined;
}

/** Whether a program on the device of the person gets the answer: any may listen there, or own the scheme (RFC 8252 8.6). */
export function isOnThisComputer(uri: string): boolean {
  const { hostname, protocol } = new URL(uri);
  return isLoopback(hostname) || !/^https?:$/.test(protocol);
}

/** The type that the redirect URIs of a client need which names none: a program on a device returns to it or to a private scheme. */
export const applicationTypeOf = (redirectUris: readonly string[]): 'web' | 'native' =>
  redirectUris.every((uri) => /^https:/i.test(uri)) ? 'web' : 'native';

const ORIGIN = /^[a-z][a-z0-9+.-]*:\/\/([a-z0-9_-]+(\.[a-z0-9_-]+)*|\[[0-9a-f:.]+\])(:[0-9]{1,5})?$/i;
/** What `originFault` accepts. */
export const originSchema = { pattern: '^[A-Za-z][A-Za-z0-9+.-]*://[^/?#*\\s]+$' };
/** Pages of these schemes send `Origin: null`, as every sandboxed frame does. */
const WITHOUT_ORIGIN = /^(about|blob|data|file|filesystem|javascript):/i;

/** An origin of a page, a web view or a browser extension (RFC 6454 6.1): scheme, host and port. */
export function originFault(origin: string): Fault | undefined {
  const character = characterFault(origin);
  if (character !== undefined) return character;
  if (origin === 'null' || WITHOUT_ORIGIN.test(origin)) return fault([], 'null-origin');
  if (origin.includes('*')) return fault([], 'origin-wildcard');
  if (!ORIGIN.test(origin) || originOf(origin) === undefined) return fault([], 'origin');
  return /^http:/i.test(origin) && !isLoopback(new URL(origin).hostname) ? fault([], 'https') : undefined;
}

/** The origin of a URI in the form that origins are compared in; undefined where it has none. */
export function originOf(uri: string): string | undefined {
  if (/^https?:/i.test(uri)) return URL.canParse(uri) ? new URL(uri).origin : undefined;
  // URLs of other schemes have the origin "null" in the URL Standard; browsers send scheme and host.
  return ORIGIN.test(uri) && URL.canParse(uri) ? uri.toLowerCase() : undefined;
}

/** The one form of the spellings of an API (RFC 3986 6.2): scheme and host in lower case, an empty path without its slash. */
export function canonicalResource(uri: string): string {
  const [, origin, rest] = /^(https?:\/\/[^/?#]*)(.*)$/is.exec(uri) ?? [];
  return origin === undefined ? uri : `${origin.toLowerCase()}${rest === '/' ? '' : rest}`;
}

/** Whether one of these identifiers is a spelling of the API. */
export const includesResource = (identifiers: readonly string[] | undefined, uri: string): boolean =>
  identifiers?.some((one) => canonicalResource(one) === canonicalResource(uri)) ?? false;

/** An absolute URI without fragment (RFC 8707 2). */
export function resourceFault(uri: string): Fault | undefined {
  const character = characterFault(uri);
  if (character !== undefined) return character;
  if (uri.includes('#')) return fault([], 'no-fragment');
  const isUri = URL.canParse(uri) && new RegExp(ABSOLUTE_URI).test(uri);
  return isUri ? undefined : fault([], 'uri-example');
}

function uriFault(uri: string): Fault | undefined {
  const character = characterFault(uri);
  if (character !== undefined) return character;
  if (!URL.canParse(uri)) return fault([], 'absolute-uri');
  const url = new URL(uri);
  if (/^https?:/i.test(uri) && !/^https?:\/\/[^/]/i.test(uri)) return fault([], 'absolute-uri');
  return url.username !== '' || url.password !== '' ? fault([], 'uri-credentials') : undefined;
}
