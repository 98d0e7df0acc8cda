// Password hashes imported from another system: bcrypt, scrypt and PBKDF2. Fast hashes such as MD5 or SHA-256 are
// rejected at the import. The owner's next sign-in verifies the hash and replaces it with Argon2id.
import { pbkdf2, scrypt } from 'node:crypto';
import { promisify } from 'node:util';
import { limits } from '../../base/limits.ts';
import { safeEqual } from '../../base/platform/random.ts';

export type ImportedHash =
  | { scheme: 'bcrypt'; hash: string }
  | { scheme: 'scrypt'; cost: number; blockSize: number; parallelism: number; salt: Buffer; key: Buffer }
  | { scheme: 'pbkdf2'; digest: 'sha1' | 'sha256' | 'sha512'; iterations: number; salt: Buffer; key: Buffer };

// Limits on imported hashes: a more expensive hash would take seconds to verify.
const MAX_SCRYPT_BYTES = 256 * 1024 * 1024;
const MAX_PBKDF2_ITERATIONS = 5_000_000;
const MIN_KEY_BYTES = 16;

const B64 = '[A-Za-z0-9+/.]+={0,2}';
const BCRYPT = /^\$2[aby]\$(\d\d)\$[./A-Za-z0-9]{53}$/;
const SCRYPT = new RegExp(`^\\$scrypt\\$ln=(\\d+),r=(\\d+),p=(\\d+)\\$(${B64})\\$(${B64})$`);
// passlib and others: $pbkdf2-sha256$29000$salt$key, or with i=29000 and l=32; plain $pbkdf2$ is SHA-1.
const PBKDF2 = new RegExp(`^\\$pbkdf2(?:-(sha1|sha256|sha512))?\\$(?:i=)?(\\d+)(?:,l=\\d+)?\\$(${B64})\\$(${B64})$`);
const DJANGO = new RegExp(`^pbkdf2_(sha1|sha256)\\$(\\d+)\\$([^$]+)\\$(${B64})$`);

const ARGON2 =
  /^\$(argon2(?:id|i|d))\$v=19\$(?=[^$]*m=(\d+))(?=[^$]*t=(\d+))(?=[^$]*p=(\d+))[mtp=\d,]+\$([\w+/]+)\$([\w+/]+)$/;
// A more expensive Argon2 hash would need the memory of many sign-ins.
const MAX_ARGON2 = { memoryKib: 256 * 1024, iterations: 20, parallelism: 16 };

export interface Argon2Hash {
  type: string;
  memoryKib: number;
  iterations: number;
  parallelism: number;
  /** Base64. */
  salt: string;
  key: string;
}

/** The parameters of an Argon2 hash; undefined for anything else and for a hash that is too expensive. */
export function parseArgon2(stored: string): Argon2Hash | undefined {
  const [, type, m, t, p, salt, key] = ARGON2.exec(stored) ?? [];
  if (!type || !salt || !key) return undefined;
  const [memoryKib, iterations, parallelism] = [Number(m), Number(t), Number(p)];
  const { memoryKib: maxMemory, iterations: maxIterations, parallelism: maxParallelism } = MAX_ARGON2;
  if (memoryKib > maxMemory || iterations > maxIterations || parallelism > maxParallelism) return undefined;
  return { type, memoryKib, iterations, parallelism, salt, key };
}

/** Parses an imported hash; undefined if its scheme or cost is not accepted. */
export function parseImportedHash(stored: string): ImportedHash | undefined {
  const parsed = parseBcrypt(stored) ?? parseScrypt(stored) ?? parsePbkdf2(stored);
  return parsed && (parsed.scheme === 'bcrypt' || parsed.key.length >= MIN_KEY_BYTES) ? parsed : undefined;
}

/** Derives the key from `password` and compares it; bcrypt runs on a worker thread of the caller. */
export async function verifyDerived(hash: Exclude<ImportedHash, { scheme: 'bcrypt' }>, password: string) {
  const key = hash.scheme === 'scrypt' ? await deriveScrypt(hash, password) : await derivePbkdf2(hash, password);
  return safeEqual(key.toString('base64'), hash.key.toString('base64'));
}

function parseBcrypt(stored: string): ImportedHash | undefined {
  const cost = Number(BCRYPT.exec(stored)?.[1]);
  return cost >= 4 && cost <= limits.passwordHash.bcryptMaxCost ? { scheme: 'bcrypt', hash: stored } : undefined;
}

function parseScrypt(stored: string): ImportedHash | undefined {
  const [, ln, r, p, salt, key] = SCRYPT.exec(stored) ?? [];
  if (!salt || !key) return undefined;
  const [log, blockSize, parallelism] = [Number(ln), Number(r), Number(p)];
  if (log < 1 || log > 22 || blockSize < 1 || parallelism < 1 || parallelism > 16) return undefined;
  if (128 * 2 ** log * blockSize > MAX_SCRYPT_BYTES) return undefined;
  return { scheme: 'scrypt', cost: 2 ** log, blockSize, parallelism, salt: fromB64(salt), key: fromB64(key) };
}

function parsePbkdf2(stored: string): ImportedHash | undefined {
  const django = DJANGO.exec(stored);
  const [, digest = 'sha1', rounds, salt, key] = django ?? PBKDF2.exec(stored) ?? [];
  const iterations = Number(rounds);
  if (!salt || !key || !(iterations >= 1000 && iterations <= MAX_PBKDF2_ITERATIONS)) return undefined;
  if (digest !== 'sha1' && digest !== 'sha256' && digest !== 'sha512') return undefined;
  // Django uses the text of the salt, the others encode its bytes.
  return { scheme: 'pbkdf2', digest, iterations, salt: django ? Buffer.from(salt) : fromB64(salt), key: fromB64(key) };
}

// passlib writes `.` where base64 has `+`, and no padding.
function fromB64(text: string): Buffer {
  return Buffer.from(text.replaceAll('.', '+'), 'base64');
}

async function deriveScrypt(hash: Extract<ImportedHash, { scheme: 'scrypt' }>, password: string): Promise<Buffer> {
  const { cost, blockSize, parallelism, salt, key } = hash;
  const options = { N: cost, r: blockSize, p: parallelism, maxmem: 2 * MAX_SCRYPT_BYTES };
  return new Promise((resolve, reject) => {
    scrypt(password, salt, key.length, options, (error, derived) => (error ? reject(error) : resolve(derived)));
  });
}

function derivePbkdf2(hash: Extract<ImportedHash, { scheme: 'pbkdf2' }>, password: string): Promise<Buffer> {
  return promisify(pbkdf2)(password, hash.salt, hash.iterations, hash.key.length, hash.digest);
}
