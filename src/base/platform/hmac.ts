// HMAC-SHA-256 (RFC 2104) from the one-shot hash of Node: an Hmac object is created, set up by OpenSSL and collected, which costs
// a request some 10 µs each. `test/platform/hmac.test.ts` compares it with Node's.
import { createHash, hash } from 'node:crypto';

const BLOCK_BYTES = 64;
const HASH_BYTES = 32;
/** A longer text gets a buffer of its own. */
const SHARED_BYTES = 8192;

// Shared by all keys, because nothing is awaited while it is in use. Each text is erased after its MAC.
const inner = Buffer.allocUnsafeSlow(BLOCK_BYTES + SHARED_BYTES);
const outer = Buffer.allocUnsafeSlow(BLOCK_BYTES + HASH_BYTES);

/** Returns a function that computes the MAC of a text (UTF-8) under this key, as base64url. */
export function hmacSha256(key: Uint8Array): (text: string) => string {
  const innerPad = padded(key, 0x36);
  const outerPad = padded(key, 0x5c);

  return (text) => {
    // A character of UTF-16 has at most three bytes.
    const most = BLOCK_BYTES + 3 * text.length;
    const buffer = most <= inner.length ? inner : Buffer.allocUnsafeSlow(most);
    buffer.set(innerPad);
    const end = BLOCK_BYTES + buffer.write(text, BLOCK_BYTES);
    outer.set(outerPad);
    outer.write(hash('sha256', buffer.subarray(0, end), 'binary'), BLOCK_BYTES, 'binary');
    const mac = hash('sha256', outer, 'base64url');
    buffer.fill(0, 0, end);
    outer.fill(0);
    return mac;
  };
}

function padded(key: Uint8Array, byte: number): Buffer {
  const block = Buffer.alloc(BLOCK_BYTES);
  block.set(key.length > BLOCK_BYTES ? createHash('sha256').update(key).digest() : key);
  return block.map((one) => one ^ byte) as Buffer;
}
