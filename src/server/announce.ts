// What a start prints: where the server is, the first administrator, or why it failed.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Config } from '../base/config.ts';
import { OperatorError } from '../base/platform/errors.ts';
import type { Logger } from '../base/platform/logger.ts';
import type { RunningServer } from './start.ts';

/** How long the box with the first password waits: for the first jobs of its process, and for the other workers. */
export const BOX_SECONDS = { jobs: 5, workers: 15 };

/** Independent of LOG_LEVEL: these lines are needed to find the server. */
export function announce({ url }: { url: string }, logger: Logger): void {
  const announcing = logger.child({}, { level: 'info' });
  announcing.info(`Gatehouse is ready at ${url}`);
  announcing.info(`OpenID Connect discovery: ${url}/.well-known/openid-configuration`);
  announcing.info(`SAML metadata:            ${url}/saml/metadata`);
}

/**
 * The box with the first administrator that this start created, for the terminal and not for the log, so that no log has the password;
 * `grep 'First administrator'` finds it on one line. It resolves when the log of the start is complete, so that the box is the last thing
 * on the terminal, and at `end`, as a password that is stored is printed in any case.
 */
export async function firstAdminBox(
  { firstJobs, ...server }: Parameters<typeof adminBox>[0] & { firstJobs: Promise<unknown> },
  end: Promise<unknown>,
): Promise<string | undefined> {
  if (!server.firstAdmin) return undefined;
  await atMost(BOX_SECONDS.jobs, firstJobs, end);
  return adminBox(server);
}

/** The box itself, at once. */
export function adminBox({
  url,
  firstAdmin,
}: {
  url: string;
  firstAdmin: RunningServer['firstAdmin'];
}): string | undefined {
  if (!firstAdmin) return undefined;
  const { username, password } = firstAdmin;
  const account = `username ${username}, temporary password ${password}`;
  return `\n${box(['Console', `${url}/admin`], ['First administrator', account])}\n\n`;
}

/** Resolves with the first of these, after so many seconds at the latest. */
export async function atMost(seconds: number, ...promises: Promise<unknown>[]): Promise<void> {
  await Promise.race([...promises, sleep(seconds * 1000, undefined, { ref: false })]);
}

/** Where the box is printed: standard output where the log is for people, else standard error, so that a log in JSON stays one. */
export const terminalOf = ({ logFormat }: { logFormat: Config['logFormat'] }) =>
  logFormat === 'pretty' ? process.stdout : process.stderr;

/** A frame around lines of name and value, for a terminal. */
function box(...lines: [name: string, value: string][]): string {
  const names = Math.max(...lines.map(([name]) => name.length));
  const texts = lines.map(([name, value]) => `  ${name.padEnd(names)}  ${value}  `);
  const width = Math.max(...texts.map((text) => text.length));
  const line = '─'.repeat(width);
  return [`┌${line}┐`, ...texts.map((text) => `│${text.padEnd(width)}│`), `└${line}┘`].join('\n');
}

/** One line that says what to do, where the cause is known. */
export function reportStartError(config: Config, logger: Logger, error: unknown): void {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  const { variable, host, port } = listenerOf(config, error);
  if (error instanceof OperatorError) for (const line of error.message.split('\n')) logger.fatal(line);
  else if (code === 'EADDRINUSE')
    logger.fatal(`${variable} ${port} on ${host} is already in use: stop the other program, or set ${variable}`);
  else if (code === 'EACCES')
    logger.fatal(`${variable} ${port} isn't allowed for this user: set ${variable} to 1024 or more`);
  else logger.fatal({ err: error }, 'the server could not be started');
}

/** Which of the two listeners an error of a socket is about. */
function listenerOf({ host, port, metrics }: Config, error: unknown) {
  const failed = error instanceof Error && 'port' in error ? error.port : undefined;
  return metrics.listen && metrics.listen.port === failed
    ? { variable: 'METRICS_PORT', ...metrics.listen }
    : { variable: 'PORT', host, port };
}
