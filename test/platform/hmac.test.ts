import { createHmac, randomBytes } from 'node:crypto';
import { expect, it } from 'vitest';
import { hmacSha256 } from '../../src/base/platform/hmac.ts';

it.each([1, 32, 64, 65, 200])('hmacSha256 computes the same MAC as Node under a key of %i bytes', (bytes) => {
  const key = randomBytes(bytes);
  const mac = hmacSha256(key);
  const texts = [
    '',
    'a',
    'ü€😀',
    '\ud800',
    'x'.repeat(9000),
    '€'.repeat(9000),
    ...[55, 56, 63, 64].map((n) => 'y'.repeat(n)),
  ];
  for (const text of [...texts, ...texts]) {
    expect(mac(text)).toBe(createHmac('sha256', key).update(text).digest('base64url'));
  }
});
