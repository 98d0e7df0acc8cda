// Parses GATEHOUSE_SECRET; where it is not set, generates a secret and stores it in $DATA_DIR/secret.key. When two
// processes start at once, the file of the first one counts; it is never visible half-written.
import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  closeSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import path from 'node:path';
import { limits } from '../limits.ts';

export type SecretFile = { value: string; file: string; generated: boolean; warning?: string };

/** The keys of a comma-separated list, or what is wrong with it (without repeating it). */
export function parseSecrets(value: string): Buffer[] | { wrong: string } {
  const keys: Buffer[] = [];
  for (const [index, part] of value.split(',').entries()) {
    const text = part.trim().replace(/=+$/, '');
    const which = value.includes(',') ? `value ${index + 1}: ` : '';
    if (text === '') return { wrong: `${which}nothing` };
    if (!/^[A-Za-z0-9_-]+$/.test(text)) return { wrong: `${which}${text.length} characters that are not base64url` };
    const key = Buffer.from(text, 'base64url');
    if (key.length !== limits.symmetricKey.minBytes) return { wrong: `${which}${key.length} bytes` };
    keys.push(key);
  }
  return keys;
}

/** The file of the generated secret. */
export const secretPath = (dataDir: string) => path.join(dataDir, 'secret.key');

/** Reads $DATA_DIR/secret.key, making it first if there is none. Throws the file system's error when it cannot. */
export function secretFromFile(dataDir: string): SecretFile {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const file = secretPath(dataDir);
  const generated = !exists(file) && create(file);
  const warning = restrictPermissions(file);
  return { value: readFileSync(file, 'utf8').trim(), file, generated, ...(warning ? { warning } : {}) };
}

function exists(file: string): boolean {
  return statSync(file, { throwIfNoEntry: false }) !== undefined;
}

// link() is the atomic step: it fails when the name exists, and the name never points at half a file.
function create(file: string): boolean {
  const draft = `${file}.${randomBytes(6).toString('hex')}`;
  const handle = openSync(draft, 'wx', 0o600);
  try {
    try {
      writeSync(handle, `${randomBytes(limits.symmetricKey.minBytes).toString('base64url')}\n`);
      fsyncSync(handle);
    } finally {
      closeSync(handle);
    }
    linkSync(draft, file);
    return true;
  } catch (error) {
    if (exists(file)) return false;
    throw error;
  } finally {
    rmSync(draft, { force: true });
  }
}

// Volume drivers and backups widen file modes. Narrows the mode again where this process may, and warns in any case.
function restrictPermissions(file: string): string | undefined {
  const mode = statSync(file).mode & 0o777;
  if (process.platform === 'win32' || (mode & 0o077) === 0) return undefined;
  const found = `${file} could be read by others (mode ${mode.toString(8).padStart(4, '0')})`;
  try {
    chmodSync(file, 0o600);
    return `${found}; it is 0600 now. If others use this machine, add a new secret in front of the old one`;
  } catch {
    return `${found} and this user may not change that; run: chmod 600 ${file}`;
  }
}
