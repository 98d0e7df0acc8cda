// Prints the resident memory of its process in MB: before some password hashes, after them, and after their memory was returned.
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { createPasswords } from '../../src/people/credentials/password.ts';

const residentMb = () => Number(/VmRSS:\s+(\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]) / 1024;

const passwords = createPasswords();
const before = residentMb();
for (let count = 0; count < 3; count += 1) await passwords.hash('correct horse battery staple');
const retained = residentMb();
passwords.returnMemory();
await sleep(100);
process.stdout.write(JSON.stringify({ before, retained, returned: residentMb() }));
await passwords.close();
