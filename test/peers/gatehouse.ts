// Gatehouse in this process, so that the scenarios can look at its sessions and its log.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { createServer } from 'node:https';
import path from 'node:path';
import { loadConfig } from '../../src/base/config.ts';
import { createLogger } from '../../src/base/platform/logger.ts';
import { checkConnection } from '../../src/federation/connections/schema.ts';
import type { Services } from '../../src/server/services.ts';
import { startServer } from '../../src/server/start.ts';
import { freePort, newFolder } from './programs.ts';

export interface Gatehouse {
  issuer: string;
  /** With https: the file of the private certificate authority that signed the certificate of the issuer. */
  authority?: string;
  services: Services;
  /** Everything that was logged, one JSON line each. */
  log: string[];
  /** Registers the connection. */
  connect(entry: Record<string, unknown> & { id: string }): Promise<void>;
  stop(): Promise<void>;
}

/**
 * Starts it on an empty database. `localhost`, because the peers are at 127.0.0.1: for browsers that is another site. With `https` it is
 * behind a TLS proxy whose certificate is of a private authority. `environment` adds variables.
 */
export async function startGatehouse(
  host = 'localhost',
  scheme: 'http' | 'https' = 'http',
  environment: Record<string, string> = {},
): Promise<Gatehouse> {
  const port = await freePort();
  const folder = newFolder('gatehouse');
  const proxy = scheme === 'https' ? await startTlsProxy(folder, host, port) : undefined;
  const env = {
    ISSUER: proxy?.origin ?? `http://${host}:${port}`,
    ...(proxy && { TRUST_PROXY: '1' }),
    HOST: host.startsWith('127.') ? host : '127.0.0.1',
    PORT: String(port),
    DATA_DIR: path.join(folder, 'data'),
    LOG_FORMAT: 'json',
    ...environment,
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
    ...(proxy && { authority: proxy.authority }),
    services,
    log,
    async connect(entry) {
      const checked = checkConnection(entry);
      if (!checked.ok) throw new Error(JSON.stringify(checked.faults));
      await services.connections.create(checked.value, { source: 'local' });
    },
    async stop() {
      proxy?.stop();
      await server.stop();
    },
  };
}

/** A TLS proxy before a port of loopback, with a certificate for the host from an authority of its own. */
async function startTlsProxy(folder: string, host: string, port: number) {
  const at = (name: string) => path.join(folder, name);
  const openssl = (...args: string[]) => execFileSync('openssl', args, { stdio: 'ignore' });
  const newKey = ['-newkey', 'rsa:2048', '-nodes'];
  const authority = at('authority.pem');
  openssl(
    ...['req', '-x509', ...newKey, '-days', '2', '-subj', '/CN=Private authority of a trial'],
    ...['-keyout', at('authority.key'), '-out', authority],
  );
  writeFileSync(at('names'), `subjectAltName=DNS:${host},IP:127.0.0.1\n`);
  openssl('req', ...newKey, '-subj', `/CN=${host}`, '-keyout', at('tls.key'), '-out', at('tls.csr'));
  openssl(
    ...['x509', '-req', '-in', at('tls.csr'), '-days', '2', '-extfile', at('names'), '-out', at('tls.pem')],
    ...['-CA', authority, '-CAkey', at('authority.key'), '-CAcreateserial'],
  );
  const own = await freePort();
  const options = { key: readFileSync(at('tls.key')), cert: readFileSync(at('tls.pem')) };
  const server = createServer(options, (incoming, outgoing) => {
    const headers = {
      ...incoming.headers,
      'x-forwarded-proto': 'https',
      'x-forwarded-host': incoming.headers.host,
      'x-forwarded-for': incoming.socket.remoteAddress,
    };
    const { method, url } = incoming;
    const inner = request({ host: '127.0.0.1', port, method, path: url, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.rawHeaders);
      answer.pipe(outgoing);
    });
    inner.on('error', () => outgoing.destroy());
    incoming.pipe(inner);
  });
  await new Promise<void>((resolve) => server.listen(own, '127.0.0.1', resolve));
  return {
    origin: `https://${host}:${own}`,
    authority,
    stop() {
      server.closeAllConnections();
      server.close();
    },
  };
}
