#!/usr/bin/env node
// Starts the compiled command line; a fresh clone has to be built first.
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const program = new URL('../dist/cli.js', import.meta.url);
if (existsSync(program)) await import(program.href);
else {
  process.stderr.write(
    `gatehouse: not built yet. Run: npm --prefix "${fileURLToPath(new URL('..', import.meta.url))}" run build\n`,
  );
  process.exitCode = 1;
}
