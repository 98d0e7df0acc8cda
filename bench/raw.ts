// The cost of a bare password hash and a bare signature, in a separate process.
// Prints one line of JSON: CPU milliseconds per operation.
import { generateKeyPairSync, sign } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { hash, verify } from 'argon2';
import { limits } from '../src/base/limits.ts';
import { median } from './support/measure.ts';

async function cpuMsPerOperation(times: number, operation: () => unknown): Promise<number> {
  const rounds: number[] = [];
  for (let round = 0; round < 5; round += 1) {
    const before = process.cpuUsage();
    for (let turn = 0; turn < times; turn += 1) await operation();
    const { user, system } = process.cpuUsage(before);
    rounds.push((user + system) / 1000 / times);
  }
  return median(rounds);
}

const { argon2MemoryKib, argon2Iterations, argon2Parallelism } = limits.passwordHash;
const stored = await hash('correct horse battery staple', {
  memoryCost: argon2MemoryKib,
  timeCost: argon2Iterations,
  parallelism: argon2Parallelism,
});
const checkPassword = () => verify(stored, 'correct horse battery staple');
const atOnce = Array.from({ length: Math.min(4, availableParallelism()) });
const rsa = generateKeyPairSync('rsa', { modulusLength: limits.keys.rsaBits }).privateKey;
const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
const message = Buffer.alloc(600, 'x');

process.stdout.write(
  JSON.stringify({
    // As many in parallel as the server runs: they share the processor's caches.
    argon2: (await cpuMsPerOperation(10, () => Promise.all(atOnce.map(checkPassword)))) / atOnce.length,
    rs256: await cpuMsPerOperation(200, () => sign('sha256', message, rsa)),
    es256: await cpuMsPerOperation(200, () => sign('sha256', message, ec)),
  }),
);
