import { type Kind, textual, url } from './kind.ts';

/** RFC 1929: a byte tells how long each of the two is. */
const LONGEST_FOR_SOCKS = 255;

/** The address of a proxy, which has no path. */
export const proxyUrl: Kind<URL> = textual({
  allowed: 'a URL that begins with http:// or https:// or socks5://, with nothing behind the port',
  text: (text) => {
    const parsed = url('http', 'https', 'socks5').text(text);
    if (!parsed || !/^\/?$/.test(parsed.pathname) || parsed.search || parsed.hash) return undefined;
    const isTooLong = [parsed.username, parsed.password].some((said) => said.length > LONGEST_FOR_SOCKS);
    return isTooLong && parsed.protocol === 'socks5:' ? undefined : parsed;
  },
  fault: (data) =>
    typeof data === 'string'
      ? {
          what: `${hostOnly(data)} is not allowed; expected ${proxyUrl.allowed}`,
          hint: 'see tts speak --help, under --proxy',
        }
      : undefined,
});

/** What is not an address may have a password anywhere: of what was said no more is shown than its host. */
export function hostOnly(said: string): string {
  const [, scheme = '', user, host = '', rest] =
    /^([a-z][a-z\d+.-]*:\/\/)?(.*@)?([\w.-]*)(.*)$/is.exec(said) ?? [];
  return `"${scheme}${user ? '***@' : ''}${host}${rest ? '***' : ''}"`;
}
