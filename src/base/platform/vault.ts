// Encrypts secrets that must be read back (private keys, TOTP secrets, mail bodies) with AES-256-GCM under GATEHOUSE_SECRET,
// bound to their row. Every other key is derived with HKDF (RFC 5869) from a data key: 32 random bytes that are stored
// encrypted under GATEHOUSE_SECRET, so that MACs and cookies outlive a change of that secret (docs/decisions/0027-data-keys.md).
// A sealed value is `v1.<key id>.<base64url of nonce, tag and ciphertext>`, a MAC is `<data key id>.<base64url>`.

import { createCipheriv, createDecipheriv, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto';
import { OperatorError } from './errors.ts';
import { hmacSha256 } from './hmac.ts';
import { plural } from './plural.ts';

const VERSION = 'v1';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const KEY_BYTES = 32;

export type Vault = ReturnType<typeof createVault>;

/** The key that MACs, cookie keys and the like are derived from. */
export interface DataKey {
  /** Without a dot. */
  id: string;
  key: Buffer;
}

export class VaultError extends OperatorError {
  override name = 'VaultError';
}

interface SealingKey {
  id: string;
  key: Buffer;
}

/**
 * The first secret seals, all of them open; the first data key makes MACs, all of them verify. Without data keys, as before the
 * database is open, one is derived from the first secret. Throws VaultError for a missing or short secret.
 */
export function createVault(secrets: readonly Buffer[], dataKeys: readonly DataKey[] = []) {
  const [firstSecret] = secrets;
  if (!firstSecret) throw new VaultError('at least one secret is needed');
  for (const secret of secrets) {
    if (secret.length < KEY_BYTES)
      throw new VaultError(`a secret has ${plural(secret.length, 'byte')}, 32 or more are needed`);
  }
  const sealingKeys = secrets.map((secret) => ({
    id: derive(secret, 'vault key id', 6).toString('base64url'),
    key: derive(secret, 'vault', KEY_BYTES),
  }));
  const [sealingKey] = sealingKeys as [SealingKey, ...SealingKey[]];
  const derived = { id: sealingKey.id, key: derive(firstSecret, 'data key', KEY_BYTES) };
  const keys = dataKeys.length > 0 ? dataKeys : [derived];
  const [newest = derived] = keys;
  const macOf = createMacs(keys);

  return {
    /** Encrypts under the first secret. `context` names the row, e.g. `signing_keys:<kid>`. */
    seal: (plain: string | Uint8Array, context: string): string => seal(plain, context, sealingKey),
    /** Decrypts under any secret; throws VaultError for another row, another secret or a changed value. */
    open: (sealed: string, context: string): Buffer => open(sealed, context, sealingKeys),
    /** How every value begins that the first secret sealed. */
    sealedPrefix: `${VERSION}.${sealingKey.id}.` as string,
    /** Whether an older secret than the first sealed this value. Once no value is stale, that secret can be removed. */
    isStale: (sealed: string): boolean => sealed.split('.')[1] !== sealingKey.id,
    /** A key for one purpose, derived from the newest data key; 32 bytes unless given. */
    deriveKey: (purpose: string, bytes: number = KEY_BYTES): Buffer => derive(newest.key, `key ${purpose}`, bytes),
    /** The keys for one purpose from every data key, the newest first: it signs, all of them verify. */
    deriveKeys: (purpose: string, bytes: number = KEY_BYTES): Buffer[] =>
      keys.map(({ key }) => derive(key, `key ${purpose}`, bytes)),
    /** HMAC-SHA-256 under the newest data key: its id, a dot and the MAC in base64url. */
    mac: (value: string, purpose: string): string => macOf(newest.id, value, purpose) as string,
    /**
     * Whether `mac` was made from `value` for this purpose, under the data key that it names. `missing`: how many characters were
     * cut off its end.
     */
    macMatches(value: string, mac: string, purpose: string, missing: number = 0): boolean {
      const expected = macOf(mac.split('.', 1)[0] ?? '', value, purpose);
      return expected !== undefined && isSameMac(expected.slice(0, expected.length - missing), mac);
    },
  };
}

/** In constant time. The length of a MAC is no secret, so the values need no hash before they are compared. */
export function isSameMac(expected: string, given: string): boolean {
  const [one, other] = [Buffer.from(expected), Buffer.from(given)];
  return one.length === other.length && timingSafeEqual(one, other);
}

function seal(plain: string | Uint8Array, context: string, { id, key }: SealingKey): string {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES });
  cipher.setAAD(Buffer.from(context));
  const text = Buffer.concat([cipher.update(typeof plain === 'string' ? Buffer.from(plain) : plain), cipher.final()]);
  return `${VERSION}.${id}.${Buffer.concat([nonce, cipher.getAuthTag(), text]).toString('base64url')}`;
}

function open(sealed: string, context: string, keys: readonly SealingKey[]): Buffer {
  const [version, id, body, ...rest] = sealed.split('.');
  if (version !== VERSION || !id || !body || rest.length > 0) throw new VaultError('this is not an encrypted value');
  const key = keys.find((candidate) => candidate.id === id)?.key;
  if (!key) {
    throw new VaultError(
      `encrypted with a secret (${id}) that GATEHOUSE_SECRET no longer holds: add the old value back`,
    );
  }
  const bytes = Buffer.from(body, 'base64url');
  // Buffer.from ignores invalid characters; only the canonical base64url form is accepted.
  if (bytes.toString('base64url') !== body) throw new VaultError('this is not an encrypted value');
  try {
    const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES });
    decipher.setAAD(Buffer.from(context));
    decipher.setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
    return Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES)), decipher.final()]);
  } catch (cause) {
    throw new VaultError(`the encrypted value of ${context} was changed or belongs to another row`, { cause });
  }
}

function derive(secret: Buffer, info: string, bytes: number): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, Buffer.alloc(0), `gatehouse ${info}`, bytes));
}

/** The MAC of a value under the data key of this id; undefined for an unknown id. */
function createMacs(dataKeys: readonly DataKey[]) {
  const roots = new Map(dataKeys.map(({ id, key }) => [id, key]));
  const macs = new Map<string, (value: string) => string>();
  return (id: string, value: string, purpose: string): string | undefined => {
    const root = roots.get(id);
    if (!root) return undefined;
    const name = `${id} ${purpose}`;
    const mac = macs.get(name) ?? hmacSha256(derive(root, `mac ${purpose}`, KEY_BYTES));
    macs.set(name, mac);
    return `${id}.${mac(value)}`;
  };
}
