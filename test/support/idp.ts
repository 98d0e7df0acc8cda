// The real server on a free port, with a database of its own (or a shared one, for a second instance).
import { createServer } from 'node:net';
import path from 'node:path';
import { type Environment, loadConfig } from '../../src/base/config.ts';
import type { ResolveTxt } from '../../src/base/network/txt-records.ts';
import type { Clock } from '../../src/base/platform/clock.ts';
import { createLogger } from '../../src/base/platform/logger.ts';
import type { DatabaseLimits } from '../../src/base/storage/open-options.ts';
import { type RunningServer, startServer } from '../../src/server/start.ts';
import { installedDatabase, testDatabase, testFolder } from './database/database.ts';
import { expectGenuineRows, expectIntactAuditLog } from './intact.ts';
import { testSecret } from './secret.ts';
import { patientDatabase } from './waits.ts';

export interface TestIdp extends RunningServer {
  issuer: string;
  /** Everything that was logged, one JSON line each. */
  log: string[];
  /** What another instance on the same data is started with. */
  environment: Environment;
}

export interface TestIdpOptions {
  environment?: Record<string, string>;
  now?: Clock;
  /** The look-up of DNS records; finds none by default. */
  resolveTxt?: ResolveTxt;
  /** More patient than those of production by default: on a busy machine, statements wait longer than a request may. */
  databaseLimits?: DatabaseLimits;
  /**
   * The setting of a new installation is `required`. Tests of other things sign administrators in with their password alone, so
   * it is `optional` here; test/flows/admin-mfa.test.ts tests the default.
   */
  adminMfa?: 'default' | 'optional';
  /** The test changes protected rows or the audit log itself, and no alarm says so: `stop` does not check them. */
  hasTamperedRows?: boolean;
}

/** Starts Gatehouse. `stop` checks its rows as `gatehouse doctor` does, and closes its database; the files go with the test run. */
export async function startIdp(options: TestIdpOptions = {}): Promise<TestIdp> {
  const { environment = {}, now, adminMfa = 'optional', resolveTxt = async () => [] } = options;
  const { databaseLimits = patientDatabase } = options;
  const port = Number(environment.PORT ?? (await freePort()));
  const installed = isUsual(options) ? await installedDatabase() : undefined;
  const databaseUrl = installed?.url ?? environment.DATABASE_URL ?? (await freshDatabase(options));
  const env: Environment = {
    DATA_DIR: path.join(testFolder(), `data-${port}`),
    GATEHOUSE_SECRET: testSecret.toString('base64url'),
    LOG_FORMAT: 'json',
    ...environment,
    PORT: String(port),
    DATABASE_URL: databaseUrl,
  };
  const log: string[] = [];
  const destination = { write: (line: string) => void log.push(line) };
  // As the built program: templates, style sheets and scripts are read, hashed and compressed once, not for each page.
  const config = { ...loadConfig(env, { cwd: testFolder(), terminal: false }), production: true };
  const logger = createLogger({
    level: 'debug',
    format: 'json',
    destination,
    withTraces: config.tracing !== undefined,
  });
  const server = await startServer({ config, logger, ...(now && { now }), resolveTxt, databaseLimits });
  if (adminMfa === 'optional' && !installed) {
    await server.services.settings.set('admin_mfa', 'optional');
    await server.services.settings.reload();
  }
  const firstAdmin = server.firstAdmin ?? installed?.firstAdmin;
  let isStopped = false;
  const stop = async () => {
    // A row that a test tampers with raises an alarm as soon as the server reads it.
    const isTampered = options.hasTamperedRows || log.some((line) => line.includes('"alarm":'));
    const isChecked = !isTampered && !isStopped;
    isStopped = true;
    try {
      if (isChecked) {
        await expectGenuineRows(server.services);
        await expectIntactAuditLog(server.services);
      }
    } finally {
      await server.stop();
    }
  };
  return { ...server, stop, firstAdmin, issuer: config.issuer, log, environment: env };
}

/** Whether the first start stores what it stores in most tests, so that a database after such a start serves as well. */
function isUsual({ environment = {}, now, adminMfa = 'optional' }: TestIdpOptions): boolean {
  const changing = ['DATABASE_URL', 'GATEHOUSE_SECRET', 'GATEHOUSE_CONFIG', 'DATA_DIR'];
  const isToday = !now || Math.abs(now().getTime() - Date.now()) < 60_000;
  return isToday && adminMfa === 'optional' && !changing.some((name) => environment[name] !== undefined);
}

// Below the ports that the system gives to connections, and to servers that ask for any: one of those would take the port before the
// server listens. Each worker has ports of its own, for the same reason, and each of its processes begins elsewhere among them.
const [FIRST_PORT, PORTS, PORTS_OF_PROCESS] = [12_000, 2000, 100];
const firstOfWorker = FIRST_PORT + (Number(process.env.VITEST_POOL_ID ?? 0) % 10) * PORTS;
let portsUsed = process.pid * PORTS_OF_PROCESS;

/** A free port that this process has not had before. */
export async function freePort(): Promise<number> {
  const port = firstOfWorker + (portsUsed++ % PORTS);
  return (await isFree(port)) ? port : freePort();
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer().once('error', () => resolve(false));
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)));
  });
}

async function freshDatabase({ environment = {}, now }: TestIdpOptions): Promise<string> {
  // The keys that were made for the whole run are sealed under the tests' own secret.
  const keysFrom = environment.GATEHOUSE_SECRET ? undefined : (now?.() ?? new Date());
  const { url, close } = await testDatabase({ keysFrom });
  await close();
  return url;
}
