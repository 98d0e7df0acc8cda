// The ID of a message or assertion (SAML Core 1.3.4).
import { randomToken } from '../../../base/platform/random.ts';

/** A new random ID of 160 bits; an xs:ID must begin with a letter or an underscore. */
export function newMessageId(): string {
  return `_${randomToken(20)}`;
}
