import type { IncomingHttpHeaders } from 'node:http';

/** Of a repeated header the first value. */
export function firstValues(headers: IncomingHttpHeaders): Record<string, string | undefined> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value[0] : value]),
  );
}
