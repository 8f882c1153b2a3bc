import { lookup } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';
import { bareHost } from '../../address.ts';

/** IPv6 hands out public addresses from this block alone (RFC 4291, section 2.4, and the registry of IANA). */
const globalUnicast: [ipaddr.IPv6, number] = [ipaddr.IPv6.parse('2000::'), 3];

/** The address belongs to this machine, this network, or nobody. */
export class ClosedAddress extends Error {
  override readonly name = 'ClosedAddress';
  constructor(host: string) {
    super(`${host} has no public address`);
  }
}

/** Whether a host is given as an address, or a name, that cannot be public. `[` and `]` around IPv6 are fine. */
export function isClosedHost(hostname: string): boolean {
  const host = bareHost(hostname);
  if (isIP(host) === 0) return /(^|\.)localhost\.?$/i.test(host);
  return !isPublic(host);
}

/** Not loopback, link-local, private, shared (RFC 6598), multicast, reserved, or IPv4 in IPv6's clothes. */
function isPublic(address: string): boolean {
  const parsed = ipaddr.parse(address);
  if (parsed.range() !== 'unicast') return false;
  return parsed.kind() === 'ipv4' || (parsed as ipaddr.IPv6).match(globalUnicast);
}

/**
 * Resolves a name to its public addresses only. As the `lookup` of a connection it judges the very address that is
 * connected to, which a check beforehand does not: a name may have another address by then.
 */
export const publicLookup: LookupFunction = (hostname, options, callback) => {
  lookup(hostname, { ...options, all: true }, (error, addresses) => {
    if (error) return callback(error, '');
    const open = addresses.filter(({ address }) => isPublic(address));
    const [first] = open;
    if (first === undefined) return callback(new ClosedAddress(hostname), '');
    if (options.all) return callback(null, open);
    callback(null, first.address, first.family);
  });
};
