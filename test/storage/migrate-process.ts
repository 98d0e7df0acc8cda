// Run by migrations-concurrent.test.ts as a process of its own: `migrate URL`, or `hold URL` to take the lock and wait.
import { setTimeout as sleep } from 'node:timers/promises';
import { parseDatabaseUrl } from '../../src/base/storage/database-url.ts';
import { migrate } from '../../src/base/storage/migrations/migrate.ts';
import { openMigrationSession } from '../../src/base/storage/migrations/session.ts';

const [command, url = ''] = process.argv.slice(2);

/** Takes the lock. A busy machine may answer after the limits of a connection: then once more. */
async function hold() {
  const session = await openMigrationSession(parseDatabaseUrl(url));
  const locked = await session.tryLock();
  await locked?.adapter.executeScript('CREATE TABLE half_done (id TEXT)');
  return { session, locked };
}

if (command === 'migrate') {
  process.stdout.write(JSON.stringify(await migrate(url)));
} else {
  const { session, locked } = await hold().catch(async () => {
    await sleep(1000);
    return hold();
  });
  process.stdout.write(locked ? 'holding' : 'busy');
  setInterval(() => session, 60_000); // without a reference the connection would be garbage collected and closed
}
