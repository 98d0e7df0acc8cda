import { describe, expect, it } from 'vitest';
import { randomId, randomToken, safeEqual, sha256 } from '../../src/base/platform/random.ts';

describe('random', () => {
  it('makes base64url bearer secrets of 32 bytes by default', () => {
    expect(Buffer.from(randomToken(), 'base64url')).toHaveLength(32);
    expect(Buffer.from(randomToken(12), 'base64url')).toHaveLength(12);
    expect(randomToken()).toMatch(/^[A-Za-z0-9_-]{43}$/);
  });

  it('makes a different ID each time', () => {
    const ids = new Set(Array.from({ length: 10_000 }, randomId));
    expect(ids.size).toBe(10_000);
    expect([...ids].filter((id) => !/^[A-Za-z0-9_][A-Za-z0-9_-]{23}$/.test(id))).toEqual([]);
  });

  it('hashes with SHA-256 in base64url', () => {
    // RFC 7636 appendix B: the challenge of this verifier.
    expect(sha256('dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk')).toBe('E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM');
    expect(sha256(new Uint8Array())).toBe('47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU');
  });

  it.each([
    ['same', 'same', true],
    ['', '', true],
    ['same', 'sama', false],
    ['same', 'same longer', false],
    ['é', 'e', false],
  ])('compares %j with %j: %s', (a, b, expected) => {
    expect(safeEqual(a, b)).toBe(expected);
  });
});
