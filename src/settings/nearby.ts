import { BlockList, isIP } from 'node:net';

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8, 'ipv4');
loopback.addAddress('::1', 'ipv6');

/** RFC 1918, RFC 3927, RFC 4193 and RFC 4291: addresses that do not leave the site. */
const privateNetworks = new BlockList();
for (const [network, prefix] of [
  ['10.0.0.0', 8],
  ['172.16.0.0', 12],
  ['192.168.0.0', 16],
  ['169.254.0.0', 16],
] as const)
  privateNetworks.addSubnet(network, prefix, 'ipv4');
privateNetworks.addSubnet('fc00::', 7, 'ipv6');
privateNetworks.addSubnet('fe80::', 10, 'ipv6');

/** Whether a URL's host name means this machine itself. */
export function isLoopback(hostname: string): boolean {
  const host = bare(hostname);
  return host === 'localhost' || host.endsWith('.localhost') || within(loopback, host);
}

/** Whether a URL's host is this machine or in its own network: private addresses, `.local`, names without a dot. */
export function isNearby(hostname: string): boolean {
  const host = bare(hostname);
  if (isIP(host)) return within(loopback, host) || within(privateNetworks, host);
  return isLoopback(host) || host.endsWith('.local') || !host.includes('.');
}

function within(networks: BlockList, host: string): boolean {
  const family = isIP(host);
  return family !== 0 && networks.check(host, family === 6 ? 'ipv6' : 'ipv4');
}

/** Without the brackets of IPv6 and the dot that ends an absolute name. */
function bare(hostname: string): string {
  return hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
}
