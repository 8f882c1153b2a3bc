import { describe, expect, it } from 'vitest';
import { ExitCode, TtsError } from '../../../src/kit/error.ts';
import { Mixer } from '../../../src/run/mix.ts';
import type { DeliverOptions, Listener } from '../../../src/run/run.ts';
import { type Chapter, frameBytes, type PcmFormat, type Track } from '../../../src/sound/pcm.ts';
import type { Speaker } from '../../../src/sound/voice.ts';
import { Cutter } from '../../../src/text/cut.ts';
import type { Piece } from '../../../src/text/piece.ts';
import type { Segment, Silence } from '../../../src/text/segment.ts';
import { asRole } from '../../../src/voices/cast.ts';
import { deliverTo, MemorySink } from '../../support/memory-sink.ts';
import { silent, speakerThat } from '../../support/speaker.ts';
import { segmentOf } from './segment-of.ts';

/** 1,000 frames of it are a second. */
const format: PcmFormat = { encoding: 'integer', sampleRate: 1_000, channels: 1, bitsPerSample: 16 };

const mix = { pauses: { chapter: 0.8, scene: 0.7, heading: 0.6, paragraph: 0.5, sentence: 0.1 } };

/** A voice that speaks 100 ms for each segment, every sample of them one. */
function speaking(own: PcmFormat = format, kind: 'engine' | 'service' = 'engine', bytes?: number): Speaker {
  async function* pcm() {
    yield Buffer.alloc((own.sampleRate / 10) * frameBytes(own), 1);
  }
  return speakerThat(async () => ({ format: own, bytes, pcm: pcm() }), { kind });
}

interface Heard {
  /** Frames of sound, and in brackets of silence, in their order. */
  readonly runs: readonly (number | [number])[];
  readonly track: Track;
  readonly chapters: readonly Chapter[];
  /** Each number is the frames of silence in front of a part. */
  readonly pauses: readonly number[];
}

async function hear(
  items: readonly (Segment | Silence)[],
  { voices, ...options }: Partial<DeliverOptions> & { readonly voices?: readonly Speaker[] } = {},
): Promise<Heard> {
  const sink = new MemorySink();
  const pauses: number[] = [];
  const listener: Listener = {
    on: (event) => void (event.type === 'started' && pauses.push(event.pauseFrames)),
  };
  const usual = speaking();
  await deliverTo(sink, {
    segments: async function* () {
      yield* items;
    },
    speakerOf: ({ index }) => voices?.[index] ?? usual,
    mix,
    listeners: [listener],
    ...options,
  });
  const { track, pcm } = sink;
  if (!track) throw new Error('nothing was written');
  return { runs: runsOf(pcm, track.format), track, chapters: track.chapters(), pauses };
}

function runsOf(pcm: Buffer, own: PcmFormat): (number | [number])[] {
  const runs: (number | [number])[] = [];
  const size = frameBytes(own);
  for (let at = 0; at < pcm.length; at += size) {
    const isSilent = pcm.subarray(at, at + size).every((byte) => byte === 0);
    const last = runs.at(-1);
    if (isSilent && Array.isArray(last)) last[0] += 1;
    else if (!isSilent && typeof last === 'number') runs[runs.length - 1] = last + 1;
    else runs.push(isSilent ? [1] : 1);
  }
  return runs;
}

const place = { source: '' };
const say = (text: string): Piece<never> => ({ kind: 'text', text, place });
const pause = (seconds: number): Piece<never> => ({ kind: 'pause', seconds });
const paragraph: Piece<never> = { kind: 'paragraph' };
const heading: Piece<never> = { kind: 'heading', level: 1 };
const scene: Piece<never> = { kind: 'scene' };
const chapter = (title: string): Piece<never> => ({ kind: 'chapter', title, level: 1 });

function cut(...pieces: Piece<never>[]): (Segment | Silence)[] {
  const segmenter = new Cutter({
    voice: { ...asRole(silent), maxChars: 100 },
    pace: 'full',
    cutsParagraphs: true,
  });
  return [...pieces.flatMap((piece) => [...segmenter.push(piece)]), ...segmenter.end()];
}

describe('pauses', () => {
  it.each<[string, Piece<never>[], (number | [number])[]]>([
    ['a border of paragraphs', [say('a'), paragraph, say('b')], [100, [500], 100]],
    ['a scene next to a heading', [say('a'), paragraph, scene, heading, say('b')], [100, [700], 100]],
    ['a mark instead of a scene', [say('a'), pause(2), scene, say('b')], [100, [2000], 100]],
    ['a border of chapters', [say('a'), chapter('B'), say('b')], [100, [800], 100]],
    ['no border in front of the first part', [chapter('A'), say('a')], [100]],
    ['a mark instead of a border', [say('a'), pause(2), paragraph, say('b')], [100, [2000], 100]],
    ['a mark without silence instead of a border', [say('a'), pause(0), paragraph, say('b')], [200]],
    ['a mark in front of the first part', [pause(1), say('a')], [[1000], 100]],
    ['a mark at the end of the text', [say('a'), pause(1.5)], [100, [1500]]],
    [
      'marks on both sides of a border of chapters',
      [say('a'), pause(2), chapter('B'), pause(1), say('b')],
      [100, [3000], 100],
    ],
  ])('are written to the frame: %s', async (_, pieces, runs) => {
    for (const window of [1, 2, 8]) expect((await hear(cut(...pieces), { window })).runs).toEqual(runs);
  });

  it('are told with the part that they come before', async () => {
    const pieces = [pause(1), chapter('A'), say('a'), pause(2), chapter('B'), say('b'), paragraph, say('c')];
    expect((await hear(cut(...pieces))).pauses).toEqual([1000, 2000, 500]);
  });

  it('have no border in front of the first part that is heard, if the one before it was spared', async () => {
    const refused = new TtsError('refused', { exitCode: ExitCode.service });
    const failing = speakerThat(() => Promise.reject(refused));
    const maySkip = (error: unknown): error is TtsError => error === refused;
    const heard = await hear(cut(say('a'), paragraph, say('b')), { voices: [failing], maySkip });
    expect([heard.runs, heard.pauses]).toEqual([[100], [0]]);
  });

  it.each<[string, Piece<never>[], boolean]>([
    ['a part alone', [say('a')], true],
    ['a part with a pause in front of it', [pause(1), say('a')], false],
    ['a part with a rest', [say('a'), pause(1)], false],
  ])('are no part of a size that a voice promises: %s', async (_, pieces, isKnown) => {
    const { track } = await hear(cut(...pieces), { voices: [speaking(format, 'engine', 200)], window: 8 });
    expect(track.bytes).toBe(isKnown ? 200 : undefined);
  });
});

describe('chapters', () => {
  it('are noted in frames, and the silence between two belongs to the first', async () => {
    const pieces = [chapter('A'), say('a'), paragraph, say('b'), chapter('B'), say('c'), pause(1)];
    expect((await hear(cut(...pieces))).chapters).toEqual([
      { title: 'A', level: 1, start: 0, end: 1500 },
      { title: 'B', level: 1, start: 1500, end: 2600 },
    ]);
  });

  it('begin after what is heard before the first of them, and with the track otherwise', async () => {
    expect((await hear(cut(say('a'), chapter('B'), say('b')))).chapters).toEqual([
      { title: 'B', level: 1, start: 900, end: 1000 },
    ]);
    expect((await hear(cut(pause(1), chapter('A'), say('a')))).chapters).toEqual([
      { title: 'A', level: 1, start: 0, end: 1100 },
    ]);
  });
});

describe('voices of other formats', () => {
  const stereo: PcmFormat = { encoding: 'float', sampleRate: 3_000, channels: 2, bitsPerSample: 32 };
  const bytes: PcmFormat = { encoding: 'integer', sampleRate: 800, channels: 1, bitsPerSample: 24 };
  const three = [0, 1, 2].map((index) => segmentOf('text', index));

  it('are brought to that of the first part, to the frame', async () => {
    for (const [first, ...others] of [
      [format, stereo, bytes],
      [stereo, bytes, format],
      [bytes, format, stereo],
    ] as const) {
      const voices = [first, ...others].map((own) => speaking(own));
      const { track, pauses } = await hear(three, { voices });
      expect(track.format).toEqual(first);
      expect(pauses).toEqual([0, first.sampleRate / 2, first.sampleRate / 2]);
    }
    const { track } = await hear(three, { voices: [format, stereo, bytes].map((own) => speaking(own)) });
    expect(track.format).toEqual(format);
  });

  it.each([
    ['known before', 800],
    ['known from its first answer', undefined],
  ])('are brought to the rate of the speaker of the run, which is %s', async (_, sampleRate) => {
    const { voice, ...rest } = speaking(bytes);
    const lead = { ...rest, voice: { ...voice, sampleRate } };
    const { track, runs } = await hear(three, { voices: [speaking(stereo), speaking(), lead], lead });
    expect(track.format).toEqual({ ...stereo, sampleRate: 800 });
    const frames = runs.flat().reduce((sum, count) => sum + count, 0);
    expect(frames).toBe(3 * 80 + 2 * 400);
  });

  it('are brought to that of the first part if the speaker of the run says nothing soon', async () => {
    const voices = [stereo, format, bytes].map((own) => speaking(own));
    expect((await hear(three, { voices, lead: speaking() })).track.format).toEqual(stereo);
  });

  it('are refused if their rate is out of all proportion, which would take too much memory', async () => {
    const strange = { ...format, sampleRate: 1_000_000 };
    const voices = [format, strange, format].map((own) => speaking(own));
    await expect(hear(three, { voices })).rejects.toThrow('part 2 of the speech came as 1000000 Hz');
  });

  it('may be two voices of one service, but one voice of a service keeps to its format', async () => {
    const [one, other] = [speaking(format, 'service'), speaking(stereo, 'service')];
    expect((await hear(three, { voices: [one, other, one] })).track.format).toEqual(format);
    const changing = (kind: 'engine' | 'service') => {
      const turns = [one, other, other];
      const speaker = speakerThat((...asked) => (turns.shift() ?? one).voice.source.speak(...asked), {
        kind,
      });
      return hear(three, { voices: [speaker, speaker, speaker], window: 1 });
    };
    await expect(changing('service')).rejects.toMatchObject({
      exitCode: ExitCode.service,
      message:
        'part 2 of the speech came as 3000 Hz, stereo, 32-bit float, the first as 1000 Hz, mono, 16-bit integer',
    });
    expect((await changing('engine')).track.format).toEqual(format);
  });
});

it('The silence of a border is shorter by the time in which nothing was heard; that of a mark is not.', () => {
  const mixer = new Mixer(mix, format);
  const before = (pause: Segment['pause'], idle: number) =>
    mixer.pauseBefore({ segment: { ...segmentOf('One.', 0), pause }, silence: undefined }, idle);
  before('paragraph', 0);
  const silences = [before('paragraph', 0), before('paragraph', 0.2), before('heading', 9), before(2, 9)];
  expect(silences.map((seconds) => Math.round(seconds * 10) / 10)).toEqual([0.5, 0.3, 0, 2]);
});
