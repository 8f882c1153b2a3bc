import { BlockList, isIP } from 'node:net';
import { bareHost } from '../bare-host.ts';

/**
 * Whether an address is to be reached directly, by a list as in `NO_PROXY`: hosts and what lies below them, addresses,
 * networks such as 10.0.0.0/8, some of them with a port, or `*`.
 */
export function isExcepted({ hostname, port, protocol }: URL, except: string): boolean {
  const name = bareHost(hostname);
  const number = port || (protocol === 'https:' ? '443' : '80');
  return except
    .toLowerCase()
    .split(/[,\s]+/)
    .filter(Boolean)
    .some((entry) => {
      const [domain, only] = split(entry);
      return (only === undefined || only === number) && covers(domain, name);
    });
}

/** The host and the port of an entry. The colons of an IPv6 address without brackets lead to no port. */
function split(entry: string): [domain: string, port?: string | undefined] {
  if (isIP(entry) === 6) return [entry];
  const [, domain = '', port] = /^(?:\*?\.)?(.+?)(?::(\d+))?$/.exec(entry) ?? [];
  return [bareHost(domain), port];
}

function covers(domain: string, name: string): boolean {
  return domain === '*' || name === domain || name.endsWith(`.${domain}`) || isInNetwork(domain, name);
}

/** @param network an address, which may be written in several ways, or as in `fc00::/7` */
function isInNetwork(network: string, name: string): boolean {
  const [, address = '', bits] = /^([^/]+)(?:\/(\d+))?$/.exec(network) ?? [];
  const family = isIP(address);
  const longest = family === 6 ? 128 : 32;
  const prefix = Number(bits ?? longest);
  if (family === 0 || family !== isIP(name) || prefix > longest) return false;
  const type = family === 6 ? 'ipv6' : 'ipv4';
  const list = new BlockList();
  list.addSubnet(address, prefix, type);
  return list.check(name, type);
}
