// Gatehouse in this process, so that the scenarios can look at its sessions and its log.
import path from 'node:path';
import { loadConfig } from '../../src/config.ts';
import { checkConnection } from '../../src/connections/schema.ts';
import { createLogger } from '../../src/platform/logger.ts';
import { startServer } from '../../src/server/start.ts';
import type { Services } from '../../src/services.ts';
import { freePort, newFolder } from './programs.ts';

export interface Gatehouse {
  issuer: string;
  services: Services;
  /** Everything that was logged, one JSON line each. */
  log: string[];
  /** Registers the connection. */
  connect(entry: Record<string, unknown> & { id: string }): Promise<void>;
  stop(): Promise<void>;
}

/** Starts it on an empty database. `localhost`, because the peers are at 127.0.0.1: for browsers that is another site. */
export async function startGatehouse(host = 'localhost'): Promise<Gatehouse> {
  const port = await freePort();
  const folder = newFolder('gatehouse');
  const env = {
    ISSUER: `http://${host}:${port}`,
    HOST: '127.0.0.1',
    PORT: String(port),
    DATA_DIR: path.join(folder, 'data'),
    LOG_FORMAT: 'json',
  };
  const config = loadConfig(env, { cwd: folder, terminal: false });
  const log: string[] = [];
  const logger = createLogger({
    level: 'debug',
    format: 'json',
    destination: { write: (line) => void log.push(line) },
  });
  const server = await startServer({ config, logger });
  const { services } = server;
  await services.settings.set('admin_mfa', 'optional');
  await services.settings.set('rate_limits', false);
  await services.settings.reload();
  return {
    issuer: config.issuer,
    services,
    log,
    async connect(entry) {
      const checked = checkConnection(entry);
      if (!checked.ok) throw new Error(JSON.stringify(checked.faults));
      await services.connections.create(checked.value, { source: 'local' });
    },
    stop: () => server.stop(),
  };
}
