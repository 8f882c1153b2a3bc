import { createReadStream, statSync } from 'node:fs';
import { secondsOf } from '../../audio/pcm.ts';
import { readWav } from '../../audio/wav-reader.ts';

const COLUMNS = 100;
const LOUDEST = 63;

export interface WaveForm {
  readonly seconds: number;
  /** The peak of each hundredth, 0 to 63. Empty for other than 16-bit samples. */
  readonly peaks: Uint8Array;
}

export async function waveForm(path: string, signal: AbortSignal): Promise<WaveForm> {
  const total = statSync(path).size;
  const { format, pcm } = await readWav(createReadStream(path, { signal }));
  const peaks = new Uint8Array(format.bitsPerSample === 16 ? COLUMNS : 0);
  let offset = 0;
  for await (const piece of pcm) {
    if (peaks.length > 0) addPeaks(peaks, piece, { offset, total });
    offset += piece.length;
  }
  return { seconds: secondsOf(format, offset), peaks };
}

function addPeaks(
  peaks: Uint8Array,
  piece: Uint8Array,
  { offset, total }: { offset: number; total: number },
): void {
  const view = new DataView(piece.buffer, piece.byteOffset, piece.length);
  for (let at = 0; at + 1 < piece.length; at += 2) {
    const column = Math.min(COLUMNS - 1, Math.floor(((offset + at) / total) * COLUMNS));
    const loudness = Math.round((Math.abs(view.getInt16(at, true)) / 32_768) * LOUDEST);
    if (loudness > (peaks[column] ?? 0)) peaks[column] = loudness;
  }
}
