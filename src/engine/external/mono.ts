import { frameBytes, type PcmFormat } from '../../audio/pcm.ts';
import { sampleReader } from '../../audio/samples.ts';

export function bareFormat(sampleRate: number): PcmFormat {
  return { encoding: 'integer', sampleRate, channels: 1, bitsPerSample: 16 };
}

export async function* evenPieces(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let odd = Buffer.alloc(0);
  for await (const piece of pieces) {
    const bytes = Buffer.concat([odd, piece]);
    odd = bytes.subarray(bytes.length - (bytes.length % 2));
    yield bytes.subarray(0, bytes.length - odd.length);
  }
}

/** @param pieces whole frames */
export async function* mono(
  pieces: AsyncIterable<Uint8Array>,
  format: PcmFormat,
): AsyncGenerator<Int16Array> {
  for await (const piece of pieces) yield toMono16(piece, format);
}

/** Each sample is the mean of the channels. */
function toMono16(bytes: Uint8Array, format: PcmFormat): Int16Array {
  const size = frameBytes(format);
  const { channels, bitsPerSample, encoding } = format;
  if (channels === 1 && bitsPerSample === 16 && encoding === 'integer')
    return new Int16Array(Uint8Array.from(bytes.subarray(0, bytes.length - (bytes.length % 2))).buffer);
  const sample = sampleReader(format);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const mono = new Int16Array(Math.floor(bytes.length / size));
  for (let frame = 0; frame < mono.length; frame += 1) {
    let sum = 0;
    for (let channel = 0; channel < channels; channel += 1)
      sum += sample(view, frame * size + (channel * bitsPerSample) / 8);
    mono[frame] = Math.max(-32_768, Math.min(32_767, Math.round((sum * 32_768) / channels)));
  }
  return mono;
}
