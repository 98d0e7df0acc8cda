// Finds the command, runs it, and maps its result to an exit code: 0 success, 1 failure, 2 usage error.
import { UnreadableApplication } from '../applications/application.ts';
import { ConfigError } from '../config/config-error.ts';
import { AppError } from '../http/errors.ts';
import { packageVersion } from '../platform/package.ts';
import { sourceStack } from '../platform/source-stack.ts';
import { DatabaseError } from '../storage/database-url.ts';
import { type Command, helpOf, readInput, UsageError } from './command.ts';
import { commands } from './commands.ts';
import { type Io, Unanswered } from './io.ts';

/** Runs one command line and resolves with its exit code. */
export async function run(argv: readonly string[], io: Io): Promise<number> {
  if (argv[0] === '--version' || argv[0] === 'version') {
    io.out(packageVersion());
    return 0;
  }
  const wantsHelp = argv.includes('--help') || argv.includes('-h') || argv[0] === 'help';
  const words = (argv[0] === 'help' ? argv.slice(1) : argv).filter((word) => word !== '--help' && word !== '-h');
  if (words.length === 0 && !wantsHelp) {
    io.err(overview());
    return 2;
  }
  const command = findCommand(words);
  if (command === undefined) {
    const group = commands.filter(({ name }) => name.startsWith(`${words[0]} `));
    if (wantsHelp && (words.length === 0 || group.length > 0)) {
      io.out(words.length === 0 ? overview() : listing(group));
      return 0;
    }
    io.err(words[0] === undefined ? overview() : `gatehouse: there is no command "${words.slice(0, 2).join(' ')}"`);
    io.err(group.length > 0 ? listing(group) : 'Run: gatehouse --help');
    return 2;
  }
  if (wantsHelp) {
    io.out(helpOf(command));
    return 0;
  }
  try {
    return await command.run(readInput(command, words.slice(command.name.split(' ').length)), io);
  } catch (error) {
    return report(error, command, io);
  }
}

function findCommand(words: readonly string[]): Command | undefined {
  return commands.find(({ name }) => name.split(' ').every((word, index) => words[index] === word));
}

const ADVISING = [ConfigError, DatabaseError, Unanswered, UnreadableApplication];

function report(error: unknown, command: Command, io: Io): number {
  if (error instanceof UsageError) {
    io.err(`gatehouse ${command.name}: ${error.message}`);
    io.err(`Run: gatehouse ${command.name} --help`);
    return 2;
  }
  if (error instanceof AppError) {
    io.err(`gatehouse ${command.name}: ${[error.message, error.advice].filter(Boolean).join(' ')}`);
    for (const { field, message } of error.fields) io.err(`  ${field}: ${message}`);
    return 1;
  }
  // Their messages already contain the cause and the advice.
  if (ADVISING.some((one) => error instanceof one)) {
    io.err((error as Error).message);
    return 1;
  }
  io.err(
    `gatehouse ${command.name}: ${error instanceof Error ? (sourceStack(error.stack) ?? error.message) : String(error)}`,
  );
  return 1;
}

function overview(): string {
  return [
    'Gatehouse: a single sign-on server for OpenID Connect and SAML 2.0',
    '',
    listing(commands),
    '',
    "For help on a command, run: gatehouse COMMAND --help. Use the server's environment variables; gatehouse serve --help lists them.",
    'To see the version, run: gatehouse --version',
  ].join('\n');
}

function listing(listed: readonly Command[]): string {
  const rows = listed.map(({ name, args = [], summary }) => [`  gatehouse ${[name, ...args].join(' ')}`, summary]);
  const width = Math.max(...rows.map(([left = '']) => left.length));
  return rows.map(([left = '', right = '']) => `${left.padEnd(width)}  ${right}`).join('\n');
}
