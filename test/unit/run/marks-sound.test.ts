import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Sink } from '../../../src/out/sink.ts';
import { plain } from '../../../src/read/plain.ts';
import type { Source } from '../../../src/read/reading.ts';
import { wordsSource } from '../../../src/read/source.ts';
import { deliver } from '../../../src/run/run.ts';
import { RunText, type TextPlan } from '../../../src/run/text.ts';
import { converted } from '../../../src/sound/convert.ts';
import { type PcmFormat, type Speech, silence } from '../../../src/sound/pcm.ts';
import { Cast, type Role } from '../../../src/voices/cast.ts';
import type { Voice } from '../../../src/voices/voice.ts';
import { collect } from '../sound/body.ts';

/** A voice whose sound is the text: each UTF-16 unit is a frame. */
function voiceOf(label: string, sampleRate: number): Voice {
  const format: PcmFormat = { encoding: 'integer', sampleRate, channels: 1, bitsPerSample: 16 };
  const speak = async ({ text }: { readonly text: string }): Promise<Speech> => {
    const samples = Int16Array.from(text, (unit) => 100 * (unit.charCodeAt(0) % 300) + 1);
    async function* pcm() {
      yield new Uint8Array(samples.buffer);
    }
    return { format, bytes: samples.byteLength, pcm: pcm() };
  };
  const shape = { identity: label, speaker: 1, sampleRate: undefined, instructions: undefined };
  return {
    label,
    name: undefined,
    language: undefined,
    kind: 'engine',
    maxChars: 60,
    sampleRate,
    speed: undefined,
    atOnce: 2,
    shape,
    speak,
    isKept: () => false,
    request: () => '',
  };
}

const VOICES = { own: voiceOf('own', 8000), a: voiceOf('a', 12_000), b: voiceOf('b', 5000) };
type Name = keyof typeof VOICES;

async function formatOf(voice: Name): Promise<PcmFormat> {
  const speech = await VOICES[voice].speak({ text: '', index: 0 }, signal);
  return (speech as Speech).format;
}

const settings = { marks: { value: true }, voices: undefined } as unknown as Parameters<typeof Cast.open>[0];
const signal = new AbortController().signal;

async function openText(pieces: readonly string[], isLive: boolean): Promise<RunText> {
  const cast = await Cast.open(settings, { cast: async ({ value }) => VOICES[value as Name] });
  const bytes = async function* () {
    yield* pieces.map((piece) => Buffer.from(piece));
  };
  const source: Source = { name: '-', isLive, size: undefined, again: isLive ? undefined : bytes, bytes };
  return RunText.open(planOf(source, 'own', cast), signal);
}

async function sound(pieces: readonly string[], isLive: boolean): Promise<Buffer> {
  const text = await openText(pieces, isLive);
  let pcm: Buffer = Buffer.alloc(0);
  const sink: Sink = {
    isLive,
    async write(track) {
      pcm = await collect(track.pcm);
      return { bytes: pcm.length, writtenBytes: pcm.length, readerLeft: false };
    },
    discard: async () => {},
  };
  const { sampleRate } = await formatOf('own');
  await deliver({
    segments: (until) => text.segments(isLive, until),
    voiceOf: ({ voice }) => (voice as Partial<Role>).voice ?? VOICES.own,
    window: 4,
    mix: { pauses: { chapter: 0, scene: 0, heading: 0, paragraph: 0.02, sentence: 0 } },
    lead: { voice: VOICES.own, sampleRate },
    sink,
    blank: () => text.blank(),
    listeners: [],
    signal,
  });
  return pcm;
}

function planOf(source: Source, voice: Name, cast?: Cast): TextPlan {
  return {
    sources: () => [{ source, reader: plain }],
    stages: [],
    voice: VOICES[voice],
    cast: cast?.plan,
    pace: 'by output',
    cutsParagraphs: false,
  };
}

const WORDS = ['One.', 'Two and three.', 'Is it [sic]?', 'So,\n\nfour', 'Dr. Smith'];
const part = fc.record({
  voice: fc.constantFrom<Name>('own', 'a', 'b'),
  words: fc.array(fc.constantFrom(...WORDS), { minLength: 1 }),
  pause: fc.integer({ min: 1, max: 40 }),
});

it('A text with marks sounds as its parts, spoken one by one and joined with exact silence.', () =>
  fc.assert(
    fc.asyncProperty(
      fc.array(part, { minLength: 1, maxLength: 5 }),
      fc.boolean(),
      fc.nat(),
      async (all, isLive, cut) => {
        // What is heard live is cut at its first sentence.
        const parts = all.map(({ words, ...each }) => ({
          ...each,
          words: isLive ? (words[0] ?? '').replace('\n\n', ' ') : words.join(' '),
        }));
        const marked = parts.map(({ voice, words, pause }) => {
          const name = voice === 'own' ? '' : `:${voice}`;
          return `[voice${name}]${words}[pause:${pause}ms]`;
        });
        const to = await formatOf('own');
        const expected: Uint8Array[] = [];
        for (const { voice, words, pause } of parts) {
          for (const run of await spokenAlone(words, voice))
            expected.push(
              run.pcm ? await inFormat(run.pcm, await formatOf(voice), to) : silent(to, run.seconds),
            );
          expected.push(silent(to, pause / 1000));
        }
        const text = marked.join(' ');
        const at = cut % text.length;
        const pieces = isLive ? [text.slice(0, at), text.slice(at)] : [text];
        expect((await sound(pieces, isLive)).equals(Buffer.concat(expected))).toBe(true);
      },
    ),
    { numRuns: 30 },
  ));

function silent(format: PcmFormat, seconds: number): Buffer {
  return Buffer.concat([...silence(format, seconds)]);
}

interface Run {
  readonly pcm?: Buffer;
  readonly seconds: number;
}

/** The segments of a part as its voice speaks them, and the silence between its paragraphs. */
async function spokenAlone(words: string, voice: Name): Promise<readonly Run[]> {
  const runs: Run[] = [];
  const text = await RunText.open(planOf(wordsSource(words), voice), signal);
  for await (const segment of text.segments(false, signal)) {
    if (segment.kind === 'rest') continue;
    if (segment.pause === 'paragraph' && runs.length > 0) runs.push({ seconds: 0.02 });
    const speech = await VOICES[voice].speak(segment, signal);
    runs.push({ pcm: await collect((speech as Speech).pcm), seconds: 0 });
  }
  return runs;
}

async function inFormat(pcm: Buffer, format: PcmFormat, to: PcmFormat): Promise<Buffer> {
  if (format.sampleRate === to.sampleRate) return pcm;
  async function* pieces() {
    yield pcm;
  }
  return collect(converted({ format, bytes: undefined, pcm: pieces() }, to).pcm);
}
