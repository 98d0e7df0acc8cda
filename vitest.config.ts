// Runs the whole suite on SQLite, and the files of test/support/database/postgresql-files.ts again on PostgreSQL.
// `npm test` runs both; `npx vitest run --project sqlite test/keys` runs one folder on SQLite.
// `npm run test:long` runs *.long.test.ts, the files that ask for a long run in full, and everything of the list for PostgreSQL.
import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { defineConfig, type TestProjectInlineConfiguration } from 'vitest/config';
import { compiledFiles, compiledSources, showSource } from './test/support/compiled-sources.ts';
import { postgresqlInclude, postgresqlInLongRun, sqliteInLongRun } from './test/support/database/postgresql-files.ts';
import { LongFirst } from './test/support/long-first.ts';
import { isLongRun } from './test/support/long-run.ts';
import { filesUnder } from './test/support/source/imports.ts';

/** Files with more cases or longer faults in a long run. */
const longer = isLongRun
  ? filesUnder('test', '.test.ts').filter((file) =>
      /(long-run|it-in-long-run|property|browser\/(browser|pages))\.ts'/.test(readFileSync(file, 'utf8')),
    )
  : [];
const longFiles = ['test/**/*.long.test.ts', ...sqliteInLongRun, ...longer];

/**
 * V8 optimizes what runs often. Here much runs some hundred times in its process, and optimizing it takes a fifth of the CPU time: with four
 * times its budget of bytecode, a function is optimized later, and the same files take 8 % less. From Node 22 on V8 has another rule.
 */
const lateCompilation = process.version.startsWith('v20.') ? ['--interrupt-budget=250000'] : [];

/** What both projects have. `maxWorkers` is not among it: Vitest prefers that of a project to `--maxWorkers`. */
const shared: TestProjectInlineConfiguration['test'] = {
  // Processes instead of threads, because native modules and the OIDC engine have global state. The files of a process share
  // their imports, which halves the total time.
  pool: 'forks',
  isolate: false,
  // The modules of a process are hundreds of megabytes that stay. V8 marks them all each time the rest has grown by sixty, which is a
  // quarter of the CPU time of a long run; so the first time is later, and each further time the heap has doubled.
  execArgv: ['--no-memory-reducer', '--initial-old-space-size=768', '--heap-growing-percent=100', ...lateCompilation],
  setupFiles: ['test/support/setup-file.ts'],
  server: { deps: { external: [compiledFiles] } },
  // Long timeouts, because password hashing, browsers and two databases share a small machine.
  testTimeout: 120_000,
  hookTimeout: 120_000,
  // expect.poll ends as soon as it succeeds; a busy machine may need long.
  expect: { poll: { timeout: 60_000, interval: 25 } },
  // One retry in CI, until three whole runs at load 8 have passed without one; the report names the retried tests.
  retry: process.env.CI ? 1 : 0,
  restoreMocks: true,
  unstubEnvs: true,
  unstubGlobals: true,
};

const plugins = [await compiledSources()];

export default defineConfig({
  test: {
    // More than cores on a small machine, because a third of the time is spent waiting for browsers and other processes. Each takes a gigabyte
    // and a half with its browser.
    maxWorkers: Math.max(5, availableParallelism() - 1),
    sequence: { sequencer: LongFirst },
    teardownTimeout: 30_000,
    onStackTrace: showSource,
    // Compiled modules are kept in node_modules by their content: the second project and the next run compile what has changed.
    experimental: { fsModuleCache: true },
    projects: [
      {
        plugins,
        test: {
          ...shared,
          name: 'sqlite',
          include: isLongRun ? longFiles : ['test/**/*.test.ts'],
          exclude: isLongRun ? [] : ['test/**/*.long.test.ts', ...sqliteInLongRun],
          globalSetup: ['test/support/database/setup-sqlite.ts'],
        },
      },
      {
        plugins,
        test: {
          ...shared,
          name: 'postgresql',
          include: [...postgresqlInclude],
          exclude: isLongRun ? [] : [...postgresqlInLongRun],
          globalSetup: ['test/support/database/setup-postgresql.ts'],
        },
      },
    ],
  },
});
