// Run by migrations-concurrent.test.ts as a process of its own: `migrate URL`, or `hold URL` to begin and hang.
import { parseDatabaseUrl } from '../../src/platform/database-url.ts';
import { migrate } from '../../src/platform/migrate.ts';
import { openMigrationSession } from '../../src/platform/migration-session.ts';

const [command, url = ''] = process.argv.slice(2);

if (command === 'migrate') {
  process.stdout.write(JSON.stringify(await migrate(url)));
} else {
  const session = await openMigrationSession(parseDatabaseUrl(url));
  const locked = await session.tryLock();
  await locked?.adapter.executeScript('CREATE TABLE half_done (id TEXT)');
  process.stdout.write(locked ? 'holding' : 'busy');
  setInterval(() => session, 60_000); // a connection that nobody refers to would be collected, and closed
}
