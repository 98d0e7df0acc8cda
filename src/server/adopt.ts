// `gatehouse secrets adopt`: makes the data keys of a database that an older version wrote, and the MACs of its rows.
import { adoptAuditLog } from '../audit/adopt.ts';
import { createAudit } from '../audit/audit.ts';
import { createProtectedRows } from '../audit/protected-rows.ts';
import type { Config } from '../config.ts';
import { adoptPasswords } from '../credentials/adopt-passwords.ts';
import { decryptDataKeys, newDataKeys, storeDataKeys } from '../keys/data-keys.ts';
import { adoptFactors } from '../mfa/adopt-factors.ts';
import { systemClock as now } from '../platform/clock.ts';
import { createLogger } from '../platform/logger.ts';
import { createVault } from '../platform/vault.ts';
import { adoptGrants } from '../rbac/protected-grants.ts';
import { openDatabase } from '../storage/database.ts';
import { migrate } from '../storage/migrations/migrate.ts';

/** Returns the number of rows of each table; undefined when the database has data keys. Throws DatabaseError. */
export async function adoptDatabase(config: Config): Promise<Record<string, number> | undefined> {
  await migrate(config.databaseUrl);
  const { db, sql, close } = await openDatabase(config.databaseUrl);
  try {
    if ((await db.dataKey.count()) > 0) return undefined;
    const sealing = createVault(config.secrets);
    const rows = newDataKeys({ vault: sealing, now });
    const vault = createVault(config.secrets, decryptDataKeys(rows, sealing).mac);
    const protectedRows = createProtectedRows({ vault, alarm: { raise: async () => {} } });
    const adopted = {
      ...(await adoptGrants(db, protectedRows)),
      password_credentials: await adoptPasswords(db, protectedRows),
      ...(await adoptFactors(db, protectedRows)),
      audit_events: await adoptAuditLog({ db, vault }),
    };
    // Last, so that a run that was interrupted can be repeated.
    await storeDataKeys(db, rows);
    const logger = createLogger({ level: 'silent', format: 'json' });
    const audit = createAudit({ db, sql, vault, logger, now });
    await audit.record({ type: 'integrity.adopted', outcome: 'success', data: adopted });
    return adopted;
  } finally {
    await close();
  }
}
