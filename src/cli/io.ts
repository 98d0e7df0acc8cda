// Input and output of a command: results go to standard output, everything else to standard error, so that output can be
// piped. Text from the database is printed without control characters, which could rewrite the terminal.

import { createInterface } from 'node:readline/promises';
import { text as readAll } from 'node:stream/consumers';
import type { DomainProof } from '../base/network/domains.ts';
import { OperatorError } from '../base/platform/errors.ts';

export type Io = {
  out(line: string): void;
  /** To standard error: an error, progress, a warning or the log. */
  err(line: string): void;
  json(value: unknown): void;
  table(head: readonly string[], rows: readonly (readonly string[])[]): void;
  /** All of standard input, without the line break at its end. */
  stdin(): Promise<string>;
  /** Prompts on the terminal; absent without a terminal. */
  ask?(question: string): Promise<string>;
};

/** The process's own streams. */
export function processIo(): Io {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    // `gatehouse user list | head` closes the pipe early: no error.
    if (error.code === 'EPIPE') return;
    process.exitCode = 1;
    err(`gatehouse: the output cannot be written: ${error.message}`);
  });
  const out = (line: string) => void process.stdout.write(`${line}\n`);
  const err = (line: string) => void process.stderr.write(`${line}\n`);
  return {
    out,
    err,
    json: (value) => out(JSON.stringify(value, replaceBigInt, 2)),
    table: (head, rows) => tableLines(head, rows).forEach(out),
    stdin: async () => (await readAll(process.stdin)).replace(/\r?\n$/, ''),
    ...(process.stdin.isTTY && process.stdout.isTTY && { ask }),
  };
}

function ask(question: string): Promise<string> {
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  return new Promise<string>((resolve, reject) => {
    // Ctrl-C or Ctrl-D.
    terminal.once('close', () => reject(new OperatorError('No answer, so nothing changed.')));
    terminal.question(question).then(resolve, reject);
  }).finally(() => terminal.close());
}

/** Prints a table; columns are as wide as their widest cell. */
export function tableLines(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const all = [head, ...rows].map((row) => row.map(plain));
  const widths = head.map((_, column) => Math.max(...all.map((row) => [...(row[column] ?? '')].length)));
  const pad = (cell: string, width: number) => cell + ' '.repeat(Math.max(0, width - [...cell].length));
  return all.map((row) =>
    row
      .map((cell, column) => pad(cell, widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}

/** What one thing is like, a line each. */
export const factLines = (facts: readonly (readonly [label: string, value: string])[]): string[] =>
  facts.map(([label, value]) => `${label.padEnd(14)} ${value}`);

/** A secret that is not shown again, and what else there is to say about it. */
export const secretLines = (label: string, secret: string, ...about: string[]): string[] => [
  `${label}: ${secret}`,
  ["Copy it now. You won't see it again.", ...about].join(' '),
];

/** Removes control characters from a text. */
export function plain(text: string): string {
  return text.replace(/[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu, ' ');
}

/** `2026-03-01 12:00`, or a dash. */
export function formatDate(date: Date | null | undefined): string {
  return date ? date.toISOString().slice(0, 16).replace('T', ' ') : '-';
}

function replaceBigInt(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? Number(value) : value;
}

/** How an email domain is proven, or what proves it. */
export const proofLine = ({ domain, provenAt, record }: Pick<DomainProof, 'domain' | 'provenAt' | 'record'>): string =>
  `# ${domain} is ${provenAt ? 'proven' : `not proven: add the TXT record ${record.name} "${record.value}"`}`;
