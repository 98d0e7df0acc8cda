// Stack traces with the files and lines of src/ instead of those of the bundle. Node's --enable-source-maps reads all source maps at the start,
// which takes memory and time; here one is read when an error of its file is logged for the first time.
import { readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { packageRoot } from './package.ts';

const POSITION = /(file:\/\/[^\s()]+\.js):(\d+):(\d+)/g;
const maps = new Map<string, SourceMap | undefined>();

/** Replaces the positions in the bundle; others stay as they are. */
export function sourceStack(stack: string | undefined): string | undefined {
  return stack?.replace(POSITION, (position, url: string, line: string, column: string) => {
    if (!maps.has(url)) maps.set(url, readMap(url));
    const origin = maps.get(url)?.findOrigin(Number(line), Number(column));
    if (!origin || !('fileName' in origin)) return position;
    const source = fileURLToPath(new URL(origin.fileName, url));
    return `${path.relative(packageRoot, source)}:${origin.lineNumber}`;
  });
}

function readMap(url: string): SourceMap | undefined {
  try {
    return new SourceMap(JSON.parse(readFileSync(`${fileURLToPath(url)}.map`, 'utf8')));
  } catch {
    return undefined; // not a file of the bundle
  }
}
