// The endpoint URLs of metadata. They are kept as they are written.
import { isLoopback } from '../../../base/config/addresses.ts';
import { SamlError } from '../xml/errors.ts';

/**
 * Accepts https, and http on a loopback address.
 *
 * @param what names the endpoint in the message
 * @throws SamlError metadata_rejected
 */
export function checkEndpointUrl(location: string, what: string): string {
  const rejection = (reason: string) => new SamlError('metadata_rejected', { message: `${what}: ${reason}` });
  if (location === '') throw rejection('the URL is missing');
  // `new URL` silently removes tabs and line breaks, as in "java\nscript:".
  if (/[ \p{Cc}\\<>"]/u.test(location)) throw rejection('the URL contains characters that do not belong there');
  if (location.length > 2048) throw rejection('the URL is too long');
  if (!URL.canParse(location)) throw rejection('not an absolute URL');
  const url = new URL(location);
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && isLoopback(url.hostname))) {
    throw rejection(`${url.protocol}// is not accepted, use https (http only on a loopback address)`);
  }
  if (url.username || url.password) throw rejection('the URL must not contain credentials');
  if (location.includes('#')) throw rejection('the URL must not have a fragment');
  return location;
}

/** What of the metadata is left out, for administrators. */
export interface LeftOut {
  /** Name of the element. */
  what: string;
  location: string;
  fault: 'empty' | 'http' | 'invalid';
  reason: string;
}

/** The URL; undefined for one that cannot be used, which is added to `leftOut`. */
export function usableEndpointUrl(location: string, what: string, leftOut: LeftOut[]): string | undefined {
  try {
    return checkEndpointUrl(location, what);
  } catch (error) {
    if (!(error instanceof SamlError)) throw error;
    const fault = location === '' ? 'empty' : /^http:/i.test(location) ? 'http' : 'invalid';
    leftOut.push({ what, location: location.slice(0, 200), fault, reason: error.message });
    return undefined;
  }
}

/** The error metadata_rejected: no endpoint is left, for these reasons if there are any. */
export function noEndpoint(message: string, what: string, leftOut: readonly LeftOut[]): SamlError {
  const reasons = leftOut.filter((one) => one.what === what).map(({ reason }) => reason);
  return new SamlError('metadata_rejected', { message: [message, ...new Set(reasons)].join(' ') });
}
