import { setFlagsFromString } from 'node:v8';

let isOptimising = true;
let isWanted = true;
/** Modules that are being compiled to be optimised. */
let compiling = 0;

/**
 * Node 20 spends 65 ms of the first answer on optimising undici's HTTP parser, one giant function, and waits for that
 * at the end; later it takes 35 MB for a while. The parser is fast enough as it is: modules that are compiled from here
 * on stay so.
 */
export function leaveUnoptimised(): void {
  isWanted = false;
  setOptimising(compiling > 0);
}

/**
 * Keeps V8 from enlarging the space for young objects, which is collected when it is full: with 16 MiB of it, buffers
 * that nobody needs any more lie about for as long as it takes to fill. Saves 20 MB of a long run, and costs no time.
 */
export function leaveYoungSpaceSmall(): void {
  setFlagsFromString('--semi-space-growth-factor=1');
}

/** Compiles modules that are to be optimised where they run often, whatever holds for others. */
export async function optimised<T>(compile: () => Promise<T>): Promise<T> {
  compiling += 1;
  setOptimising(true);
  try {
    return await compile();
  } finally {
    compiling -= 1;
    setOptimising(isWanted || compiling > 0);
  }
}

/** V8 looks at both when a module is compiled: whether its functions are counted, and whether all are optimised at once. */
function setOptimising(on: boolean): void {
  if (on === isOptimising) return;
  isOptimising = on;
  for (const flag of ['wasm-dynamic-tiering', 'wasm-tier-up'])
    setFlagsFromString(`--${on ? '' : 'no-'}${flag}`);
}
