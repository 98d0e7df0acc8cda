// The server process: reads the configuration, then serves until SIGTERM or SIGINT. With arguments it is `gatehouse serve`: --help lists the
// variables, and any other argument is an error.
import { setFlagsFromString } from 'node:v8';
import { ConfigError } from './base/config/config-error.ts';

// Prisma's query compiler and the XML parser are WebAssembly. V8 would compile all of it at once and optimize it in several threads, which takes
// 20 MB and a third of the CPU time of a start, for code that runs once for each kind of query.
//
// Without pretenuring: once many objects of an allocation site have survived a burst, such as the first requests, V8 puts all later ones into the
// old space. Each request would leave 2.6 KB there instead of 1 KB, so marking, which stops a process on one core for 100 ms, would come more often.
for (const flag of [
  '--wasm-lazy-compilation',
  '--no-wasm-dynamic-tiering',
  '--no-wasm-tier-up',
  '--no-allocation-site-pretenuring',
])
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
