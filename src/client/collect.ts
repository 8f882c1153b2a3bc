import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** After so many bytes their memory is asked back, which takes a fraction of a millisecond. */
const COLLECT_BYTES = 1 << 24;

/** Every so many times old objects are looked through as well: some of the bytes were still needed when it was asked before. */
const MAJOR_EVERY = 4;

type Collect = (options: { readonly type: 'minor' | 'major' }) => void;

let collect: Collect | undefined;
let uncollected = 0;
let times = 0;

/**
 * Counts bytes that were received, by whatever request, and has V8 let go of those that nobody needs any more. By itself it
 * does so when young objects fill their space, and does not count what they hold outside of it: up to 64 MB of buffers.
 */
export function countReceived(bytes: number): void {
  uncollected += bytes;
  if (uncollected < COLLECT_BYTES) return;
  uncollected = 0;
  collect ??= collector();
  times += 1;
  collect({ type: times % MAJOR_EVERY === 0 ? 'major' : 'minor' });
}

/** V8 shows it to programs only where a flag says so, which is left as it was: kept code depends on it. */
function collector(): Collect {
  setFlagsFromString('--expose-gc');
  const found = runInNewContext('typeof gc === "function" ? gc : undefined') as Collect | undefined;
  setFlagsFromString('--no-expose-gc');
  return found ?? (() => {});
}
