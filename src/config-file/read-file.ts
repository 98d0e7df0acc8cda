// Reads the configuration file, or one entry of it, from disk.
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { ConfigError } from '../base/config/config-error.ts';
import { type FileEntry, formatFault, type ParsedFile, parseEntry, parseFile } from './file.ts';
import type { EntrySection } from './schema.ts';

/** `text`: of a file on disk (applied.ts). */
export type ConfigurationFile = ParsedFile & { path: string; text?: string };

/** Reads and checks a configuration file; throws ConfigError with one line for each fault. */
export async function readValidFile(file: string): Promise<ConfigurationFile> {
  const text = await readText(file);
  const parsed = parseFile(text);
  if (parsed.faults.length > 0) throw new ConfigError(parsed.faults.map((fault) => formatFault(file, fault)));
  return { ...parsed, path: path.resolve(file), text };
}

/** Reads and checks an entry of a section that is alone in a file, or in standard input (`-`); throws as `readValidFile` does. */
export async function readEntry<Name extends EntrySection>(
  section: Name,
  file: string,
  stdin: () => Promise<string>,
): Promise<FileEntry<Name>> {
  const parsed = parseEntry(section, file === '-' ? await stdin() : await readText(file));
  if (!parsed.ok) throw new ConfigError(parsed.faults.map((fault) => formatFault(file, fault)));
  return parsed.value;
}

/** Throws ConfigError. */
export function readBytes(file: string): Promise<Buffer> {
  return readFile(file).catch((error: unknown) => {
    const reason = error instanceof Error && 'code' in error ? String(error.code) : 'not readable';
    throw new ConfigError([`${file}: cannot be read (${reason})`]);
  });
}

export const readText = async (file: string): Promise<string> => (await readBytes(file)).toString('utf8');
