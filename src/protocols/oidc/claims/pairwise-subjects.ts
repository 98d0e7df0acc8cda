// Pairwise subjects (OIDC Core 8.1): the identifiers by which the applications of one sector know accounts. Each is the
// account's id, encrypted under keys of the sector (deterministically: the MAC of the id is the initialisation vector, as in
// RFC 5297). So this server finds the account without a table, and no one can link the subjects of two sectors.
import { createCipheriv, createDecipheriv, createHmac } from 'node:crypto';
import type { OidcMetadata } from '../../../applications/fields/oidc-client.ts';
import { safeEqual } from '../../../base/platform/random.ts';
import type { Core } from '../../../core/core.ts';
import { stableSecret } from '../../../core/settings/settings.ts';
import type { Client } from '../engine/library.ts';

const IV_BYTES = 16;
const CIPHER = 'aes-256-ctr';

export type Subjects = Awaited<ReturnType<typeof createSubjects>>;

/** The identifiers by which applications know accounts (`sub`): those of their sector, or without one the ids of the accounts. */
export async function createSubjects({ db, vault }: Core) {
  // It never changes: with another one every account would get new subjects.
  const secret = await stableSecret({ db, vault }, 'pairwise');
  const key = (use: string, sector: string) => createHmac('sha256', secret).update(`${use}\0${sector}`).digest();

  function pairwise(sector: string, accountId: string): string {
    const iv = createHmac('sha256', key('mac', sector)).update(accountId).digest().subarray(0, IV_BYTES);
    const cipher = createCipheriv(CIPHER, key('cipher', sector), iv);
    return Buffer.concat([iv, cipher.update(accountId, 'utf8'), cipher.final()]).toString('base64url');
  }

  return {
    of: (sector: string | undefined, accountId: string): string =>
      sector === undefined ? accountId : pairwise(sector, accountId),

    /** The account of a subject of this sector, undefined for anything else. Without a sector, the subject is the id of the account. */
    accountOf(sector: string | undefined, subject: string): string | undefined {
      if (sector === undefined) return subject;
      const octets = Buffer.from(subject, 'base64url');
      if (octets.length <= IV_BYTES) return undefined;
      const decipher = createDecipheriv(CIPHER, key('cipher', sector), octets.subarray(0, IV_BYTES));
      const accountId = Buffer.concat([decipher.update(octets.subarray(IV_BYTES)), decipher.final()]).toString();
      return safeEqual(pairwise(sector, accountId), subject) ? accountId : undefined;
    },
  };
}

/** The sector of a client of the engine; undefined for one whose subjects are public. It is absent from oidc-provider's types. */
export const sectorOfClient = (client: Client): string | undefined =>
  client.subjectType === 'pairwise' ? String(Reflect.get(client, 'sectorIdentifier')) : undefined;

/** The sector of a client as the engine computes it (OIDC Core 8.1); undefined for one whose subjects are public. */
export function sectorOfMetadata({ subject_type, sector_identifier_uri, redirect_uris, jwks_uri }: OidcMetadata) {
  const uri = sector_identifier_uri ?? redirect_uris?.[0] ?? jwks_uri;
  return subject_type === 'pairwise' && uri !== undefined ? new URL(uri).host : undefined;
}
