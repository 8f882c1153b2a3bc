import type { ServiceEvent } from './connect.ts';

/** What the client does, in a line for `--verbose`. */
export function describe(event: ServiceEvent): string {
  switch (event.type) {
    case 'request':
      return `POST ${event.url.href}  X-API-KEY: ***  ${event.body}`;
    case 'answer':
      return `status ${event.status} after ${Math.round(event.milliseconds)} ms`;
    case 'cache':
      return event.found === 'hit' ? 'from the cache' : 'not in the cache';
    case 'retry':
      return `${event.error.message}: another try in ${event.seconds.toFixed(1)} s`;
  }
}
