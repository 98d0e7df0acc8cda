// The server process: reads the configuration, then serves until SIGTERM or SIGINT. With arguments it is `gatehouse serve`: --help lists the
// variables, and any other argument is an error.
import { setFlagsFromString } from 'node:v8';
import { ConfigError } from './base/config/config-error.ts';

// Prisma's query compiler and the XML parser are WebAssembly. V8 would compile all of it at once and optimize it in several threads, which takes
// 20 MB and a third of the CPU time of a start, for code that runs once for each kind of query.
for (const flag of ['--wasm-lazy-compilation', '--no-wasm-dynamic-tiering', '--no-wasm-tier-up'])
  setFlagsFromString(flag);
try {
  const words = process.argv.slice(2);
  // Loaded now, under these flags.
  if (words.length === 0) process.exitCode = await (await import('./server/serve.ts')).serve();
  else {
    const [{ processIo }, { run }] = await Promise.all([import('./cli/io.ts'), import('./cli/run.ts')]);
    process.exitCode = await run(['serve', ...words], processIo());
  }
} catch (error) {
  if (!(error instanceof ConfigError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}
