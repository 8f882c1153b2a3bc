/**
 * Whether an address is to be reached directly, by a list as in `NO_PROXY`: hosts and what lies below them, some with a
 * port, or `*`.
 */
export function isExcepted({ host, port, protocol }: URL, except: string): boolean {
  if (except === '*') return true;
  const name = host.replace(/:\d+$/, '');
  const number = port || (protocol === 'https:' ? '443' : '80');
  return except
    .toLowerCase()
    .split(/[,\s]+/)
    .filter(Boolean)
    .some((entry) => {
      const [, domain = '', only] = /^(?:\*?\.)?(.+?)(?::(\d+))?$/.exec(entry) ?? [];
      return (only === undefined || only === number) && (name === domain || name.endsWith(`.${domain}`));
    });
}
