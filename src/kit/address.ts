import { type AddressInfo, BlockList, isIP, isIPv4 } from 'node:net';

/** Removes the brackets of an IPv6 address. */
export function bareHost(hostname: string): string {
  return hostname.replace(/^\[|\]$/g, '');
}

/** @returns host and port as in a URL */
export function authorityOf({ address, family, port }: AddressInfo): string {
  return `${family === 'IPv6' ? `[${address}]` : address}:${port}`;
}

/** @param address a valid address of http or https */
export function withoutLogin(address: string): string {
  return address.replace(/^(https?:\/\/)[^/?#\\]*@/i, '$1');
}

export function withoutEndSlashes(path: string): string {
  // The lookbehind keeps the search linear where many slashes are in the middle.
  return path.replace(/(?<!\/)\/+$/, '');
}

export function percentDecoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

type Network = readonly [address: string, prefix: number, family: 'ipv4' | 'ipv6'];

const LOOPBACK: readonly Network[] = [
  ['127.0.0.0', 8, 'ipv4'],
  ['::1', 128, 'ipv6'],
];

/** The networks of RFC 1918, RFC 3927, RFC 4193 and RFC 4291. */
const PRIVATE_NETWORKS: readonly Network[] = [
  ['10.0.0.0', 8, 'ipv4'],
  ['172.16.0.0', 12, 'ipv4'],
  ['192.168.0.0', 16, 'ipv4'],
  ['169.254.0.0', 16, 'ipv4'],
  ['fc00::', 7, 'ipv6'],
  ['fe80::', 10, 'ipv6'],
];

/** Decides without a name server. Names below `localhost` do not count as this machine: many systems look them up. */
export function isLoopback(hostname: string): boolean {
  const host = bareHost(hostname);
  return host === 'localhost' || isLoopbackAddress(host);
}

/** True for private addresses, for names without a dot, and for names below the local domains. */
export function isNearby(hostname: string): boolean {
  const host = bareHost(hostname).replace(/\.$/, '');
  if (isIP(host)) return isLoopbackAddress(host) || within(PRIVATE_NETWORKS, host);
  return /\.local(?:host)?$/.test(host) || !host.includes('.');
}

/** True for the addresses of RFC 1122 and RFC 4291, also for IPv4 inside IPv6. */
function isLoopbackAddress(host: string): boolean {
  return isIPv4(host) ? host.startsWith('127.') : within(LOOPBACK, host);
}

/** Makes the list for each check, since Node takes 1 ms for the first one and most runs need none. */
function within(networks: readonly Network[], host: string): boolean {
  const family = isIP(host);
  if (family === 0) return false;
  const list = new BlockList();
  for (const network of networks) list.addSubnet(...network);
  return list.check(host, family === 6 ? 'ipv6' : 'ipv4');
}

/** @returns `undefined` for anything but an origin of http or https */
export function originOf(value: string): string | undefined {
  const url = URL.canParse(value) ? new URL(value) : undefined;
  const isOrigin = url?.href === `${url?.origin}/` && /^https?:$/.test(url?.protocol ?? '');
  return isOrigin && !value.includes('*') ? url?.origin : undefined;
}

/** @param except as in `NO_PROXY`: `*`, hosts with all names below them, addresses and networks, each perhaps with a port */
export function isExcepted({ hostname, port, protocol }: URL, except: string): boolean {
  const name = bareHost(hostname);
  const number = port || (protocol === 'https:' ? '443' : '80');
  return except
    .toLowerCase()
    .split(/[,\s]+/)
    .filter(Boolean)
    .some((entry) => {
      const [domain, only] = hostAndPort(entry);
      return (only === undefined || only === number) && covers(domain, name);
    });
}

/** Splits off a port. The colons of a bare IPv6 address do not begin one. */
function hostAndPort(entry: string): [domain: string, port?: string | undefined] {
  if (isIP(entry) === 6) return [entry];
  const [, domain = '', port] = /^(?:\*?\.)?(.+?)(?::(\d+))?$/.exec(entry) ?? [];
  return [bareHost(domain), port];
}

function covers(domain: string, name: string): boolean {
  return domain === '*' || name === domain || name.endsWith(`.${domain}`) || isInNetwork(domain, name);
}

/** @param network an address, or a network such as `fc00::/7` */
function isInNetwork(network: string, name: string): boolean {
  const [, address = '', bits] = /^([^/]+)(?:\/(\d+))?$/.exec(network) ?? [];
  const family = isIP(address);
  const longest = family === 6 ? 128 : 32;
  const prefix = Number(bits ?? longest);
  if (family !== isIP(name) || prefix > longest) return false;
  return within([[address, prefix, family === 6 ? 'ipv6' : 'ipv4']], name);
}
