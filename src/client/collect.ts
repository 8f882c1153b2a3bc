import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { leaveYoungSpaceSmall } from '../v8-flags.ts';

/** After so many bytes their memory is asked back, which takes a fraction of a millisecond. */
const COLLECT_BYTES = 1 << 24;
/** And for the first time after so many: by then V8 may not have enlarged the space for young objects. */
const FIRST_BYTES = 1 << 20;

/** Every so many times old objects are looked through as well: some of the bytes were still needed when it was asked before. */
const MAJOR_EVERY = 4;

type Collect = (options: { readonly type: 'minor' | 'major' }) => void;

let collect: Collect | undefined;
let left = FIRST_BYTES;
let times = 0;

/**
 * Counts bytes that were received, by whatever request, and has V8 let go of those that nobody needs any more. By itself it
 * does so when young objects fill their space, and does not count what they hold outside of it: up to 64 MB of buffers.
 */
export function countReceived(bytes: number): void {
  left -= bytes;
  if (left > 0) return;
  left = COLLECT_BYTES;
  collect ??= collector();
  leaveYoungSpaceSmall();
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
