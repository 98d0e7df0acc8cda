// Which addresses the server may call at somebody's request (back-channel logout, metadata URLs): the public
// internet, what the operator listed, and loopback where the issuer itself is on loopback. Pure.
import ipaddr from 'ipaddr.js';
import { type Address, embeddedForms, isWithin, parseNetwork } from './networks.ts';

export interface AddressRules {
  /** Networks in CIDR notation that may be reached although they are not public. */
  allowedNetworks: readonly string[];
  allowLoopback: boolean;
}

const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR('2000::/3');

/** Makes the judge of addresses; throws when a network is none. */
export function createAddressPolicy({ allowedNetworks, allowLoopback }: AddressRules): (address: string) => boolean {
  const networks = allowedNetworks.map(parseNetwork);

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
