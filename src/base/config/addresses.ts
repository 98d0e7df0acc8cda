// Which host names and addresses are this machine; http is allowed only for them (RFC 8252 7.3, RFC 9700 2.6).

import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** True for localhost and every name below it (RFC 6761 6.3). */
export function isLocalhostName(hostname: string): boolean {
  return /^(.+\.)?localhost$/i.test(hostname);
}

/** True for localhost, *.localhost and the loopback addresses; takes the hostname of a URL, brackets allowed. */
export function isLoopback(hostname: string): boolean {
  const host = hostname.replace(/^\[|\]$/g, '').toLowerCase();
  if (isLocalhostName(host)) return true;
  if (isIP(host) === 4) return host.startsWith('127.');
  return isIP(host) === 6 && (host === '::1' || /^::ffff:(127\.|7f[0-9a-f]{2}:)/.test(host));
}

/** True for a host name or address that a server can listen on. */
export function isHost(value: string): boolean {
  if (isIP(value) !== 0) return true;
  return value.length <= 253 && /^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/i.test(value);
}

/** An IP address, or a network in CIDR notation (RFC 4632). `10.1` is neither: ipaddr.js reads it as 10.0.0.1. */
export function isNetwork(text: string): boolean {
  return isIP(text.replace(/\/.*/s, '')) !== 0 && (ipaddr.isValid(text) || ipaddr.isValidCIDR(text));
}
