// Runs a server until SIGTERM or SIGINT; for `npm start` and `gatehouse serve`.

import { ConfigError } from '../config/config-error.ts';
import type { Config } from '../config.ts';
import type { Logger } from '../platform/logger.ts';
import { DatabaseError } from '../storage/database-url.ts';
import { startServer } from './start.ts';

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

  const signal = await new Promise<string>((resolve) => {
    process.once('SIGTERM', resolve);
    process.once('SIGINT', resolve);
  });
  logger.info({ signal }, 'stopping: no new requests, those in progress are finished');
  // A second signal does not wait.
  const exitNow = () => process.exit(130);
  process.once('SIGINT', exitNow).once('SIGTERM', exitNow);
  await server.stop();
  logger.info('stopped');
  return 0;
}

/** Which of the two listeners an error of a socket is about. */
function listenerOf({ host, port, metrics }: Config, error: unknown) {
  const failed = error instanceof Error && 'port' in error ? error.port : undefined;
  return metrics.listen && metrics.listen.port === failed
    ? { variable: 'METRICS_PORT', ...metrics.listen }
    : { variable: 'PORT', host, port };
}
