// Finds the command, runs it, and maps its result to an exit code: 0 success, 1 failure, 2 usage error.

import { ConfigError } from '../base/config/config-error.ts';
import { AppError } from '../base/http/errors.ts';
import { OperatorError } from '../base/platform/errors.ts';
import { packageVersion } from '../base/platform/package.ts';
import { sourceStack } from '../base/platform/source-stack.ts';
import { asUnavailable, driverMessage } from '../base/storage/unavailable.ts';
import { faultLine, publicFault } from '../base/texts/faults.ts';
import { type Command, helpOf, print, readInput, UsageError } from './command.ts';
import { commands } from './commands.ts';
import { withServices } from './context.ts';
import type { Io } from './io.ts';

/** Runs one command line and resolves with its exit code. */
export async function run(argv: readonly string[], io: Io): Promise<number> {
  if (asksForJson(argv)) return withJsonErrors(io, (held) => outcomeOf(argv, held));
  const outcome = await outcomeOf(argv, io);
  if (typeof outcome === 'number') return outcome;
  for (const line of outcome.lines) io.err(line);
  return outcome.code;
}

/** The exit code, or an error that is not printed yet. */
async function outcomeOf(argv: readonly string[], io: Io): Promise<number | Failure> {
  if (argv[0] === '--version' || argv[0] === 'version') {
    io.out(packageVersion());
    return 0;
  }
  const wantsHelp = argv.includes('--help') || argv.includes('-h') || argv[0] === 'help';
  const words = (argv[0] === 'help' ? argv.slice(1) : argv).filter((word) => word !== '--help' && word !== '-h');
  if (wantsHelp) return printHelp(words, io);
  if (words.length === 0) {
    io.err(overview());
    return 2;
  }
  const command = findCommand(words);
  return command ? execute(command, words, io) : unknownCommand(words);
}

/** The help of a command, the commands that begin with a word, or all commands. */
function printHelp(words: readonly string[], io: Io): number | Failure {
  const command = findCommand(words);
  const group = groupOf(words);
  if (command) io.out(helpOf(command));
  else if (words.length === 0) io.out(overview());
  else if (group.length > 0) io.out(listing(group));
  else return unknownCommand(words);
  return 0;
}

async function execute(command: Command, words: readonly string[], io: Io): Promise<number | Failure> {
  try {
    const input = readInput(command, words.slice(command.name.split(' ').length));
    const result = await ('run' in command
      ? command.run(input, io)
      : withServices(io, (services) => command.act(services, input, io), command));
    return typeof result === 'number' ? result : print(result, input, io);
  } catch (error) {
    const failure = failureOf(error, command.name);
    // `gatehouse plan --exit-code` ends with 2 where there are changes.
    return words.includes('--exit-code') ? { ...failure, code: 1 } : failure;
  }
}

function findCommand(words: readonly string[]): Command | undefined {
  return commands.find(({ name }) => name.split(' ').every((word, index) => words[index] === word));
}

/** The commands that begin with the same word. */
const groupOf = ([first]: readonly string[]) => commands.filter(({ name }) => name.startsWith(`${first} `));

function unknownCommand(words: readonly string[]): Failure {
  const group = groupOf(words);
  const named = words.filter((word) => !word.startsWith('-')).slice(0, 2);
  const error = `there is no command "${named.join(' ')}"`;
  const advice = 'Run: gatehouse --help';
  return {
    code: 2,
    lines: [`gatehouse: ${error}`, group.length > 0 ? listing(group) : advice],
    fields: { error, advice },
  };
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

// The command line with --json: an error is one JSON object on standard error, on one line and alone there.

/** Whether the words of a command line ask for JSON. */
function asksForJson(words: readonly string[]): boolean {
  const end = words.indexOf('--');
  return (end < 0 ? words : words.slice(0, end)).includes('--json');
}

/**
 * Runs `work` and resolves with the exit code. What it writes to standard error waits until it has ended: it follows a result, and is
 * part of the object of an error. A result with another exit code than 0, such as that of `doctor`, is no error.
 */
async function withJsonErrors(io: Io, work: (io: Io) => Promise<number | Failure>): Promise<number> {
  const notes: string[] = [];
  const outcome = await work({ ...io, err: (line) => void notes.push(line) });
  if (typeof outcome === 'number') {
    notes.forEach(io.err);
    return outcome;
  }
  io.err(JSON.stringify({ ...outcome.fields, ...(notes.length > 0 && { notes }) }));
  return outcome.code;
}

// What an error of a command is to its caller: an exit code, the lines for people, and the fields of the JSON object (run.ts).

interface Failure {
  /** 1: the command failed; 2: it was called wrongly. */
  code: 1 | 2;
  lines: readonly string[];
  fields: { error: string; [name: string]: unknown };
}

/** `command`: the name of the command that threw it. */
function failureOf(thrown: unknown, command: string): Failure {
  const error = thrown instanceof Error ? thrown : new Error(String(thrown));
  const { message } = error;
  const named = `gatehouse ${command}: `;
  if (error instanceof UsageError) {
    const advice = `Run: gatehouse ${command} --help`;
    return { code: 2, lines: [`${named}${message}`, advice], fields: { error: message, command, advice } };
  }
  if (error instanceof AppError) return { code: 1, ...partsOf(error, command) };
  if (error instanceof OperatorError) {
    const faults = error instanceof ConfigError ? { faults: error.faults } : {};
    return { code: 1, lines: [message], fields: { error: message, command, ...faults } };
  }
  const text = databaseText(error);
  if (text !== undefined) return { code: 1, lines: [`${named}${text}`], fields: { error: text, command } };
  const stack = sourceStack(error.stack);
  return { code: 1, lines: [`${named}${stack ?? message}`], fields: { error: message, command, stack } };
}

/** One line for an error of the driver of SQLite, such as that of a file that this user cannot write; undefined for another error. */
function databaseText(error: Error): string | undefined {
  const { reason } = (error.name === 'DriverAdapterError' && asUnavailable(error)) || {};
  if (!reason) return undefined;
  const advice = 'Run this as the user of the server, who can write to the file and its folder';
  const isOfFile = reason === 'file missing' || reason === 'read-only';
  return `the database cannot be used: ${driverMessage(error)}${isOfFile ? `. ${advice}` : ''}`;
}

function partsOf({ message, advice, code, faults }: AppError, command: string): Pick<Failure, 'lines' | 'fields'> {
  return {
    lines: [
      `gatehouse ${command}: ${[message, advice].filter(Boolean).join(' ')}`,
      ...faults.map((one) => `  ${faultLine(one)}`),
    ],
    fields: {
      error: message,
      command,
      type: code,
      ...(advice !== undefined && { advice: String(advice) }),
      ...(faults.length > 0 && { errors: faults.map(publicFault) }),
    },
  };
}
