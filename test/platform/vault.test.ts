import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { createVault, VaultError } from '../../src/platform/vault.ts';

const oldSecret = randomBytes(32);
const newSecret = randomBytes(32);
const vault = createVault([oldSecret]);
const rotated = createVault([newSecret, oldSecret]);

describe('vault', () => {
  it('opens sealed text and bytes', () => {
    expect(vault.open(vault.seal('JBSWY3DPEHPK3PXP', 'totp:1'), 'totp:1').toString()).toBe('JBSWY3DPEHPK3PXP');
    const bytes = randomBytes(2000);
    expect(vault.open(vault.seal(bytes, 'k'), 'k').equals(bytes)).toBe(true);
    expect(vault.open(vault.seal('', 'k'), 'k')).toHaveLength(0);
  });

  it('seals the same value to a different text each time', () => {
    expect(vault.seal('a', 'k')).not.toBe(vault.seal('a', 'k'));
  });

  it('rejects a value that was moved to another row', () => {
    const sealed = vault.seal('secret', 'totp_credentials:alice');
    expect(() => vault.open(sealed, 'totp_credentials:mallory')).toThrow(VaultError);
  });

  it('rejects a value with any character changed', () => {
    const sealed = vault.seal('secret', 'k');
    for (let at = 0; at < sealed.length; at += 1) {
      const changed = sealed.slice(0, at) + (sealed[at] === 'A' ? 'Q' : 'A') + sealed.slice(at + 1);
      expect(() => vault.open(changed, 'k'), `character ${at}`).toThrow(VaultError);
    }
    expect(() => vault.open(sealed.slice(0, -2), 'k')).toThrow(VaultError);
    expect(() => vault.open(sealed.slice(0, 20), 'k')).toThrow(VaultError);
  });

  it.each(['', 'v1', 'v1..', 'plain text', 'v2.a.b', 'v1.a.b.c'])('rejects %j, which it did not seal', (text) => {
    expect(() => vault.open(text, 'k')).toThrow(VaultError);
  });

  it('opens old values after a rotation, and seals with the new secret', () => {
    expect(rotated.open(vault.seal('kept', 'k'), 'k').toString()).toBe('kept');
    const sealed = rotated.seal('new', 'k');
    expect(() => vault.open(sealed, 'k')).toThrow(/no longer holds/);
    expect(createVault([newSecret]).open(sealed, 'k').toString()).toBe('new');
  });

  it('derives a different key for each purpose and secret, the first secret first', () => {
    expect(vault.deriveKey('cookies').equals(vault.deriveKey('cookies'))).toBe(true);
    expect(vault.deriveKey('cookies').equals(vault.deriveKey('csrf'))).toBe(false);
    expect(vault.deriveKey('cookies', 64)).toHaveLength(64);
    const keys = rotated.deriveKeys('cookies');
    expect(keys).toHaveLength(2);
    expect(keys[0]?.equals(rotated.deriveKey('cookies'))).toBe(true);
    expect(keys[1]?.equals(vault.deriveKey('cookies'))).toBe(true);
  });

  it('accepts a MAC made under any of the secrets, for its value and purpose only', () => {
    const mac = vault.mac('state', 'flow');
    expect(rotated.macMatches('state', mac, 'flow')).toBe(true);
    expect(rotated.macMatches('state', rotated.mac('state', 'flow'), 'flow')).toBe(true);
    expect(vault.macMatches('state', rotated.mac('state', 'flow'), 'flow')).toBe(false);
    expect(rotated.macMatches('other', mac, 'flow')).toBe(false);
    expect(rotated.macMatches('state', mac, 'other')).toBe(false);
    expect(rotated.macMatches('state', '', 'flow')).toBe(false);
  });

  it('requires at least one secret of at least 256 bits', () => {
    expect(() => createVault([])).toThrow(VaultError);
    expect(() => createVault([newSecret, randomBytes(31)])).toThrow(/31 bytes/);
  });
});
