// IP addresses and networks in CIDR notation (RFC 4632). An IPv6 address that embeds an IPv4 address (IPv4-mapped, NAT64,
// 6to4) counts as both. Pure.
import ipaddr from 'ipaddr.js';

export type Address = ipaddr.IPv4 | ipaddr.IPv6;
export type Network = [Address, number];

const MAPPED_PREFIX = 96;
const LOOPBACKS: Network[] = ['127.0.0.0/8', '::1/128'].map((text) => ipaddr.parseCIDR(text));

/** Parses `10.0.0.0/8`; an address alone is a network of one. Throws for anything else. */
export function parseNetwork(text: string): Network {
  const [address, prefix] = text.includes('/') ? ipaddr.parseCIDR(text) : singleAddress(ipaddr.parse(text));
  if (address instanceof ipaddr.IPv6 && address.isIPv4MappedAddress() && prefix >= MAPPED_PREFIX) {
    return [address.toIPv4Address(), prefix - MAPPED_PREFIX];
  }
  return [address, prefix];
}

/** Makes the check whether an address is in one of these networks; false for text that is no address. */
export function inNetworks(texts: readonly string[]): (address: string) => boolean {
  const networks = texts.map(parseNetwork);
  return (text) => {
    if (networks.length === 0 || !ipaddr.isValid(text)) return false;
    const forms = embeddedForms(ipaddr.parse(text));
    return networks.some((network) => forms.some((form) => isWithin(form, network)));
  };
}

/** Whether this network contains a loopback address. */
export function containsLoopback(text: string): boolean {
  const network = parseNetwork(text);
  return LOOPBACKS.some((loopback) => isWithin(loopback[0], network) || isWithin(network[0], loopback));
}

export function isWithin(address: Address, network: Network): boolean {
  return address.kind() === network[0].kind() && address.match(network);
}

/** The address itself, then the IPv4 address that it embeds: IPv4-mapped, NAT64 (RFC 6052), SIIT, 6to4 (RFC 3056). */
export function embeddedForms(address: Address): Address[] {
  if (address instanceof ipaddr.IPv4) return [address];
  const bytes = address.toByteArray();
  switch (address.range()) {
    case 'ipv4Mapped':
    case 'rfc6145':
    case 'rfc6052':
      return [address, new ipaddr.IPv4(bytes.slice(12))];
    case '6to4':
      return [address, new ipaddr.IPv4(bytes.slice(2, 6))];
    default:
      return [address];
  }
}

function singleAddress(address: Address): Network {
  return [address, address instanceof ipaddr.IPv4 ? 32 : 128];
}
