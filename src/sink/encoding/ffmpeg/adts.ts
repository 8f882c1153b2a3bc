/** Bytes of a frame's header, as far as its length is told. */
const HEADER = 6;

/**
 * A bare AAC cannot say that it begins with the silence of its encoder, so that silence, which is its first frame, is left out.
 * Decoders let the next frame fade in.
 */
export async function* withoutDelay(adts: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let head: Buffer | undefined = Buffer.alloc(0);
  for await (const piece of adts) {
    if (!head) {
      yield piece;
      continue;
    }
    head = Buffer.concat([head, piece]);
    const length = frameLength(head);
    if (length === undefined || head.length < length) continue;
    if (head.length > length) yield head.subarray(length);
    head = undefined;
  }
}

/** @returns bytes; `undefined` while they are not known. What is no frame has none. */
function frameLength(head: Buffer): number | undefined {
  if (head.length < HEADER) return undefined;
  const isFrame = head[0] === 0xff && (head.readUInt8(1) & 0xf0) === 0xf0;
  return isFrame ? (head.readUInt32BE(2) >>> 5) & 0x1fff : 0;
}
