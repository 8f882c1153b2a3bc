/** The default of V8 in Node 20. */
const USUAL_BUDGET = 1_800_000;

/** Reached after some words of Flite, or hundreds of HTTP answers. */
const LATE_BUDGET = 300_000_000;

/**
 * Delays the optimisation of WebAssembly. Node 20 begins it so early that a short run pays for it in vain: 90 ms for
 * undici's parser, 40 ms for a word of Flite. Later versions wait by themselves. V8 reads the flag as it compiles a module.
 * @param runtime the version of Node
 * @returns a function that resets the flag. While it is changed, V8 rejects the code cache of Node's own modules, which then
 * load more slowly.
 */
export async function delayTierUp(runtime?: string): Promise<() => void> {
  if (!runtime?.startsWith('v20.')) return () => {};
  const { setFlagsFromString } = await import('node:v8');
  setFlagsFromString(`--wasm-tiering-budget=${LATE_BUDGET}`);
  return () => setFlagsFromString(`--wasm-tiering-budget=${USUAL_BUDGET}`);
}
