/**
 * Memory in pages of its own, which the system has back as soon as it is let go of. What malloc lends for sound stays
 * with the process: once buffers of some MB have come and gone, it keeps them all in its arenas, between smaller ones.
 */
export function pages(bytes: number): ArrayBuffer {
  return new ArrayBuffer(bytes, { maxByteLength: bytes }); // malloc is not asked for one that may change its size
}
