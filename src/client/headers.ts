import type { IncomingHttpHeaders } from 'node:http';

/** Those whose lines are one list (RFC 9110, section 5.3). */
const LISTS = new Set(['content-encoding']);

/** Of a repeated header the first value, but where all of them are one list. */
export function singleValues(headers: IncomingHttpHeaders): Record<string, string | undefined> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => {
      if (!Array.isArray(value)) return [name, value];
      return [name, LISTS.has(name) ? value.join(', ') : value[0]];
    }),
  );
}
