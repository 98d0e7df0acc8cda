import { describe, expect, it } from 'vitest';
import { createAddressPolicy } from '../../src/base/network/outgoing-fetch.ts';

const publicOnly = createAddressPolicy({ allowedNetworks: [], allowLoopback: false });

describe('the address policy', () => {
  it.each(['93.184.216.34', '8.8.8.8', '2606:4700::6810:84e5', '::ffff:8.8.8.8', '64:ff9b::808:808', '2002:808:808::'])(
    'allows the public address %s',
    (address) => expect(publicOnly(address)).toBe(true),
  );

  it.each([
    '127.0.0.1',
    '127.8.9.1',
    '0.0.0.0',
    '0.1.2.3',
    '10.0.0.1',
    '172.16.0.1',
    '172.31.255.255',
    '192.168.1.1',
    '169.254.169.254',
    '100.64.0.1',
    '192.0.0.8',
    '192.0.2.1',
    '198.18.0.1',
    '224.0.0.1',
    '240.0.0.1',
    '255.255.255.255',
    '::',
    '::1',
    'fe80::1',
    'fe80::1%eth0',
    'fc00::1',
    'fd12:3456::1',
    'fec0::1',
    'ff02::1',
    '100::1',
    '2001:db8::1',
    '2001::1',
    '::ffff:127.0.0.1',
    '::ffff:10.0.0.1',
    '::ffff:a9fe:a9fe',
    '::7f00:1',
    '::ffff:0:127.0.0.1',
    '64:ff9b::7f00:1',
    '64:ff9b::a9fe:a9fe',
    '64:ff9b:1::a00:1',
    '2002:7f00:1::',
    '2002:a00:1::1',
    'not an address',
    '',
  ])('rejects %s', (address) => expect(publicOnly(address)).toBe(false));

  it('allows the networks that the operator listed, in every embedded form, and no other', () => {
    const isAllowed = createAddressPolicy({ allowedNetworks: ['10.1.0.0/16', 'fd00:1::/32'], allowLoopback: false });
    for (const address of ['10.1.2.3', '::ffff:10.1.2.3', '64:ff9b::a01:203', 'fd00:1::5']) {
      expect(isAllowed(address), address).toBe(true);
    }
    for (const address of ['10.2.0.1', '127.0.0.1', 'fd00:2::5', '::1'])
      expect(isAllowed(address), address).toBe(false);
  });

  it('allows loopback, and nothing else, when the issuer itself is on loopback', () => {
    const isAllowed = createAddressPolicy({ allowedNetworks: [], allowLoopback: true });
    for (const address of ['127.0.0.1', '::1', '::ffff:127.0.0.1']) expect(isAllowed(address), address).toBe(true);
    for (const address of ['0.0.0.0', '::', '10.0.0.1']) expect(isAllowed(address), address).toBe(false);
  });

  it('accepts a single address as a network, and throws for an invalid network', () => {
    const one = createAddressPolicy({ allowedNetworks: ['10.0.0.1'], allowLoopback: false });
    expect(one('10.0.0.1'), '10.0.0.1').toBe(true);
    expect(one('10.0.0.2'), '10.0.0.2').toBe(false);
    expect(() => createAddressPolicy({ allowedNetworks: ['10.0.0.0/33'], allowLoopback: false })).toThrow();
  });
});
