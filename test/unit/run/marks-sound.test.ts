import fc from 'fast-check';
import { expect, it } from 'vitest';
import { plain } from '../../../src/read/plain.ts';
import type { Source } from '../../../src/read/reading.ts';
import { wordsSource } from '../../../src/read/source.ts';
import { RunText, type TextPlan } from '../../../src/run/text.ts';
import { converted } from '../../../src/sound/convert.ts';
import { type PcmFormat, type Speech, silentPieces } from '../../../src/sound/pcm.ts';
import type { Speaker } from '../../../src/sound/voice.ts';
import { asRole, Cast } from '../../../src/voices/cast.ts';
import { deliverTo, MemorySink, NO_PAUSES } from '../../support/memory-sink.ts';
import { speakerThat, utteranceOf } from '../../support/speaker.ts';
import { collect } from '../sound/body.ts';

/** A voice whose sound is the text: each UTF-16 unit is a frame. */
function voiceOf(sampleRate: number): Speaker {
  const format: PcmFormat = { encoding: 'integer', sampleRate, channels: 1, bitsPerSample: 16 };
  const speak = async ({ text }: { readonly text: string }): Promise<Speech> => {
    const samples = Int16Array.from(text, (unit) => 100 * (unit.charCodeAt(0) % 300) + 1);
    async function* pcm() {
      yield new Uint8Array(samples.buffer);
    }
    return { format, bytes: samples.byteLength, pcm: pcm() };
  };
  return speakerThat(speak, { kind: 'engine', maxChars: 60, sampleRate });
}

const VOICES = { own: voiceOf(8000), a: voiceOf(12_000), b: voiceOf(5000) };
type Name = keyof typeof VOICES;

async function speechOf(text: string, voice: Name): Promise<Speech> {
  return (await VOICES[voice].voice.source.speak(utteranceOf(VOICES[voice], text), signal)) as Speech;
}

async function formatOf(voice: Name): Promise<PcmFormat> {
  return (await speechOf('', voice)).format;
}

const settings = { marks: { value: true }, voices: undefined } as unknown as Parameters<typeof Cast.open>[0];
const signal = new AbortController().signal;

async function openText(pieces: readonly string[], isLive: boolean): Promise<RunText> {
  const cast = await Cast.open(settings, { cast: async ({ value }) => VOICES[value as Name] });
  const bytes = async function* () {
    yield* pieces.map((piece) => Buffer.from(piece));
  };
  const source: Source = { name: '-', again: isLive ? undefined : bytes, bytes };
  return RunText.open(planOf(source, 'own', cast), signal);
}

async function sound(pieces: readonly string[], isLive: boolean): Promise<Buffer> {
  const text = await openText(pieces, isLive);
  const sink = new MemorySink(isLive);
  await deliverTo(sink, {
    segments: (until) => text.segments(isLive, until),
    speakerOf: (segment) => segment.role.speaker,
    mix: { pauses: { ...NO_PAUSES, paragraph: 0.02 } },
    lead: VOICES.own,
  });
  return sink.pcm;
}

function planOf(source: Source, voice: Name, cast?: Cast): TextPlan {
  return {
    sources: () => [{ source, reader: plain }],
    stages: [],
    role: asRole(VOICES[voice]),
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
              run.pcm ? await inFormat(run.pcm, await formatOf(voice), to) : quiet(to, run.seconds),
            );
          expected.push(quiet(to, pause / 1000));
        }
        const text = marked.join(' ');
        const at = cut % text.length;
        const pieces = isLive ? [text.slice(0, at), text.slice(at)] : [text];
        expect((await sound(pieces, isLive)).equals(Buffer.concat(expected))).toBe(true);
      },
    ),
    { numRuns: 30 },
  ));

function quiet(format: PcmFormat, seconds: number): Buffer {
  return Buffer.concat([...silentPieces(format, seconds)]);
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
    if (segment.kind === 'silence') continue;
    if (segment.pause === 'paragraph' && runs.length > 0) runs.push({ seconds: 0.02 });
    runs.push({ pcm: await collect((await speechOf(segment.text, voice)).pcm), seconds: 0 });
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
