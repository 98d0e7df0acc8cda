// Reads the configuration file from disk.
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { ConfigError } from '../base/config/config-error.ts';
import { formatFault, type ParsedFile, parseFile } from './file.ts';

/** `text`: of a file on disk (applied.ts). */
export type ConfigurationFile = ParsedFile & { path: string; text?: string };

/** Reads and checks a configuration file; throws ConfigError with one line for each fault. */
export async function readValidFile(file: string): Promise<ConfigurationFile> {
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    const reason = error instanceof Error && 'code' in error ? String(error.code) : 'not readable';
    throw new ConfigError([`${file}: cannot be read (${reason})`]);
  });
  const parsed = parseFile(text);
  if (parsed.faults.length > 0) throw new ConfigError(parsed.faults.map((fault) => formatFault(file, fault)));
  return { ...parsed, path: path.resolve(file), text };
}
