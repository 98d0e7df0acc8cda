// Runs before each test file, in its process: what the files of one process share begins again.
import { afterAll, expect } from 'vitest';
import { startRsaKeys } from './applications/rsa-keys.ts';
import { sharePlans } from './database/plan-cache.ts';
import { cacheHashes } from './hash-cache.ts';
import { checkSharedServers } from './shared-idp.ts';
import { shortWaits } from './waits.ts';

startRsaKeys();
cacheHashes();
await sharePlans();
shortWaits();

// After whole flows only: the check reads every protected row.
const FLOWS = /\/test\/(?:flows|test-bench|logout|federation)\//;
afterAll(async () => {
  if (FLOWS.test(expect.getState().testPath ?? '')) await checkSharedServers();
});
