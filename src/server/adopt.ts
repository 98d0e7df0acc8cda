// `gatehouse secrets adopt`: makes the data keys of a database that an older version wrote, and the MACs of its rows.
import { adoptUsers } from '../accounts/adopt-users.ts';
import { adoptApplications } from '../applications/macs/adopt-applications.ts';
import { adoptAuditLog } from '../audit/adopt.ts';
import { createAudit } from '../audit/audit.ts';
import { createProtectedRows, type ProtectedRows } from '../audit/protected-rows.ts';
import type { Config } from '../config.ts';
import { adoptConsents } from '../consents/adopt-consents.ts';
import { adoptPasswords } from '../credentials/adopt-passwords.ts';
import { decryptDataKeys, newDataKeys, storeDataKeys } from '../keys/data-keys.ts';
import { adoptFactors, adoptTrust } from '../mfa/adopt-factors.ts';
import { adoptArtifacts } from '../oidc/store/protected-artifacts.ts';
import { systemClock as now } from '../platform/clock.ts';
import { createLogger } from '../platform/logger.ts';
import { createVault } from '../platform/vault.ts';
import { adoptGrants } from '../rbac/protected-grants.ts';
import { adoptNameIds } from '../saml/sso/adopt-name-ids.ts';
import { adoptSettings } from '../settings/adopt-settings.ts';
import type { AdoptOptions } from '../storage/adopt-rows.ts';
import { type Db, openDatabase } from '../storage/database.ts';
import { migrate } from '../storage/migrations/migrate.ts';

type Adopted = Record<string, number>;

/**
 * Returns the number of rows of each table that got a MAC. Without data keys it makes them, and trusts every row; with them only
 * rows that have no MAC at all, of a version that wrote none or emptied by the operator. Throws DatabaseError.
 */
export async function adoptDatabase(config: Config): Promise<Adopted> {
  await migrate(config.databaseUrl);
  const { db, sql, close } = await openDatabase(config.databaseUrl);
  try {
    const stored = await db.dataKey.findMany({ orderBy: { generation: 'desc' } });
    const sealing = createVault(config.secrets);
    const keys = stored.length > 0 ? stored : newDataKeys({ vault: sealing, now });
    const vault = createVault(config.secrets, decryptDataKeys(keys, sealing).mac);
    const protectedRows = createProtectedRows({ vault, alarm: { raise: async () => {} } });
    const isFirst = stored.length === 0;
    const adopted = isFirst ? await adoptFromTheFirst({ db, protectedRows, vault }) : {};
    Object.assign(adopted, await adoptWithoutMac(db, protectedRows, { all: isFirst }));
    // Last, so that a run that was interrupted can be repeated.
    if (isFirst) await storeDataKeys(db, keys);
    const logger = createLogger({ level: 'silent', format: 'json' });
    const audit = createAudit({ db, sql, vault, logger, now });
    if (Object.values(adopted).some((count) => count > 0))
      await audit.record({ type: 'integrity.adopted', outcome: 'success', data: adopted });
    return adopted;
  } finally {
    await close();
  }
}

/** The tables whose rows have had a MAC as long as there have been data keys. */
async function adoptFromTheFirst(dependencies: {
  db: Db;
  protectedRows: ProtectedRows;
  vault: Parameters<typeof adoptAuditLog>[0]['vault'];
}): Promise<Adopted> {
  const { db, protectedRows, vault } = dependencies;
  return {
    ...(await adoptGrants(db, protectedRows)),
    password_credentials: await adoptPasswords(db, protectedRows),
    ...(await adoptFactors(db, protectedRows)),
    audit_events: await adoptAuditLog({ db, vault }),
  };
}

/** Sign-ins in progress and the sessions of the account pages are not adopted: they begin again automatically. */
export async function adoptWithoutMac(
  db: Db,
  protectedRows: Pick<ProtectedRows, 'macOf'>,
  options: AdoptOptions = {},
): Promise<Adopted> {
  return {
    users: await adoptUsers(db, protectedRows, options),
    ...(await adoptApplications(db, protectedRows, options)),
    consents: await adoptConsents(db, protectedRows, options),
    known_browsers: await adoptTrust(db, protectedRows, options),
    oidc_artifacts: await adoptArtifacts(db, protectedRows, options),
    saml_name_ids: await adoptNameIds(db, protectedRows, options),
    settings: await adoptSettings(db, protectedRows, options),
  };
}
