// The PostgreSQL server of this test run. Only the `postgresql` project has one.
import { inject } from 'vitest';

/** The URL of the running server's maintenance database; fails where the run has no PostgreSQL. */
export function postgresUrl(): string {
  const { postgresUrl: url } = inject('testDatabase');
  if (!url) throw new Error('This test needs PostgreSQL: run it with --project postgresql');
  return url;
}
