// `tsx prepare-database.ts URL INSTALLED_URL`: prepares the two databases that tests copy, once per run. One is migrated and
// empty; the other one is as after the first start of a server. Prints the signing keys, which take longer to make than all
// the rest, and the first administrator as JSON.

import { copyFileSync } from 'node:fs';
import { pino } from 'pino';
import { loadConfig } from '../../../src/base/config.ts';
import { createVault } from '../../../src/base/platform/vault.ts';
import { openDatabase } from '../../../src/base/storage/database.ts';
import { parseDatabaseUrl } from '../../../src/base/storage/database-url.ts';
import { migrate } from '../../../src/base/storage/migrations/migrate.ts';
import { ensureFirstAdmin } from '../../../src/config-file/first-admin.ts';
import { createKeyring } from '../../../src/core/keys/keyring.ts';
import { createServices } from '../../../src/server/services.ts';
import { prepareData } from '../../../src/server/start.ts';
import { testSecret } from '../secret.ts';
import { servicesOf } from '../services-of.ts';
import type { Prepared } from './prepare.ts';

const [url = '', installedUrl = ''] = process.argv.slice(2);
const logger = pino({ level: 'silent' });
await migrate(url);
await copy();
const prepared: Prepared = { signingKeys: await makeSigningKeys(), firstAdmin: await install() };
// Idle timers of the migration engine would hold the run up for seconds.
process.stdout.write(JSON.stringify(prepared), () => process.exit(0));

async function copy(): Promise<void> {
  const from = parseDatabaseUrl(url);
  const to = parseDatabaseUrl(installedUrl);
  if (from.kind === 'sqlite' && to.kind === 'sqlite') return copyFileSync(from.file, to.file);
  const maintenance = new URL(url);
  maintenance.pathname = '/postgres';
  const { db, close } = await openDatabase(maintenance.href);
  const nameOf = (address: string) => new URL(address).pathname.slice(1);
  await db.$executeRawUnsafe(`CREATE DATABASE "${nameOf(installedUrl)}" TEMPLATE "${nameOf(url)}"`);
  await close();
}

async function makeSigningKeys(): Promise<Prepared['signingKeys']> {
  const { db, close } = await openDatabase(installedUrl);
  const deps = { vault: createVault([testSecret]), now: () => new Date(), logger };
  // Copies of the database start with an empty audit log.
  const audit = { record: async () => {} };
  await createKeyring({
    ...servicesOf({ ...deps, db, config: { issuer: 'http://localhost' } as never }),
    audit: audit as never,
  }).load();
  const rows = await db.signingKey.findMany();
  await close();
  return JSON.stringify(rows);
}

/** What startServer() stores, and the setting that startIdp() changes. */
async function install(): Promise<Prepared['firstAdmin']> {
  const environment = { DATABASE_URL: installedUrl, GATEHOUSE_SECRET: testSecret.toString('base64url') };
  const config = loadConfig(environment, { cwd: import.meta.dirname, terminal: false });
  const services = await createServices({ config, logger });
  await prepareData(services);
  await services.settings.set('admin_mfa', 'optional');
  const firstAdmin = await ensureFirstAdmin(services);
  await services.close();
  if (!firstAdmin) throw new Error('The first start made no administrator');
  return firstAdmin;
}
