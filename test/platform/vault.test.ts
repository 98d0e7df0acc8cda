import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { createVault, VaultError } from '../../src/base/platform/vault.ts';

const oldSecret = randomBytes(32);
const newSecret = randomBytes(32);
const vault = createVault([oldSecret]);
const rotated = createVault([newSecret, oldSecret]);
const older = { id: 'older', key: randomBytes(32) };
const newer = { id: 'newer', key: randomBytes(32) };

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

  it('derives a different key for each purpose and data key, the newest first, whatever the secrets are', () => {
    expect(vault.deriveKey('cookies').equals(vault.deriveKey('cookies'))).toBe(true);
    expect(vault.deriveKey('cookies').equals(vault.deriveKey('csrf'))).toBe(false);
    expect(vault.deriveKey('cookies', 64)).toHaveLength(64);
    const keys = createVault([newSecret], [newer, older]).deriveKeys('cookies');
    expect(keys).toHaveLength(2);
    expect(keys[0]?.equals(createVault([oldSecret], [newer]).deriveKey('cookies'))).toBe(true);
    expect(keys[1]?.equals(createVault([oldSecret], [older]).deriveKey('cookies'))).toBe(true);
  });

  it('accepts a MAC made under any of the data keys, for its value and purpose only', () => {
    const before = createVault([oldSecret], [older]);
    const after = createVault([newSecret], [newer, older]);
    const mac = before.mac('state', 'flow');
    expect(mac).toMatch(/^older\.[\w-]{43}$/);
    expect(after.macMatches('state', mac, 'flow')).toBe(true);
    expect(after.macMatches('state', after.mac('state', 'flow'), 'flow')).toBe(true);
    expect(before.macMatches('state', after.mac('state', 'flow'), 'flow')).toBe(false);
    expect(after.macMatches('other', mac, 'flow')).toBe(false);
    expect(after.macMatches('state', mac, 'other')).toBe(false);
    expect(after.macMatches('state', mac.replace('older', 'newer'), 'flow')).toBe(false);
    for (const wrong of ['', '.', 'older', 'older.', mac.slice('older.'.length)])
      expect(after.macMatches('state', wrong, 'flow')).toBe(false);
  });

  it('requires at least one secret of at least 256 bits', () => {
    expect(() => createVault([])).toThrow(VaultError);
    expect(() => createVault([newSecret, randomBytes(31)])).toThrow(/31 bytes/);
  });
});
