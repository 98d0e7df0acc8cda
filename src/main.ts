// The server process: reads the configuration, then serves until SIGTERM or SIGINT.
import { setFlagsFromString } from 'node:v8';
import { ConfigError } from './base/config/config-error.ts';

// Prisma's query compiler and the XML parser are WebAssembly. V8 would compile all of it at once and optimize it in several threads, which takes
// 20 MB and a third of the CPU time of a start, for code that runs once for each kind of query.
for (const flag of ['--wasm-lazy-compilation', '--no-wasm-dynamic-tiering', '--no-wasm-tier-up'])
  setFlagsFromString(flag);
try {
  // Loaded now, under these flags.
  const { serve } = await import('./server/serve.ts');
  process.exitCode = await serve();
} catch (error) {
  if (!(error instanceof ConfigError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}
