/** Formats of telephone systems: G.711 and headerless samples. */
import { converted } from '../convert.ts';
import { counted, frameBytes, type Speech, sameFormat, type Track } from '../pcm.ts';
import { bytesOf, lanesOf } from '../samples.ts';
import { type StreamingEncoding, writeStream } from './encoding.ts';
import { recordWav, streamWav, type WavSound } from './wav.ts';

type Pcm = Pick<Speech, 'format' | 'pcm'>;
type Encode = (sound: Pcm, onSound: (bytes: number) => void) => AsyncIterable<Uint8Array>;

/** Headerless 16-bit samples, with the voice's rate and channels unless a PBX expects a rate. */
export function raw(rate: number | undefined): StreamingEncoding {
  return headerless('s16le', s16le, rate);
}

/**
 * G.711 in a WAV, or headerless where a PBX expects a rate.
 * @param rate Hz that the PBX expects
 */
export function telephone(law: 'alaw' | 'ulaw', rate: number | undefined): StreamingEncoding {
  return rate === undefined ? telephoneWav(law) : headerless(law, (...sound) => coded(law, ...sound), rate);
}

/** @param rate Hz that the PBX expects; the file then has one channel */
function headerless(name: string, code: Encode, rate: number | undefined): StreamingEncoding {
  const stream: Encode = ({ format, pcm }, onSound) => {
    const to = rate === undefined ? format : { ...format, sampleRate: rate, channels: 1 };
    if (sameFormat(to, format)) return code({ format, pcm }, onSound);
    return code(converted({ format, bytes: undefined, pcm: counted(pcm, onSound) }, to), () => {});
  };
  return {
    name,
    assertReady: async () => {},
    record: (file, track, signal) => writeStream(file, (onSound) => stream(track, onSound), signal),
    stream,
  };
}

const INTEGERS = { encoding: 'integer', bitsPerSample: 16 } as const;

/** @param onSound called with the PCM bytes of each piece */
async function* s16le({ format, pcm }: Pcm, onSound: (bytes: number) => void): AsyncGenerator<Uint8Array> {
  const isSame = format.encoding === 'integer' && format.bitsPerSample === 16;
  for await (const piece of counted(pcm, onSound)) {
    const [samples = []] = isSame ? [] : lanesOf(piece, { ...format, channels: 1 }, 1);
    yield isSame ? piece : bytesOf(samples, INTEGERS);
  }
}

/** Returns the G.711 byte for each 16-bit sample, indexed by its bits. */
export function lawTable(law: 'alaw' | 'ulaw'): Uint8Array {
  const encode = law === 'alaw' ? toALaw : toMuLaw;
  return Uint8Array.from({ length: 65_536 }, (_, bits) => encode(bits < 32_768 ? bits : bits - 65_536));
}

const MU_BIAS = 132;
const MU_CLIP = 32_635;

function toMuLaw(sample: number): number {
  const sign = sample < 0 ? 0x80 : 0;
  const magnitude = Math.min(Math.abs(sample), MU_CLIP) + MU_BIAS;
  const exponent = 24 - Math.clz32(magnitude);
  return ~(sign | (exponent << 4) | ((magnitude >> (exponent + 3)) & 0x0f)) & 0xff;
}

function toALaw(sample: number): number {
  const sign = sample < 0 ? 0 : 0x80;
  // Thirteen bits count. A negative sample is complemented.
  const magnitude = (sample < 0 ? ~sample : sample) >> 3;
  const exponent = Math.max(0, 27 - Math.clz32(magnitude));
  const mantissa = (magnitude >> Math.max(1, exponent)) & 0x0f;
  return (sign | (exponent << 4) | mantissa) ^ 0x55;
}

/** A WAV with one G.711 byte per sample. */
function telephoneWav(law: 'alaw' | 'ulaw'): StreamingEncoding {
  return {
    name: law,
    assertReady: async () => {},
    async record(file, track, signal) {
      let bytes = 0;
      const sound = telephoneSound(track, law, (more) => {
        bytes += more;
      });
      return { ...(await recordWav(file, sound, signal)), bytes };
    },
    stream: (track, onSound) => streamWav(telephoneSound(track, law, onSound), () => {}),
  };
}

function telephoneSound(track: Track, law: 'alaw' | 'ulaw', onSound: (bytes: number) => void): WavSound {
  const { format, bytes } = track;
  const samples = bytes === undefined ? undefined : (bytes / frameBytes(format)) * format.channels;
  return {
    format: { ...format, encoding: law, bitsPerSample: 8 },
    bytes: samples,
    pcm: coded(law, track, onSound),
  };
}

async function* coded(
  law: 'alaw' | 'ulaw',
  track: Pcm,
  onSound: (bytes: number) => void,
): AsyncGenerator<Uint8Array> {
  const table = lawTable(law);
  for await (const piece of s16le(track, onSound)) {
    const view = new DataView(piece.buffer, piece.byteOffset, piece.length);
    yield Uint8Array.from({ length: piece.length / 2 }, (_, at) => table[view.getUint16(2 * at, true)] ?? 0);
  }
}
