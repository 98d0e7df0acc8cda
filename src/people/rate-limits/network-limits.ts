// Limits by the network that a request comes from. One customer of a provider has an IPv4 address or an IPv6 network of 64
// bits, and may have one of 48 bits with 65,536 of those: so IPv6 is counted twice (RFC 6177).
import { isIPv4 } from 'node:net';
import ipaddr from 'ipaddr.js';

/** The key under which requests of one customer are counted: an IPv4 address, or an IPv6 network of 64 bits. */
export function addressBlock(address: string): string {
  return blockOf(address, 64);
}

/** The largest block that one customer can have: an IPv4 address, or an IPv6 network of 48 bits. */
export function siteBlock(address: string): string {
  return blockOf(address, 48);
}

function blockOf(address: string, ipv6Bits: number): string {
  if (isIPv4(address)) return address; // in its only form: with four decimal numbers without leading zeros
  if (!ipaddr.isValid(address)) return address;
  const parsed = ipaddr.process(address);
  if (parsed.kind() === 'ipv4') return parsed.toString();
  return `${ipaddr.IPv6.networkAddressFromCIDR(`${parsed.toString()}/${ipv6Bits}`).toString()}/${ipv6Bits}`;
}
