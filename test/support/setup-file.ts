// Runs before each test file, in its process: what the files of one process share begins anew.
import { startRsaKeys } from './applications/rsa-keys.ts';

startRsaKeys();
