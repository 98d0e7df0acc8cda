// The GATEHOUSE_SECRET of tests; what the prepared signing keys are sealed under.
import { createHash } from 'node:crypto';

export const testSecret: Buffer = createHash('sha256').update('gatehouse tests').digest();
