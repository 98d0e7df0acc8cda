// `tsx prepare-database.ts URL`: migrates the database that tests copy, and makes the signing keys that most tests
// need, once per run, because finding primes takes longer than all the rest. Prints the keys as JSON.
import { pino } from 'pino';
import { createKeyring } from '../../../src/keys/keyring.ts';
import { createVault } from '../../../src/platform/vault.ts';
import { openDatabase } from '../../../src/storage/database.ts';
import { migrate } from '../../../src/storage/migrations/migrate.ts';
import { testSecret } from '../secret.ts';

const url = process.argv[2] ?? '';
await migrate(url);
const { db, close } = await openDatabase(url);
const deps = { vault: createVault([testSecret]), now: () => new Date(), logger: pino({ level: 'silent' }) };
// Copies of the database start with an empty audit log.
const audit = { record: async () => {} };
await createKeyring({ db, issuer: 'http://localhost', audit, ...deps }).load();
const rows = JSON.stringify(await db.signingKey.findMany());
await db.signingKey.deleteMany();
await close();
// Idle timers of the migration engine would hold the run up for seconds.
process.stdout.write(rows, () => process.exit(0));
