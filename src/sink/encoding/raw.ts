import type { PcmFormat, Speech } from '../../audio/pcm.ts';
import { sampleReader, sampleWriter } from '../../audio/samples.ts';
import { type StreamingEncoding, writeStream } from './encoding.ts';

/** Samples of 16 bits, without any header. Their rate and channels are those of the voice. */
export const raw: StreamingEncoding = {
  name: 's16le',
  assertReady: async () => {},
  record: (file, track, signal) => writeStream(file, (onSound) => s16le(track, onSound), signal),
  stream: s16le,
};

const INTEGERS: Pick<PcmFormat, 'encoding' | 'bitsPerSample'> = { encoding: 'integer', bitsPerSample: 16 };

/** @param onSound called with the PCM bytes of each piece */
export async function* s16le(
  { format, pcm }: Pick<Speech, 'format' | 'pcm'>,
  onSound: (bytes: number) => void,
): AsyncGenerator<Uint8Array> {
  const isSame = format.encoding === 'integer' && format.bitsPerSample === 16;
  const read = sampleReader(format);
  const write = sampleWriter(INTEGERS);
  const bytes = format.bitsPerSample / 8;
  for await (const piece of pcm) {
    onSound(piece.length);
    if (isSame) {
      yield piece;
      continue;
    }
    const from = new DataView(piece.buffer, piece.byteOffset, piece.length);
    const to = new DataView(new ArrayBuffer((2 * piece.length) / bytes));
    for (let at = 0; at < piece.length / bytes; at += 1) write(to, 2 * at, read(from, at * bytes));
    yield new Uint8Array(to.buffer);
  }
}
