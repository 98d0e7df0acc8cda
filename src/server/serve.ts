// Runs a server until SIGTERM or SIGINT; for `npm start` and `gatehouse serve`.

import { ConfigError } from '../config/config-error.ts';
import type { Config } from '../config.ts';
import type { Logger } from '../platform/logger.ts';
import { DatabaseError } from '../storage/database-url.ts';
import { startServer } from './start.ts';
import { stopServer } from './stop.ts';

const SAME_SIGNAL_MILLISECONDS = 500;

/** Resolves with the exit code, after SIGTERM or SIGINT and a clean shutdown. */
export async function serve(config: Config, logger: Logger): Promise<number> {
  for (const warning of config.warnings) logger.warn(warning);
  const server = await startServer({ config, logger }).catch((error: unknown) => {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    const { variable, host, port } = listenerOf(config, error);
    if (error instanceof DatabaseError) logger.fatal(error.message);
    else if (error instanceof ConfigError) for (const line of error.message.split('\n')) logger.fatal(line);
    else if (code === 'EADDRINUSE')
      logger.fatal(`${variable} ${port} on ${host} is taken: stop what listens there, or set ${variable}`);
    else if (code === 'EACCES')
      logger.fatal(`${variable} ${port} may not be used by this user: set ${variable} to 1024 or more`);
    else logger.fatal({ err: error }, 'the server could not be started');
    return undefined;
  });
  if (!server) return 1;
  const { issuer } = config;
  // Independent of LOG_LEVEL: these lines are needed to find the server and to sign in.
  const announce = logger.child({}, { level: 'info' });
  announce.info(`Gatehouse is ready at ${issuer}`);
  announce.info(`OpenID Connect discovery: ${issuer}/.well-known/openid-configuration`);
  announce.info(`SAML metadata:            ${issuer}/saml/metadata`);

  if (server.firstAdmin) {
    const { username, password } = server.firstAdmin;
    announce.info(
      `First administrator: user name ${username}, one-time password ${password} (displayed once; it must be changed at the first sign-in)`,
    );
  }

  const signal = await stopSignal();
  logger.info({ signal }, 'signal received');
  const outcome = await stopServer(server, { announceSeconds: config.drainSeconds, logger });
  // What is still open would hold the process.
  if (outcome === 'cut off') process.exit(1);
  return 0;
}

/** The first SIGTERM or SIGINT. A second one ends the process at once. */
function stopSignal(): Promise<string> {
  return new Promise((resolve) => {
    let since: number | undefined;
    const onSignal = (signal: string) => {
      // npm passes on the Ctrl-C that the terminal sends to its whole process group, so one arrives twice.
      if (since !== undefined && performance.now() - since > SAME_SIGNAL_MILLISECONDS) process.exit(130);
      since ??= performance.now();
      resolve(signal);
    };
    process.on('SIGTERM', onSignal).on('SIGINT', onSignal);
  });
}

/** Which of the two listeners an error of a socket is about. */
function listenerOf({ host, port, metrics }: Config, error: unknown) {
  const failed = error instanceof Error && 'port' in error ? error.port : undefined;
  return metrics.listen && metrics.listen.port === failed
    ? { variable: 'METRICS_PORT', ...metrics.listen }
    : { variable: 'PORT', host, port };
}
