// Run by migrations-concurrent.test.ts as a process of its own: `migrate URL`, or `hold URL` to take the lock and wait.
import { parseDatabaseUrl } from '../../src/base/storage/database-url.ts';
import { migrate } from '../../src/base/storage/migrations/migrate.ts';
import { openMigrationSession } from '../../src/base/storage/migrations/session.ts';

const [command, url = ''] = process.argv.slice(2);

if (command === 'migrate') {
  process.stdout.write(JSON.stringify(await migrate(url)));
} else {
  const session = await openMigrationSession(parseDatabaseUrl(url));
  const locked = await session.tryLock();
  await locked?.adapter.executeScript('CREATE TABLE half_done (id TEXT)');
  process.stdout.write(locked ? 'holding' : 'busy');
  setInterval(() => session, 60_000); // without a reference the connection would be garbage collected and closed
}
