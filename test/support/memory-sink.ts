import type { Sink } from '../../src/out/sink.ts';
import { type DeliverOptions, deliver } from '../../src/run/run.ts';
import type { Track } from '../../src/sound/pcm.ts';
import { collect } from '../unit/sound/body.ts';

export const NO_PAUSES = { chapter: 0, scene: 0, heading: 0, paragraph: 0, sentence: 0 };

/** A sink that keeps all sound in memory. */
export class MemorySink implements Sink {
  readonly isLive: boolean;
  track: Track | undefined;
  pcm: Buffer = Buffer.alloc(0);

  constructor(isLive = false) {
    this.isLive = isLive;
  }

  async write(track: Track) {
    this.track = track;
    this.pcm = await collect(track.pcm);
    return { bytes: this.pcm.length, writtenBytes: this.pcm.length, readerLeft: false };
  }

  async discard(): Promise<void> {}
}

/** Delivers to a sink, without pauses by default. */
export function deliverTo(
  sink: Sink,
  options: Pick<DeliverOptions, 'segments' | 'speakerOf'> & Partial<DeliverOptions>,
): ReturnType<typeof deliver> {
  const { signal } = new AbortController();
  return deliver({ window: 4, mix: { pauses: NO_PAUSES }, listeners: [], signal, sink, ...options });
}
