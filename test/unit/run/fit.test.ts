import fc from 'fast-check';
import { expect, it } from 'vitest';
import { type Misfit, stretched } from '../../../src/run/fit.ts';
import type { RunEvent } from '../../../src/run/run.ts';
import type { PcmFormat, Speech } from '../../../src/sound/pcm.ts';
import type { Segment } from '../../../src/text/segment.ts';
import { deliverTo, MemorySink, NO_PAUSES } from '../../support/memory-sink.ts';
import { speakerThat } from '../../support/speaker.ts';
import { segmentOf } from './segment-of.ts';

const RATE = 8000;
const format: PcmFormat = { encoding: 'integer', sampleRate: RATE, channels: 1, bitsPerSample: 16 };

/** A voice that says a number of frames: a tone without a sample of zero. */
const voice = speakerThat(
  async ({ text }): Promise<Speech> => {
    const samples = Int16Array.from({ length: Number(text) }, (_, at) => 5000 + 3000 * Math.sin(at / 6));
    async function* pcm() {
      yield new Uint8Array(samples.buffer);
    }
    return { format, bytes: samples.byteLength, pcm: pcm() };
  },
  { kind: 'engine', sampleRate: RATE },
);

interface Wanted {
  /** Seconds. */
  readonly start: number;
  /** Frames of its parts. */
  readonly parts: readonly number[];
}

function segmentsOf(cues: readonly Wanted[], filmEnd: number): Segment[] {
  let index = 0;
  return cues.flatMap(({ start, parts }, at) => {
    const cue = { number: at + 1, start, next: cues[at + 1]?.start, filmEnd };
    return parts.map((frames) => ({ ...segmentOf(`${frames}`, index++, at + 1), cue }));
  });
}

/** Where each cue was heard, in frames. */
async function heard(cues: readonly Wanted[], filmEnd: number, most: number, length?: number) {
  const segments = segmentsOf(cues, filmEnd);
  const spans: { begin: number; end: number }[] = [];
  const misfits: Misfit[] = [];
  let [frames, last] = [0, 0];
  const on = (event: RunEvent) => {
    if (event.type === 'misfit') misfits.push(event.misfit);
    if (event.type === 'sound') frames += event.pcm.length / 2;
    if (event.type === 'started') {
      frames += event.pauseFrames;
      const { number } = event.part.segment.cue as { number: number };
      if (number !== last) spans.push({ begin: frames, end: frames });
      last = number;
    }
    if ('at' in event && event.type !== 'end') expect(event.at).toBe(frames);
    const span = spans.at(-1);
    if (span) span.end = frames;
  };
  const sink = new MemorySink(false);
  await deliverTo(sink, {
    segments: async function* () {
      yield* segments;
    },
    speakerOf: () => voice,
    mix: { pauses: { ...NO_PAUSES, paragraph: 1 }, fit: { most, length } },
    listeners: [{ on }],
  });
  return { spans, misfits, pcm: new Int16Array(Uint8Array.from(sink.pcm).buffer) };
}

const cue = fc.record({
  /** Milliseconds from the start of the cue before it: cues may overlap, and begin at once. */
  after: fc.oneof(fc.integer({ min: 200, max: 900 }), fc.constant(0)),
  parts: fc.array(fc.integer({ min: 200, max: 3000 }), { minLength: 1, maxLength: 3 }),
});

it('Each cue begins at its time wherever it can, none overlaps, and the list of misfits is complete.', () =>
  fc.assert(
    fc.asyncProperty(
      fc.array(cue, { minLength: 1, maxLength: 8 }),
      fc.constantFrom(1, 1.1, 1.2, 1.5, 2),
      fc.integer({ min: 0, max: 900 }),
      async (all, most, behind) => {
        let at = 0;
        const cues = all.map(({ after, parts }) => {
          at += after;
          return { start: at / 1000, parts };
        });
        const filmEnd = (at + behind) / 1000;
        const { spans, misfits, pcm } = await heard(cues, filmEnd, most);
        expect(spans).toHaveLength(cues.length);
        const frameAt = (seconds: number) => Math.round(seconds * RATE);
        const wrong: number[] = [];
        for (const [number, { start, parts }] of cues.entries()) {
          const { begin, end } = spans[number] as { begin: number; end: number };
          const before = spans[number - 1]?.end ?? 0;
          const spoken = parts.reduce((sum, each) => sum + each);
          const limit = frameAt(cues[number + 1]?.start ?? filmEnd);
          // It is late only behind a cue that is too long, and then by no frame more.
          expect(begin).toBe(Math.max(frameAt(start), before));
          // It is as fast as it has to be, and no faster.
          const room = Math.max(0, limit - begin);
          const least = Math.round(spoken / most);
          expect(end - begin).toBe(spoken <= room ? spoken : Math.max(least, Math.min(room, spoken)));
          if (begin > frameAt(start) || end > limit) wrong.push(number + 1);
          expect(pcm.subarray(before, begin).every((sample) => sample === 0)).toBe(true);
          expect(pcm[begin]).not.toBe(0);
        }
        expect(misfits.map((misfit) => misfit.cue)).toEqual(wrong);
        const late = misfits.map(({ late }) => Math.round(late * RATE));
        expect(late).toEqual(
          wrong.map((each) => (spans[each - 1]?.begin ?? 0) - frameAt(cues[each - 1]?.start ?? 0)),
        );
        expect(pcm.length).toBe(Math.max(frameAt(filmEnd), spans.at(-1)?.end ?? 0));
      },
    ),
    { numRuns: 60 },
  ));

it('The sound is as long as --length says, if nothing would be cut.', async () => {
  const cues = [{ start: 0.5, parts: [2000] }];
  expect((await heard(cues, 1, 1.2, 3)).pcm.length).toBe(3 * RATE);
  const short = await heard(cues, 1, 1.2, 0.6);
  expect(short.pcm.length).toBe(0.5 * RATE + Math.round(2000 / 1.2));
  expect(short.misfits).toMatchObject([{ cue: 1, late: 0, missing: Math.round(2000 / 1.2 - 800) / RATE }]);
});

it.each([1.05, 1.2, 1.5, 2])('What is heard %s times as fast is right to 20 ms.', async (speed) => {
  // Bursts of 0.2 s, each 0.5 s.
  const onsets = Array.from({ length: 8 }, (_, at) => 0.1 + 0.5 * at);
  const sound = new Int16Array(4 * RATE);
  for (const onset of onsets)
    for (let at = 0; at < 0.2 * RATE; at += 1)
      sound[Math.round(onset * RATE) + at] = Math.round(8000 * Math.sin((2 * Math.PI * 200 * at) / RATE));
  const bytes = await stretched(new Uint8Array(sound.buffer), format, speed);
  const heardSound = new Int16Array(Uint8Array.from(bytes).buffer);
  expect(heardSound.length).toBe(Math.round(sound.length / speed));
  let quietSince = -RATE;
  const found: number[] = [];
  for (const [at, sample] of heardSound.entries()) {
    if (Math.abs(sample) < 2000) continue;
    if (at - quietSince > 0.08 * RATE) found.push(at / RATE);
    quietSince = at;
  }
  expect(found).toHaveLength(onsets.length);
  for (const [at, onset] of onsets.entries())
    expect(Math.abs((found[at] ?? 0) - onset / speed)).toBeLessThan(0.02);
});

it('A signal ends the silence in front of a cue.', async () => {
  const run = new AbortController();
  const sink = new MemorySink(false);
  const delivered = deliverTo(sink, {
    segments: async function* () {
      yield* segmentsOf([{ start: 3000, parts: [100] }], 3001);
    },
    speakerOf: () => voice,
    mix: { pauses: NO_PAUSES, fit: { most: 1, length: undefined } },
    listeners: [
      { on: ({ type }) => void (type === 'started' && setImmediate(() => run.abort(new Error('over')))) },
    ],
    signal: run.signal,
  });
  await expect(delivered).rejects.toThrow('over');
});
