import type { PcmFormat, Speech } from '../audio/pcm.ts';
import { silence, silentFrames } from '../audio/silence.ts';
import type { Segment } from '../text/segment.ts';
import type { Part } from './look-ahead.ts';

/** The sound of the parts, each paragraph but the first with silence before it. Parts whose sound goes elsewhere are left out. */
export async function* withPauses(parts: AsyncIterable<Part>, seconds: number): AsyncGenerator<Speech> {
  let begun = false;
  for await (const { segment, speech } of parts) {
    if (!speech) continue;
    const paused = begun && pauseFrames(segment, speech.format, seconds) > 0;
    begun = true;
    yield paused ? { ...speech, bytes: undefined, pcm: behindSilence(speech, seconds) } : speech;
  }
}

/** Frames of silence before a segment. */
export function pauseFrames({ startsParagraph, index }: Segment, format: PcmFormat, seconds: number): number {
  return startsParagraph && index > 0 ? silentFrames(format, seconds) : 0;
}

async function* behindSilence({ format, pcm }: Speech, seconds: number): AsyncGenerator<Uint8Array> {
  yield* silence(format, seconds);
  yield* pcm;
}
