import { setFlagsFromString } from 'node:v8';

// Node's own modules come with compiled code, and so do ours (code-cache.ts). V8 takes it only under the flags that it was
// made with: another flag makes TLS 3 ms slower to load and a thread 20 ms slower to start. So the flags have their first
// values whenever code is loaded; the one exception is `withChecksum`, during which nothing else is.

const UNOPTIMISED = ['wasm-lazy-compilation', 'wasm-dynamic-tiering', 'wasm-tier-up'];

/**
 * Compiles WebAssembly for good: at once, and never better when it turns out to run often.
 *
 * Node 20 spends 65 ms of the first answer on optimising undici's HTTP parser, one giant function, and waits for that
 * at the end; later it takes 35 MB for a while. The parser is fast enough as it is.
 * @param compile compiles synchronously
 * @public to the build, which puts it where undici compiles its parser: .config/mended.ts
 */
export function unoptimised(compile: () => WebAssembly.Module): WebAssembly.Module {
  for (const flag of UNOPTIMISED) setFlagsFromString(`--no-${flag}`);
  try {
    return compile();
  } finally {
    for (const flag of UNOPTIMISED) setFlagsFromString(`--${flag}`);
  }
}

/**
 * Puts a checksum into compiled code that is made here, and looks for it in what is taken. Without, V8 takes what is torn
 * or damaged, and crashes.
 */
export function withChecksum<T>(makeOrTake: () => T): T {
  setFlagsFromString('--verify-snapshot-checksum');
  try {
    return makeOrTake();
  } finally {
    setFlagsFromString('--no-verify-snapshot-checksum');
  }
}

/** What V8 starts with: the space for young objects is doubled when most of them live on. */
const GROWING = 2;
const STEADY = 1;

let growth = GROWING;
let isSmall = false;
let loads = 0;

/**
 * Keeps V8 from enlarging the space for young objects, which is collected when it is full: with 16 MiB of it, buffers
 * that nobody needs any more lie about for as long as it takes to fill. Saves 20 MB of a long run, and costs no time.
 */
export function leaveYoungSpaceSmall(): void {
  isSmall = true;
  setGrowth();
}

/**
 * Restores the flags of the start while something is loaded.
 * @returns to be called when it is
 */
export function beginLoad(): () => void {
  loads += 1;
  setGrowth();
  return () => {
    loads -= 1;
    setGrowth();
  };
}

function setGrowth(): void {
  const wanted = isSmall && loads === 0 ? STEADY : GROWING;
  if (wanted === growth) return;
  growth = wanted;
  setFlagsFromString(`--semi-space-growth-factor=${growth}`);
}
