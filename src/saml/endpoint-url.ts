// Addresses that browsers are sent to with an assertion or a logout message. Kept as written, because they are later
// compared character by character.
import { SamlError } from './errors.ts';

/** Refuses everything but https, or http on this very machine. `what` names the endpoint in the reason. */
export function checkEndpointUrl(location: string, what: string): string {
  const refuse = (reason: string) => new SamlError('metadata_refused', { message: `${what}: ${reason}` });
  // `new URL` drops tabs and line breaks without a word, so that "java\nscript:" would be read as something else.
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not be there.
  if (/[\u0000-\u0020\u007f\\<>"]/.test(location)) throw refuse('the URL contains characters that do not belong there');
  if (location.length > 2048) throw refuse('the URL is too long');
  if (!URL.canParse(location)) throw refuse('not an absolute URL');
  const url = new URL(location);
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && isLoopback(url.hostname))) {
    throw refuse(`${url.protocol}// is not accepted, use https (http only on a loopback address)`);
  }
  if (url.username || url.password) throw refuse('the URL must not contain credentials');
  if (location.includes('#')) throw refuse('the URL must not have a fragment');
  return location;
}

function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(hostname);
}
