import { describe, expect, it } from 'vitest';
import { containsLoopback, inNetworks, parseNetwork } from '../../src/base/network/networks.ts';

describe('the check of an address', () => {
  it.each([
    ['192.0.2.7', '192.0.2.0/24', true],
    ['192.0.3.7', '192.0.2.0/24', false],
    ['192.0.2.7', '192.0.2.7', true],
    ['192.0.2.8', '192.0.2.7', false],
    ['192.0.2.7', '0.0.0.0/0', true],
    ['::ffff:192.0.2.7', '192.0.2.0/24', true],
    ['::ffff:c000:207', '192.0.2.0/24', true],
    ['192.0.2.7', '::ffff:192.0.2.0/120', true],
    ['192.0.3.7', '::ffff:192.0.2.0/120', false],
    ['64:ff9b::c000:207', '192.0.2.0/24', true],
    ['2002:c000:207::1', '192.0.2.0/24', true],
    ['2001:db8::1', '2001:db8::/32', true],
    ['2001:DB8:0:0::1', '2001:db8::1', true],
    ['2001:db9::1', '2001:db8::/32', false],
    ['2001:db8::1', '0.0.0.0/0', false],
    ['192.0.2.7', '::/0', false],
    ['fe80::1%eth0', 'fe80::/10', true],
    ['unknown', '0.0.0.0/0', false],
    ['', '::/0', false],
  ])('returns for %s in %s: %s', (address, network, isIn) => expect(inNetworks([network])(address)).toBe(isIn));

  it('returns false without networks', () => expect(inNetworks([])('192.0.2.7')).toBe(false));
});

describe('the parser of networks', () => {
  it.each(['127.0.0.1', '127.0.0.0/8', '0.0.0.0/0', '127.3.0.0/16', '::1', '::/0', '::/64', '::ffff:127.0.0.1'])(
    'recognizes that %s contains a loopback address',
    (network) => expect(containsLoopback(network)).toBe(true),
  );
  it.each(['192.0.2.0/24', '10.0.0.0/8', '2001:db8::/32', '128.0.0.0/1', '::2'])(
    'recognizes that %s contains no loopback address',
    (network) => expect(containsLoopback(network)).toBe(false),
  );
  it.each(['10.0.0.0/33', 'host', '', '10.0.0.0/8/8'])('rejects %j', (text) =>
    expect(() => parseNetwork(text)).toThrow(),
  );
});
