import type { ServiceEvent } from './connect.ts';
import type { Notices } from './notices.ts';

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
    case 'other take':
      return 'on retry the service sent different audio: a word may be repeated or missing; this segment is not cached';
  }
}

/** Who waits for longer than this without a word would think that nothing goes on. */
const LONG_PAUSE_SECONDS = 10;

/** Tells of a long pause where nothing else shows that the run goes on. */
export function warnOfPause(event: ServiceEvent, notices: Notices): void {
  if (event.type !== 'retry' || event.seconds < LONG_PAUSE_SECONDS || notices.verbose) return;
  notices.warn(`${event.error.message}: another try in ${Math.round(event.seconds)} s`);
}
