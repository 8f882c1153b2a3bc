import type { Speech } from '../audio/pcm.ts';
import { silence } from '../audio/silence.ts';
import type { Part } from './look-ahead.ts';

/** The sound of the parts, each paragraph but the first with silence before it. Parts whose sound goes elsewhere are left out. */
export async function* withPauses(parts: AsyncIterable<Part>, seconds: number): AsyncGenerator<Speech> {
  for await (const { segment, speech } of parts) {
    if (!speech) continue;
    const paused = segment.startsParagraph && segment.index > 0 && seconds > 0;
    yield paused ? { ...speech, bytes: undefined, pcm: behindSilence(speech, seconds) } : speech;
  }
}

async function* behindSilence({ format, pcm }: Speech, seconds: number): AsyncGenerator<Uint8Array> {
  yield* silence(format, seconds);
  yield* pcm;
}
