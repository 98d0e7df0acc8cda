// Which addresses the server may call when a client or an administrator chose the URL (back-channel logout, metadata): public
// ones, the networks that the operator allows, and loopback where the issuer itself is on loopback. Pure.
import ipaddr from 'ipaddr.js';
import { type Address, embeddedForms, isWithin, parseNetwork } from './networks.ts';

export interface AddressRules {
  /** Networks in CIDR notation that may be called although they are not public. */
  allowedNetworks: readonly string[];
  allowLoopback: boolean;
}

const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR('2000::/3');

/** Makes the check of addresses; throws when a network cannot be parsed. */
export function createAddressPolicy({ allowedNetworks, allowLoopback }: AddressRules): (address: string) => boolean {
  const networks = allowedNetworks.map(parseNetwork);

  return function isAllowed(text) {
    if (!ipaddr.isValid(text)) return false;
    const forms = embeddedForms(ipaddr.parse(text));
    // 2002:7f00:1:: embeds 127.0.0.1: the address that the packet arrives at decides.
    const target = forms.at(-1) as Address;
    if (forms.some((form) => networks.some((network) => isWithin(form, network)))) return true;
    return isPublic(target) || (allowLoopback && target.range() === 'loopback');
  };
}

function isPublic(address: Address): boolean {
  if (address.range() !== 'unicast') return false;
  return address instanceof ipaddr.IPv4 || address.match(GLOBAL_UNICAST);
}
