// `gatehouse secrets adopt`: makes the data keys of a database that an older version wrote, and the MACs of its rows.
import { adoptAuditLog } from '../../audit/adopt.ts';
import { createAudit } from '../../audit/audit.ts';
import { createProtectedRows } from '../../audit/protected-rows.ts';
import type { Config } from '../../config.ts';
import { decryptDataKeys, firstVersionKeys, newDataKeys, storeDataKeys } from '../../keys/data-keys.ts';
import { systemClock as now } from '../../platform/clock.ts';
import { createLogger } from '../../platform/logger.ts';
import { createVault } from '../../platform/vault.ts';
import { openDatabase } from '../../storage/database.ts';
import { migrate } from '../../storage/migrations/migrate.ts';
import { adoptWithoutMac, listWithoutMac } from './adopt-rows.ts';

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
    const made = () => [
      ...newDataKeys({ vault: sealing, now }),
      ...firstVersionKeys({ vault: sealing, now }, config.secrets),
    ];
    const keys = stored.length > 0 ? stored : made();
    const vault = createVault(config.secrets, decryptDataKeys(keys, sealing).mac);
    const protectedRows = createProtectedRows({ vault, alarm: { raise: async () => {} } });
    const isFirst = stored.length === 0;
    const adopted: Adopted = isFirst ? { audit_events: await adoptAuditLog({ db, vault }) } : {};
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

/** What `adoptDatabase` would do: the rows without a MAC. Without data keys that is every row. Throws DatabaseError. */
export async function adoptableRows(config: Config, names: number): ReturnType<typeof listWithoutMac> {
  const { db, close } = await openDatabase(config.databaseUrl);
  try {
    return await listWithoutMac(db, names);
  } finally {
    await close();
  }
}
