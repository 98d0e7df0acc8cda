// The MACs of the engine's rows: sessions, grants, codes, tokens, interactions. The MAC covers the key and every column except two:
// `expires_at` of a session, which each request moves (the latest expiry is in the payload), and `consumed_at`. A consumed row stores
// a shortened MAC.
import { type ProtectedRows, REMOVED_MAC_CHARACTERS } from '../../../base/storage/protected-rows.ts';

export interface ArtifactColumns {
  id: string;
  model: string;
  payload: string;
  grantId: string | null;
  userCode: string | null;
  uid: string | null;
  accountId: string | null;
  clientId: string | null;
}

export interface ProtectedArtifact extends ArtifactColumns {
  consumedAt: bigint | number | null;
  mac: string;
}

/** What Prisma selects for `isGenuineArtifact`. */
export const PROTECTED_COLUMNS = {
  id: true,
  model: true,
  payload: true,
  grantId: true,
  userCode: true,
  uid: true,
  accountId: true,
  clientId: true,
  consumedAt: true,
  mac: true,
} as const;

/** The same columns in SQL. */
export const PROTECTED_SQL = `id, model, payload, grant_id AS "grantId", user_code AS "userCode", uid,
  account_id AS "accountId", client_id AS "clientId", consumed_at AS "consumedAt", mac`;

const TABLE = 'oidc_artifacts';

/** The MAC to store with the row. */
export function artifactMac(row: ArtifactColumns, { macs }: WithMacs): string {
  return macs.macOf(TABLE, row);
}

/** Prisma's client, or hot statements. */
type WithMacs = { macs: ProtectedRows };

/** SQL for the shortened MAC of a consumed row. */
export const consumedMac = (mac: string) => `substr(${mac}, 1, length(${mac}) - ${REMOVED_MAC_CHARACTERS})`;

/** Whether this server wrote the row; raises an alarm if not. Clearing `consumed_at` does not make a consumed row valid again. */
export function isGenuineArtifact(row: ProtectedArtifact, { macs }: WithMacs): boolean {
  return (row.consumedAt === null ? macs.isGenuine : macs.isGenuineConsumed)(TABLE, row, row.mac);
}

/** Models without a MAC, because no token is issued from them. */
export const MODELS_WITHOUT_MAC: readonly string[] = ['ReplayDetection', 'EndedSession'];
