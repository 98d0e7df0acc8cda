// Which addresses the server may call at somebody's request (back-channel logout, metadata URLs): the public
// internet, what the operator listed, and loopback where the issuer itself is on loopback. Pure.
import ipaddr from 'ipaddr.js';

export interface AddressRules {
  /** Networks in CIDR notation that may be reached although they are not public. */
  allowedNetworks: readonly string[];
  allowLoopback: boolean;
}

type Address = ipaddr.IPv4 | ipaddr.IPv6;

const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR('2000::/3');

/** Makes the judge of addresses; throws when a network is not in CIDR notation. */
export function createAddressPolicy({ allowedNetworks, allowLoopback }: AddressRules): (address: string) => boolean {
  const networks = allowedNetworks.map((network) => ipaddr.parseCIDR(network));

  return function isAllowed(text) {
    if (!ipaddr.isValid(text)) return false;
    const forms = embeddedForms(ipaddr.parse(text));
    // 2002:7f00:1:: is 127.0.0.1 in disguise: what counts is where the packet ends up.
    const target = forms.at(-1) as Address;
    if (forms.some((form) => networks.some((network) => isWithin(form, network)))) return true;
    return isPublic(target) || (allowLoopback && target.range() === 'loopback');
  };
}

function isPublic(address: Address): boolean {
  if (address.range() !== 'unicast') return false;
  return address instanceof ipaddr.IPv4 || address.match(GLOBAL_UNICAST);
}

function isWithin(address: Address, network: [Address, number]): boolean {
  return address.kind() === network[0].kind() && address.match(network);
}

// The address itself, then the IPv4 address it carries: IPv4-mapped, NAT64 (RFC 6052), SIIT, 6to4 (RFC 3056).
function embeddedForms(address: Address): Address[] {
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
