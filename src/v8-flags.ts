import { setFlagsFromString } from 'node:v8';

/** V8's own budget, in about as many bytes executed, before it optimises a WebAssembly function. */
const USUAL = 1_800_000;
/** More than any run uses up. */
const NEVER = 1_000_000_000;

let budget = USUAL;

/**
 * Node 20 spends 65 ms of the first answer on optimising undici's HTTP parser, one giant function, and waits for that
 * at the end. The parser is fast enough as it is: modules that are compiled from here on stay so.
 */
export function leaveUnoptimised(): void {
  setBudget(NEVER);
}

/**
 * Keeps V8 from enlarging the space for young objects, which is collected when it is full: with 16 MiB of it, buffers
 * that nobody needs any more lie about for as long as it takes to fill. Saves 20 MB of a long run, and costs no time.
 */
export function leaveYoungSpaceSmall(): void {
  setFlagsFromString('--semi-space-growth-factor=1');
}

/** Compiles a module that is to be optimised where it runs often, whatever holds for others. */
export async function optimised(compile: () => Promise<WebAssembly.Module>): Promise<WebAssembly.Module> {
  const before = budget;
  setBudget(USUAL);
  try {
    return await compile();
  } finally {
    setBudget(before);
  }
}

function setBudget(bytes: number): void {
  if (bytes === budget) return;
  budget = bytes;
  setFlagsFromString(`--wasm-tiering-budget=${bytes}`);
}
