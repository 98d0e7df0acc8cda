// The setting `signing_algorithms` at registration: an application or an API gets no other algorithm. One that it has already stays, and stays
// published (protocols/oidc/engine/public-documents.ts), so that a change of the setting stops nobody.
import { type Fault, fault } from '../../base/texts/faults.ts';
import type { OidcMetadata } from '../fields/oidc-client.ts';

/** The fields of a client that name the algorithm with which this server signs. */
export const signedResponseFields = [
  'id_token_signed_response_alg',
  'userinfo_signed_response_alg',
  'introspection_signed_response_alg',
  'authorization_signed_response_alg',
] as const;

type SignedResponses = Partial<OidcMetadata>;

/** The algorithms of a client that are not listed, without those that it had before. */
export function unlistedAlgFaults(
  client: SignedResponses,
  listed: readonly string[],
  before: SignedResponses = {},
): Fault[] {
  return signedResponseFields.flatMap((field) => unlistedAlgFault(field, client[field], listed, before[field]));
}

/** No fault for an algorithm that is listed, or stays as it was. */
export function unlistedAlgFault(
  field: string,
  alg: string | undefined,
  listed: readonly string[],
  before: string | undefined,
): Fault[] {
  if (alg === undefined || alg === before || listed.includes(alg)) return [];
  return [fault([field], 'unlisted-alg', { alg, listed: listed.join(', ') })];
}
