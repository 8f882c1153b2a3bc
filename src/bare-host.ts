/** The host name of a URL without the brackets of IPv6, as the system knows it. */
export function bareHost(hostname: string): string {
  return hostname.replace(/^\[|\]$/g, '');
}
