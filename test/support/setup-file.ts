// Runs before each test file, in its process: what the files of one process share begins again.
import { startRsaKeys } from './applications/rsa-keys.ts';
import { sharePlans } from './database/plan-cache.ts';
import { cacheHashes } from './hash-cache.ts';
import { shortWaits } from './waits.ts';

startRsaKeys();
cacheHashes();
await sharePlans();
shortWaits();
