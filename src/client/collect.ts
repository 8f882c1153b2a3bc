import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** After so many bytes their memory is asked back, which takes a fraction of a millisecond; the first time 3 ms. */
const COLLECT_BYTES = 1 << 23;

/**
 * Where more than this is held, too much of it has lived through two collections: it is old by now, and no longer found
 * among the young. Looking through all objects takes 4 ms.
 */
const MOST_HELD_BYTES = 20 << 20;

/** After so long they are looked through in any case: V8 knows less of what is held over TLS. */
const LONGEST_MS = 200;

/** Without options all objects: on Node 20, `type: 'major'` collects the young ones only. */
type Collect = (options?: { readonly type: 'minor' }) => void;

let collect: Collect | undefined;
let received = 0;
let times = 0;
let lastOfAll = Date.now();

/**
 * Counts bytes that were received or copied, by whatever request, and has V8 let go of those that nobody needs any more. By
 * itself it does so when young objects fill their space, and does not count what they hold outside of it: up to 64 MB of buffers.
 */
export function countReceived(bytes: number): void {
  received += bytes;
  if (received < (times + 1) * COLLECT_BYTES) return;
  times += 1;
  collect ??= collector();
  const now = Date.now();
  if (getHeapStatistics().external_memory > MOST_HELD_BYTES || now - lastOfAll > LONGEST_MS) {
    lastOfAll = now;
    collect();
  } else collect({ type: 'minor' });
}

/** V8 shows it to programs only where a flag says so, which is left as it was: kept code depends on it. */
function collector(): Collect {
  setFlagsFromString('--expose-gc');
  const found = runInNewContext('typeof gc === "function" ? gc : undefined') as Collect | undefined;
  setFlagsFromString('--no-expose-gc');
  return found ?? (() => {});
}
