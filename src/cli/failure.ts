// What an error of a command is to its caller: an exit code, the lines for people, and the fields of the JSON object (run.ts).

import { UnreadableApplication } from '../applications/application.ts';
import { ConfigError } from '../base/config/config-error.ts';
import { AppError } from '../base/http/errors.ts';
import { sourceStack } from '../base/platform/source-stack.ts';
import { VaultError } from '../base/platform/vault.ts';
import { DatabaseError } from '../base/storage/database-url.ts';
import { asUnavailable, driverMessage } from '../base/storage/unavailable.ts';
import { faultLine, publicFault } from '../base/texts/faults.ts';
import { UsageError } from './command.ts';
import { Unanswered } from './io.ts';

export interface Failure {
  /** 1: the command failed; 2: it was called wrongly. */
  code: 1 | 2;
  lines: readonly string[];
  fields: { error: string; [name: string]: unknown };
}

// Their messages already contain the cause and the advice.
const ADVISING = [DatabaseError, Unanswered, UnreadableApplication, VaultError];

/** `command`: the name of the command that threw it. */
export function failureOf(thrown: unknown, command: string): Failure {
  const error = thrown instanceof Error ? thrown : new Error(String(thrown));
  const { message } = error;
  const named = `gatehouse ${command}: `;
  if (error instanceof UsageError) {
    const advice = `Run: gatehouse ${command} --help`;
    return { code: 2, lines: [`${named}${message}`, advice], fields: { error: message, command, advice } };
  }
  if (error instanceof ConfigError)
    return { code: 1, lines: [message], fields: { error: message, command, faults: error.faults } };
  if (error instanceof AppError) return { code: 1, ...partsOf(error, command) };
  if (ADVISING.some((one) => error instanceof one))
    return { code: 1, lines: [message], fields: { error: message, command } };
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
