// Checks the endpoint URLs of service providers. They are stored as written, because they are later compared character by
// character.
import { isLoopback } from '../../config/addresses.ts';
import { SamlError } from '../xml/errors.ts';

/**
 * Accepts https, and http on a loopback address.
 *
 * @param what names the endpoint in the message
 * @throws SamlError metadata_refused
 */
export function checkEndpointUrl(location: string, what: string): string {
  const rejection = (reason: string) => new SamlError('metadata_refused', { message: `${what}: ${reason}` });
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
