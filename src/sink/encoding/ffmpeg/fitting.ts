import { converted } from '../../../audio/convert.ts';
import { counted, frameBytes, type PcmFormat, type Speech } from '../../../audio/pcm.ts';
import type { FfmpegFormat } from './formats.ts';

export interface Fitting {
  readonly format: PcmFormat;
  readonly pcm: AsyncGenerator<Uint8Array>;
}

/**
 * Brings sound to a rate that a format has. It is cut to the frame: rounding up would make it longer than what came.
 * @param onSound called with the PCM bytes of each piece that comes
 */
export function fitting(
  speech: Speech,
  how: Pick<FfmpegFormat, 'rates' | 'otherRate'>,
  onSound: (bytes: number) => void,
): Fitting {
  const { format } = speech;
  const sampleRate = rateFor(format.sampleRate, how);
  let bytes = 0;
  const pcm = counted(speech.pcm, (more) => {
    bytes += more;
    onSound(more);
  });
  if (sampleRate === format.sampleRate) return { format, pcm };
  const to = { ...format, sampleRate };
  const most = () =>
    Math.floor(((bytes / frameBytes(format)) * sampleRate) / format.sampleRate) * frameBytes(to);
  return { format: to, pcm: cut(converted({ ...speech, pcm }, to).pcm, most) };
}

export function rateFor(
  sampleRate: number,
  { rates, otherRate }: Pick<FfmpegFormat, 'rates' | 'otherRate'>,
): number {
  if (!rates || rates.includes(sampleRate)) return sampleRate;
  return otherRate ?? rates.find((rate) => rate >= sampleRate) ?? sampleRate;
}

async function* cut(pcm: AsyncIterable<Uint8Array>, most: () => number): AsyncGenerator<Uint8Array> {
  let given = 0;
  for await (const piece of pcm) {
    const part = piece.subarray(0, most() - given);
    given += part.length;
    if (part.length > 0) yield part;
  }
}
