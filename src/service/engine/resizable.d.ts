/** The part of ES2024 that Node 20 has and the engine uses. */
interface ArrayBufferConstructor {
  new (byteLength: number, options: { readonly maxByteLength: number }): ArrayBuffer;
}
