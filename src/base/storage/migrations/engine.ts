// Prisma's migration engine in its WebAssembly build, so that no binary is downloaded. It is slow to load, so this module
// is imported only when there is a migration to apply.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import {
  bindMigrationAwareSqlAdapterFactory,
  type SqlMigrationAwareDriverAdapterFactory,
} from '@prisma/driver-adapter-utils';
import * as bindings from '@prisma/schema-engine-wasm/schema_engine_bg';
import type { DatabaseKind } from '../database-url.ts';
import type { MigrationFile } from './files.ts';

const FILTERS = { externalTables: [], externalEnums: [] };
const require = createRequire(import.meta.url);
let loaded = false;

export interface MigrationEngine {
  /** Applies the migrations that are not recorded yet, records them and returns their names. */
  apply(migrations: readonly MigrationFile[]): Promise<string[]>;
  /** The SQL that changes a database from one schema text (undefined: an empty database) to another. */
  diff(from: string | undefined, to: string): Promise<string>;
  /** Changes the database to match the schema text; returns the number of steps. */
  push(schema: string): Promise<number>;
}

/** Starts the engine on a database that `adapter` connects to. */
export async function startMigrationEngine(
  kind: DatabaseKind,
  adapter: SqlMigrationAwareDriverAdapterFactory,
): Promise<MigrationEngine> {
  load();
  const datasource = `datasource db {\n  provider = "${kind}"\n}\n`;
  const engine = await bindings.SchemaEngine.new(
    { datamodels: [['schema.prisma', datasource]] },
    () => {},
    bindMigrationAwareSqlAdapterFactory(adapter),
  );
  return {
    async apply(migrations) {
      const migrationsList = {
        baseDir: '/',
        lockfile: { path: 'migration_lock.toml', content: `provider = "${kind}"\n` },
        shadowDbInitScript: '',
        migrationDirectories: migrations.map(({ name, sql }) => ({
          path: name,
          migrationFile: { path: 'migration.sql', content: { tag: 'ok' as const, value: sql } },
        })),
      };
      const { appliedMigrationNames } = await engine.applyMigrations({ migrationsList, filters: FILTERS });
      return appliedMigrationNames;
    },
    async diff(from, to) {
      const { stdout } = await engine.diff({
        from: from === undefined ? { tag: 'empty' } : { tag: 'schemaDatamodel', ...schemaFiles(from) },
        to: { tag: 'schemaDatamodel', ...schemaFiles(to) },
        script: true,
        exitCode: null,
        filters: FILTERS,
      });
      return stdout ?? '';
    },
    async push(schema) {
      const { executedSteps } = await engine.schemaPush({
        schema: schemaFiles(schema),
        force: false,
        filters: FILTERS,
      });
      return executedSteps;
    },
  };
}

function schemaFiles(content: string) {
  return { files: [{ path: 'schema.prisma', content }] };
}

function load(): void {
  if (loaded) return;
  const folder = path.dirname(require.resolve('@prisma/schema-engine-wasm/schema_engine_bg'));
  const module = new WebAssembly.Module(readFileSync(path.join(folder, 'schema_engine_bg.wasm')));
  const imports = Object.entries(bindings as unknown as WebAssembly.ModuleImports).map(([name, value]) =>
    // The engine starts a timer of ten seconds, which would delay the exit of the process.
    name.startsWith('__wbg_setTimeout_') ? [name, unreferencedTimeout] : [name, value],
  );
  const { exports } = new WebAssembly.Instance(module, { './schema_engine_bg.js': Object.fromEntries(imports) });
  // The engine stores the message of a panic here before it throws.
  let panic = '';
  Object.assign(globalThis, {
    PRISMA_WASM_PANIC_REGISTRY: { get: () => panic, set_message: (message: string) => (panic = message) },
  });
  bindings.__wbg_set_wasm(exports);
  if (typeof exports.__wbindgen_start === 'function') exports.__wbindgen_start();
  loaded = true;
}

function unreferencedTimeout(callback: () => void, milliseconds: number): NodeJS.Timeout {
  return setTimeout(callback, milliseconds >>> 0).unref();
}
