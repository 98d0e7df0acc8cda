// Which URIs an application may register (RFC 9700 4.1, RFC 8252 for native apps). Each function returns the fault, or
// undefined.
import { isLoopback } from '../config/addresses.ts';

// Schemes that a browser runs or opens locally, and standard ones that belong to no app.
const NOT_AN_APP = /^(javascript|vbscript|data|blob|file|filesystem|about|view-source|wss?|ftp|mailto|tel|sms|urn):/i;

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
export function webUriFault(uri: string): string | undefined {
  const general = uriFault(uri);
  if (general !== undefined) return general;
  const { protocol, hostname } = new URL(uri);
  if (protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname))) return undefined;
  return protocol === 'http:'
    ? 'must be https (http only for localhost or a loopback address)'
    : 'must be an https URL';
}

/** A redirect URI (or post-logout redirect URI) of a web or native application. */
export function redirectUriFault(uri: string, applicationType: 'web' | 'native'): string | undefined {
  if (uri.includes('#')) return 'must not have a fragment (#…)';
  if (uri.includes('*')) return 'must not have a wildcard: redirect URIs must match exactly';
  if (applicationType === 'web') return webUriFault(uri);
  const general = uriFault(uri);
  if (general !== undefined) return general;
  const { protocol, hostname } = new URL(uri);
  if (protocol === 'http:') {
    return isLoopback(hostname) ? undefined : 'must be http on a loopback address, https, or a scheme of the app';
  }
  if (protocol === 'https:') {
    return isLoopback(hostname)
      ? 'must be http on a loopback address, because https certificates don’t exist there'
      : undefined;
  }
  return NOT_AN_APP.test(uri) ? `must not use the scheme ${protocol.slice(0, -1)}` : undefined;
}

/** An absolute URI without fragment (RFC 8707 2). */
export function resourceFault(uri: string): string | undefined {
  if (uri.includes('#')) return 'must not have a fragment (#…)';
  const isUri = URL.canParse(uri) && new RegExp(ABSOLUTE_URI).test(uri);
  return isUri ? undefined : 'must be an absolute URI such as https://api.example.com';
}

function uriFault(uri: string): string | undefined {
  if (/[\s\\\p{Cc}]/u.test(uri)) return 'must not contain spaces, backslashes or control characters';
  if (!URL.canParse(uri)) return 'must be an absolute URI';
  const url = new URL(uri);
  if (/^https?:/i.test(uri) && !/^https?:\/\/[^/]/i.test(uri)) return 'must be an absolute URI';
  return url.username !== '' || url.password !== '' ? 'must not contain a username or password' : undefined;
}

/** The logo of an application, only over https, where the network can neither read nor replace it. */
export function safeLogo(url: string | undefined): string | undefined {
  return url?.startsWith('https://') && URL.canParse(url) ? url : undefined;
}
