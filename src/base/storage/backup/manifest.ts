// FILE.json beside a copy of a SQLite file: what the copy held when it was made.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { type BackupHead, parseHead } from './head.ts';
import { syncFile } from './sqlite-copy.ts';

export interface Manifest extends BackupHead {
  bytes: number;
  /** Of the copy, in hexadecimal. */
  sha256: string;
  rows: Record<string, number>;
}

export const manifestPath = (file: string) => `${file}.json`;

/** Undefined where there is none; throws DatabaseError for one that is of something else. */
export function readManifest(file: string): Manifest | undefined {
  const name = manifestPath(file);
  if (!existsSync(name)) return undefined;
  return parseHead<Omit<Manifest, keyof BackupHead>>(readFileSync(name, 'utf8'), name);
}

export function writeManifest(file: string, manifest: Manifest): void {
  const name = manifestPath(file);
  writeFileSync(name, `${JSON.stringify(manifest, null, 1)}\n`, { mode: 0o600 });
  syncFile(name);
}
