import { describe, expect, it } from 'vitest';
import { Drops } from '../../../src/kit/drops.ts';
import { ExitCode } from '../../../src/kit/error.ts';
import type { DeliverOptions, Listener } from '../../../src/run/run.ts';
import type { PcmFormat, Speech, Track } from '../../../src/sound/pcm.ts';
import type { Segment } from '../../../src/text/segment.ts';
import { deliverTo, MemorySink, NO_PAUSES } from '../../support/memory-sink.ts';
import { speakerThat } from '../../support/speaker.ts';
import { WatchedBody } from '../sound/body.ts';
import { sound, speechFormat } from '../sound/wav-builder.ts';
import { segmentOf } from './segment-of.ts';

function part(pieces: Iterable<Uint8Array>, format: PcmFormat = speechFormat) {
  return { format, bytes: 1000, pcm: new WatchedBody(pieces) } satisfies Speech;
}

async function* segments(count: number): AsyncGenerator<Segment> {
  for (let index = 0; index < count; index++) yield segmentOf(`number ${index}`, index);
}

function run(parts: readonly Speech[], { sink: other, ...options }: Partial<DeliverOptions> = {}) {
  const sink = new MemorySink();
  const speaker = speakerThat(async ({ index }) => parts[index]);
  const about = { segments: () => segments(parts.length), speakerOf: () => speaker, window: 2 };
  return { delivery: deliverTo(other ?? sink, { ...about, ...options }), sink };
}

/** Writes down what it hears. */
function recorder(heard: unknown[]): Listener {
  return {
    on(event) {
      if (event.type === 'started') heard.push([event.part.segment.index, event.pauseFrames]);
      else if (event.type !== 'queued') heard.push(event.type === 'sound' ? event.pcm.length : event.type);
    },
  };
}

describe('deliver', () => {
  it('tells every listener of parts, pieces and pauses in the order in which they are heard', async () => {
    const [one, other]: unknown[][] = [[], []];
    const parts = [part([sound(2), sound(4)]), part([sound(6)])];
    const { delivery, sink } = run(parts, {
      mix: { pauses: { ...NO_PAUSES, paragraph: 0.001 } },
      listeners: [recorder(one ?? []), undefined, recorder(other ?? [])],
    });
    await delivery;
    expect(one).toEqual([[0, 0], 2, 4, 'spoken', [1, 22], 6, 'spoken', 'end']);
    expect(other).toEqual(one);
    expect(sink.pcm.length).toBe(12 + 44);
  });

  it('goes on after a drop, wherever it meets the first part', async () => {
    const drops = new Drops();
    const heard: unknown[] = [];
    const sink = new MemorySink();
    const write = async (track: Track) => {
      drops.now();
      return MemorySink.prototype.write.call(sink, track);
    };
    const pcm = sound(1000);
    const { delivery } = run([part([pcm.subarray(0, 500)]), part([pcm.subarray(500)])], {
      sink: { ...sink, write, discard: async () => {} },
      drops,
      window: 1,
      listeners: [recorder(heard)],
    });
    await delivery;
    expect(heard).toEqual([[1, 0], 500, 'spoken', 'end']);
    expect(sink.pcm).toEqual(pcm.subarray(500));
  });

  it.each([
    [{ sampleRate: 8000 }, 'set --sample-rate'],
    [{ channels: 2 }, 'one number of channels'],
    [{ bitsPerSample: 8 }, 'one kind of samples'],
  ] as const)('has a hint that helps against the difference: %o', async (difference, hint) => {
    const parts = [part([]), part([], { ...speechFormat, ...difference })];
    await expect(run(parts).delivery).rejects.toMatchObject({ hint: expect.stringContaining(hint) });
  });

  it('finds a blank text wrong, even if the reader has left', async () => {
    const sink = Object.assign(new MemorySink(), { readerGone: Promise.resolve() });
    await expect(run([], { sink }).delivery).rejects.toMatchObject({ exitCode: ExitCode.usage });
  });
});
