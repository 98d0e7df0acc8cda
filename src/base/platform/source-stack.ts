// Stack traces with the files and lines of src/ instead of those of the bundle. Node can do that with source maps, but it reads
// all of them at start, which takes memory and time, so the build writes tables from which one line is read when it is needed.
import { closeSync, openSync, readFileSync, readSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { packageRoot } from './package.ts';

/** 4 bytes for each line of a bundled file: the index of its source in dist/sources.json, and the line there. */
const BITS_OF_LINE = 20;

const POSITION = /(file:\/\/[^\s()]+\.js):(\d+):\d+/g;
let sources: string[] | undefined;

/** Replaces the positions in the bundle; others, and all of them when a table cannot be read, stay as they are. */
export function sourceStack(stack: string | undefined): string | undefined {
  return stack?.replace(POSITION, (position, file: string, line: string) => {
    try {
      return sourcePosition(fileURLToPath(file), Number(line)) ?? position;
    } catch {
      return position; // not a file of the bundle
    }
  });
}

function sourcePosition(file: string, line: number): string | undefined {
  const table = openSync(`${file}.lines`, 'r');
  try {
    const record = Buffer.alloc(4);
    if (readSync(table, record, 0, 4, (line - 1) * 4) < 4) return undefined;
    sources ??= JSON.parse(readFileSync(path.join(packageRoot, 'dist', 'sources.json'), 'utf8')) as string[];
    const packed = record.readUInt32LE();
    const sourceLine = packed % 2 ** BITS_OF_LINE;
    const source = sources[Math.floor(packed / 2 ** BITS_OF_LINE)];
    return sourceLine === 0 ? undefined : `${source}:${sourceLine}`;
  } finally {
    closeSync(table);
  }
}
