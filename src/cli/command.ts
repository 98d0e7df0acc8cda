// Defines a command and parses its arguments with node:util. A usage error is exit code 2, so that a script can tell it
// from a failure (1).

import { parseArgs } from 'node:util';
import { messageOf, OperatorError } from '../base/platform/errors.ts';
import type { Services } from '../server/services.ts';
import { type Io, plain } from './io.ts';

export type Option = {
  type: 'boolean' | 'string';
  /** The placeholder of the value in the help. */
  value?: string;
  multiple?: true;
  help: string;
};

export type Input = {
  /** Whether the call has neither arguments nor options. */
  isEmpty: boolean;
  /** The arguments after the command, as many as `args` names. */
  words: string[];
  flag(name: string): boolean;
  text(name: string): string | undefined;
  texts(name: string): string[];
};

export interface Description {
  /** Names of the arguments, in order; `[NAME]` is optional, and the last one, as `NAME…`, can be repeated. */
  args?: readonly string[];
  summary: string;
  details?: string;
  options?: Record<string, Option>;
}

/** `act` works on the services of the server, and always has --json. `run` opens what it needs, and may print by itself: it gives the exit code. */
export type Work =
  | {
      act(services: Services, input: Input, io: Io): Promise<Result>;
      /** Creates an embedded database if there is none: the command may be the first one of a new server. */
      mayBegin?: true;
    }
  | { run(input: Input, io: Io): Promise<Result | number> };

/** By name, such as `user add`. */
export type Commands = Readonly<Record<string, Description & Work>>;
export type Command = Description & Work & { name: string };

/** What a command prints: `json` with --json, else the lines, the table and the errors. */
export interface Result {
  json: unknown;
  text?: string | readonly string[];
  table?: readonly [head: readonly string[], rows: readonly (readonly string[])[]];
  /** On standard error; with any, the exit code is 1. */
  errors?: readonly string[];
  /** Warnings and advice, on standard error, also with --json. */
  notes?: readonly string[];
  /** What the exit code says otherwise: 1 when not all was done. */
  code?: number;
}

/** Prints a result and returns the exit code. */
export function print({ json, text = [], table, errors = [], notes = [], code }: Result, input: Input, io: Io): number {
  if (input.flag('json')) io.json(json);
  else {
    for (const line of [text].flat()) io.out(plain(line));
    if (table) io.table(...table);
    for (const line of errors) io.err(plain(line));
  }
  for (const line of notes) io.err(plain(line));
  return code ?? (errors.length > 0 ? 1 : 0);
}

/** Ends the command with this error, and the exit code 1. */
export function fail(message: string | readonly string[]): never {
  throw new OperatorError([message].flat().map(plain).join('\n'));
}

/** Ends the command, because nothing has this name. @param group whose command `list` lists all */
export const noSuch = (what: string, group: string, name: string): never =>
  fail(`There is no ${what} "${name}". To see all ${what}s, run: gatehouse ${group} list`);

/** A usage error: exit code 2. */
export class UsageError extends Error {
  override name = 'UsageError';
}

export const jsonOption = { json: { type: 'boolean', help: 'print JSON, for scripts' } } as const satisfies Record<
  string,
  Option
>;

/** The values of a command line; throws UsageError. */
export function readInput(command: Command, argv: string[]): Input {
  const { options = {}, args = [] } = command;
  const parsed = parse(argv, options);
  const needed = args.filter((name) => !name.startsWith('[')).length;
  if (parsed.positionals.length < needed) throw new UsageError(`${args[parsed.positionals.length]} is missing`);
  const extra = args.at(-1)?.includes('…') ? undefined : parsed.positionals[args.length];
  if (extra !== undefined) throw new UsageError(`unexpected argument: ${extra}`);
  return inputOf(parsed.values as InputValues, parsed.positionals);
}

export type InputValues = Readonly<Record<string, boolean | string | string[] | undefined>>;

/** The input with these options and arguments. */
export function inputOf(values: InputValues, words: string[] = []): Input {
  return {
    isEmpty: words.length === 0 && Object.keys(values).length === 0,
    words,
    flag: (name) => values[name] === true,
    text(name) {
      const value = values[name];
      return typeof value === 'string' ? value : undefined;
    },
    texts(name) {
      const value = values[name];
      return Array.isArray(value) ? value : [];
    },
  };
}

/** Returns the help of one command. */
export function helpOf({ name, args = [], summary, details, options = {} }: Command): string {
  const rows = Object.entries({ ...options, help: { type: 'boolean', help: 'print this help' } as Option }).map(
    ([option, { value, help, multiple }]) => [
      `  --${option}${value ? ` ${value}` : ''}`,
      multiple ? `${help} (can be repeated)` : help,
    ],
  );
  const width = Math.max(...rows.map(([left = '']) => left.length));
  const lines = rows.map(([left = '', right = '']) => `${left.padEnd(width)}  ${right}`);
  const usage = ['Usage: gatehouse', name, ...args, '[options]'].join(' ');
  return [usage, '', summary, ...(details ? ['', details] : []), '', 'Options:', ...lines].join('\n');
}

function parse(args: string[], options: Record<string, Option>) {
  const known = Object.entries(options).map(
    ([name, { type, multiple = false }]) => [name, { type, multiple }] as const,
  );
  try {
    return parseArgs({ args, options: Object.fromEntries(known), allowPositionals: true, strict: true });
  } catch (error) {
    // Node's first sentence names the option; the rest is about positionals.
    const [message = 'invalid options'] = messageOf(error).split(/\. |\n/);
    // A client ID or a secret can start with "-".
    const hint = /option '-[^-]'$/.test(message) ? '. A value that starts with "-" goes to the end, after "--"' : '';
    throw new UsageError(message + hint);
  }
}
