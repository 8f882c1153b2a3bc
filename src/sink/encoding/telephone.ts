import { lawTable } from '../../audio/g711.ts';
import { frameBytes, type Track } from '../../audio/pcm.ts';
import type { StreamingEncoding } from './encoding.ts';
import { s16le } from './raw.ts';
import { recordWav, streamWav, type WavSound } from './wav.ts';

/** A WAV as telephones have it: one byte of G.711 for each sample. */
export function telephone(law: 'alaw' | 'ulaw'): StreamingEncoding {
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
    pcm: coded(track, law, onSound),
  };
}

async function* coded(
  track: Track,
  law: 'alaw' | 'ulaw',
  onSound: (bytes: number) => void,
): AsyncGenerator<Uint8Array> {
  const table = lawTable(law);
  for await (const piece of s16le(track, onSound)) {
    const view = new DataView(piece.buffer, piece.byteOffset, piece.length);
    yield Uint8Array.from({ length: piece.length / 2 }, (_, at) => table[view.getUint16(2 * at, true)] ?? 0);
  }
}
