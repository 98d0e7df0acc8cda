// For each line of a bundled file the file and line that it was made from, as src/base/platform/source-stack.ts reads it.

import { SourceMap } from 'node:module';
import path from 'node:path';

const BITS_OF_LINE = 20;

/** Collects the tables of all bundled files: `add` returns one, `sources` are the names that it refers to. */
export function lineTables(root) {
  const sources = [];
  const indexes = new Map();
  const indexOf = (source) => {
    if (!indexes.has(source)) indexes.set(source, sources.push(source) - 1);
    return indexes.get(source);
  };
  return {
    sources,
    /** The table of `file`, from its text and its source map. */
    add(file, code, map) {
      const lines = code.split('\n');
      const table = Buffer.alloc(lines.length * 4);
      const found = new SourceMap(JSON.parse(map));
      for (const [index, line] of lines.entries()) {
        const { originalSource, originalLine } = found.findEntry(index, line.search(/\S|$/));
        if (originalSource === undefined) continue;
        const source = path.relative(root, path.resolve(path.dirname(file), originalSource));
        table.writeUInt32LE(indexOf(source) * 2 ** BITS_OF_LINE + originalLine + 1, index * 4);
      }
      if (sources.length > 2 ** (32 - BITS_OF_LINE)) throw new Error('too many source files for a line table');
      return table;
    },
  };
}
