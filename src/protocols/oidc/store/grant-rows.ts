// The engine's grants as rows, with the codes and tokens that belong to them.
import type { Granted } from '../../../applications/consents/consents.ts';
import type { Db, Tx } from '../../../base/storage/database.ts';
import { artifactId } from './adapter.ts';

const TOKENS = ['AccessToken', 'AuthorizationCode', 'RefreshToken', 'DeviceCode'];
export const GRANT_MODELS = ['Grant', ...TOKENS];

export interface StoredGrant {
  clientId: string;
  granted: Granted;
  grantedAt: Date;
}

interface Payload {
  clientId: string;
  iat: number;
  openid?: { scope?: string; claims?: string[] };
  resources?: Record<string, string>;
}

/** Removes grants with all that was issued under them. Tokens carry the id of their grant; the id of its row is a hash of it. */
export async function removeGrantsById(tx: Tx, accountId: string, grantIds: string[]): Promise<void> {
  await tx.oidcArtifact.deleteMany({ where: { accountId, grantId: { in: grantIds } } });
  await tx.oidcArtifact.deleteMany({ where: { id: { in: rowsOf(grantIds) } } });
}

/** Removes all grants of the account, but those that end with the session `except`. */
export async function removeGrantsBut(
  accountId: string,
  except: { participants: { grantId: string | undefined; staysConnected: boolean }[] } | undefined,
  tx: Tx,
): Promise<void> {
  const ids = (except?.participants ?? []).flatMap((one) => (one.grantId && !one.staysConnected ? [one.grantId] : []));
  const others = [{ grantId: null }, { grantId: { notIn: ids } }];
  await tx.oidcArtifact.deleteMany({ where: { accountId, model: { in: TOKENS }, OR: others } });
  await tx.oidcArtifact.deleteMany({ where: { accountId, model: 'Grant', id: { notIn: rowsOf(ids) } } });
}

/** The live grants of an account, the newest of each application. */
export async function grantsOf(db: Db, accountId: string, now: bigint): Promise<StoredGrant[]> {
  const rows = await db.oidcArtifact.findMany({
    where: { model: 'Grant', accountId, expiresAt: { gt: now } },
    select: { payload: true },
  });
  const grants = rows.map(({ payload }) => JSON.parse(payload) as Payload).sort((a, b) => a.iat - b.iat);
  const newest = new Map(grants.map((grant) => [grant.clientId, grant]));
  return [...newest.values()].reverse().map(({ clientId, iat, openid, resources = {} }) => ({
    clientId,
    granted: {
      scopes: splitScope(openid?.scope),
      claims: openid?.claims ?? [],
      resources: Object.fromEntries(
        Object.entries(resources).map(([resource, scope]) => [resource, splitScope(scope)]),
      ),
    },
    grantedAt: new Date(iat * 1000),
  }));
}

function rowsOf(grantIds: string[]): string[] {
  return grantIds.map((id) => artifactId('Grant', id));
}

function splitScope(scope = ''): string[] {
  return scope.split(' ').filter(Boolean);
}
