// Runs before each test file, in its process: what the files of one process share begins again.
import { afterAll } from 'vitest';
import { startRsaKeys } from './applications/rsa-keys.ts';
import { sharePlans } from './database/plan-cache.ts';
import { atFileEnd } from './file-end.ts';
import { cacheHashes } from './hash-cache.ts';
import { shortWaits } from './waits.ts';

startRsaKeys();
cacheHashes();
await sharePlans();
shortWaits();
afterAll(async () => {
  for (const check of atFileEnd) await check();
});
