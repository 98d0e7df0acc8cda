// The whole suite on SQLite, and everything that opens a database again on a real PostgreSQL.
// `npm test` runs both; `npx vitest run --project sqlite test/keys` is the quick way while working.
import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { databaseTests } from './test/support/imports.ts';

export default defineConfig({
  test: {
    // Processes, because native modules and the OIDC engine keep state of their own. Every file starts servers and databases
    // of its own, so the files of one process share what they import: that halves the time of the whole.
    pool: 'forks',
    isolate: false,
    maxWorkers: Math.max(2, availableParallelism() - 1),
    // Password hashing, browsers and two databases share a small machine: slow is not wrong.
    testTimeout: 60_000,
    hookTimeout: 90_000,
    teardownTimeout: 30_000,
    // Real browsers, killed processes and clocks: once more where nobody watches; the report says which ones needed it.
    retry: process.env.CI ? 1 : 0,
    restoreMocks: true,
    unstubEnvs: true,
    unstubGlobals: true,
    projects: [
      {
        extends: true,
        test: {
          name: 'sqlite',
          include: ['test/**/*.test.ts'],
          globalSetup: ['test/support/setup-sqlite.ts'],
        },
      },
      {
        extends: true,
        test: {
          name: 'postgresql',
          include: databaseTests('test'),
          globalSetup: ['test/support/setup-postgresql.ts'],
        },
      },
    ],
  },
});
