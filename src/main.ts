// The server process: reads the configuration, then serves until SIGTERM or SIGINT.
import { ConfigError } from './base/config/config-error.ts';
import { limitMemory } from './base/platform/memory.ts';

limitMemory();
try {
  // Loaded now, under these limits.
  const { main } = await import('./server/main.ts');
  process.exitCode = await main();
} catch (error) {
  if (!(error instanceof ConfigError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}
