// The MACs of the engine's rows: sessions, grants, codes, tokens, interactions. Each covers the key of its row, so that a row
// is worth nothing under another key, and every column but the two that change without a new MAC: the end of a session moves with
// each request (its latest end is in the payload), and a used row loses the end of its MAC.
import { type ProtectedRows, REMOVED_MAC_CHARACTERS } from '../../audit/protected-rows.ts';

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

/** What the MAC covers. */
export function artifactFields({ id, model, payload, grantId, userCode, uid, accountId, clientId }: ArtifactColumns) {
  return [id, model, payload, grantId, userCode, uid, accountId, clientId];
}

/** The MAC to store with the row. */
export function artifactMac(row: ArtifactColumns, { macOf }: Pick<ProtectedRows, 'macOf'>): string {
  return macOf(TABLE, artifactFields(row));
}

/** What `isGenuineArtifact` needs. */
export type ArtifactVerifier = Pick<ProtectedRows, 'isGenuine' | 'isGenuineUsed'>;

/** What a used row has of its MAC, in SQL. */
export const usedMac = (mac: string) => `substr(${mac}, 1, length(${mac}) - ${REMOVED_MAC_CHARACTERS})`;

/** Whether this server wrote the row; raises an alarm if not. A row that was used does not become unused by its column. */
export function isGenuineArtifact(row: ProtectedArtifact, { isGenuine, isGenuineUsed }: ArtifactVerifier): boolean {
  return (row.consumedAt === null ? isGenuine : isGenuineUsed)(TABLE, artifactFields(row), row.mac);
}

/** Nothing is issued from these: a used proof, and the end of a session. */
export const MODELS_WITHOUT_MAC: readonly string[] = ['ReplayDetection', 'EndedSession'];
