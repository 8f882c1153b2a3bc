import { lookup } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';
import { bareHost } from '../../address.ts';

/** RFC 4291, section 2.4, names this range. */
const globalUnicast: [ipaddr.IPv6, number] = [ipaddr.IPv6.parse('2000::'), 3];

export class ClosedAddress extends Error {
  override readonly name = 'ClosedAddress';
  constructor(host: string) {
    super(`${host} has no public address`);
  }
}

export function isClosedHost(hostname: string): boolean {
  const host = bareHost(hostname);
  if (isIP(host) === 0) return /(^|\.)localhost\.?$/i.test(host);
  return !isPublic(host);
}

/** It is false for shared addresses (RFC 6598) and for IPv4 within IPv6, too. */
function isPublic(address: string): boolean {
  const parsed = ipaddr.parse(address);
  if (parsed.range() !== 'unicast') return false;
  return parsed.kind() === 'ipv4' || (parsed as ipaddr.IPv6).match(globalUnicast);
}

/** It judges the address that is connected to: an earlier check could see another one. */
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
