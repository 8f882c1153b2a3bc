/** V8's own value in Node 20. */
const USUAL_BUDGET = 1_800_000;

/** Some words of Flite, or hundreds of answers. */
const LATE_BUDGET = 300_000_000;

/**
 * Node 20 optimises WebAssembly so soon that a short run pays for it and ends: 90 ms for undici's parser, 40 ms for a word of
 * Flite. Later versions wait by themselves. V8 reads the flag when a program is compiled.
 * @param runtime the version of Node
 * @returns sets the flag back. While it is changed, V8 refuses the compiled code that Node has for its own modules, and they load
 * more slowly.
 */
export async function delayTierUp(runtime?: string): Promise<() => void> {
  if (!runtime?.startsWith('v20.')) return () => {};
  const { setFlagsFromString } = await import('node:v8');
  setFlagsFromString(`--wasm-tiering-budget=${LATE_BUDGET}`);
  return () => setFlagsFromString(`--wasm-tiering-budget=${USUAL_BUDGET}`);
}
