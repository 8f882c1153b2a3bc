import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { frameBytes, type PcmFormat } from '../../../src/sound/pcm.ts';
import { readWav, WavError } from '../../../src/sound/wav.ts';
import { hear } from './body.ts';
import { chunk, extensibleFmt, fmt, plainWav, riff, sound } from './wav-builder.ts';

const format: fc.Arbitrary<PcmFormat> = fc
  .tuple(
    fc.constantFrom(
      ...[8, 16, 24, 32].map((bitsPerSample) => ({ encoding: 'integer' as const, bitsPerSample })),
      { encoding: 'float' as const, bitsPerSample: 32 },
    ),
    fc.integer({ min: 1, max: 768_000 }),
    fc.integer({ min: 1, max: 8 }),
  )
  .map(([sample, sampleRate, channels]) => ({ ...sample, sampleRate, channels }));

const otherChunk = fc
  .record({
    id: fc.constantFrom('LIST', 'JUNK', 'bext', 'fact', 'C2PA', 'id3 '),
    content: fc.uint8Array({ maxLength: 60 }),
    pad: fc.boolean(),
  })
  .map(({ id, content, pad }) => chunk(id, content, { pad }));

/** The only chunk that can be told from samples without a size; whatever stands after it is then told as well. */
const listChunk = fc
  .record({
    kind: fc.constantFrom('INFO', 'adtl'),
    content: fc.uint8Array({ maxLength: 60 }),
    pad: fc.boolean(),
  })
  .map(({ kind, content, pad }) => chunk('LIST', Buffer.concat([Buffer.from(kind), content]), { pad }));

const unknownSize = fc.constantFrom(0, 0x7fff_ffff, 0x7fff_f000, 0xffff_ffff, 0xffff_ffdb, 2_000_000_000);

/** How one WAV in a body is laid out, around samples that are given to it. */
const layout = fc.record({
  before: fc.array(otherChunk, { maxLength: 3 }),
  between: fc.array(otherChunk, { maxLength: 2 }),
  list: fc.option(listChunk),
  after: fc.array(otherChunk, { maxLength: 2 }),
  extensible: fc.boolean(),
  late: fc.boolean(),
  pad: fc.boolean(),
});

type Layout = typeof layout extends fc.Arbitrary<infer T> ? T : never;

function exactWav(pcm: Uint8Array, of: PcmFormat, { before, between, after, ...how }: Layout): Buffer {
  const fmtChunk = chunk('fmt ', how.extensible ? extensibleFmt(of) : fmt(of));
  const data = chunk('data', pcm, { pad: how.pad });
  const middle = how.late ? [data, ...between, fmtChunk] : [fmtChunk, ...between, data];
  return riff([...before, ...middle, ...after]);
}

function endlessWav(pcm: Uint8Array, size: number, of: PcmFormat, how: Layout): Buffer {
  const data = chunk('data', pcm, { size, pad: false });
  const behind = how.list === null ? [] : [how.list, ...how.after];
  return riff([...how.before, chunk('fmt ', fmt(of)), ...how.between, data, ...behind], 'RIFF', 0xffff_ffff);
}

/** A body of one or more WAVs, and the samples in them. */
const body = fc
  .record({
    format,
    parts: fc.array(fc.record({ layout, frames: fc.integer({ min: 1, max: 200 }), size: unknownSize }), {
      minLength: 1,
      maxLength: 4,
    }),
    endless: fc.boolean(),
  })
  .map(({ format, parts, endless }) => {
    const pcms = parts.map(({ frames }, i) => sound(frames * frameBytes(format), i));
    const wavs = parts.map(({ layout, size }, i) => {
      const pcm = pcms[i] ?? Buffer.alloc(0);
      return endless ? endlessWav(pcm, size, format, layout) : exactWav(pcm, format, layout);
    });
    return { format, wav: Buffer.concat(wavs), pcm: Buffer.concat(pcms) };
  });

/** Lengths of pieces; used over and over until the bytes are all torn up. */
const tears = fc.array(fc.oneof(fc.integer({ min: 0, max: 20 }), fc.integer({ min: 1, max: 3000 })), {
  minLength: 1,
  maxLength: 20,
});

async function* torn(bytes: Uint8Array, lengths: readonly number[]): AsyncGenerator<Uint8Array> {
  let at = 0;
  for (let i = 0; at < bytes.length; i++) {
    const length = lengths[i % lengths.length] || (i % lengths.length === 0 ? 1 : 0);
    yield bytes.subarray(at, at + length);
    at += length;
  }
}

describe('readWav', () => {
  it('gets the same frames from any WAV, however it is torn', () =>
    fc.assert(
      fc.asyncProperty(body, tears, async ({ format, wav, pcm }, lengths) => {
        const speech = await readWav(torn(wav, lengths));
        expect(speech.format).toEqual(format);
        const pieces: Uint8Array[] = [];
        for await (const piece of speech.pcm) pieces.push(Uint8Array.from(piece));
        expect(pieces.every((piece) => piece.length > 0 && piece.length % frameBytes(format) === 0)).toBe(
          true,
        );
        expect(Buffer.concat(pieces).equals(pcm)).toBe(true);
      }),
      { numRuns: 100 },
    ));

  it('calls a body that is cut off before its last sample incomplete', () =>
    fc.assert(
      fc.asyncProperty(
        format,
        layout,
        tears,
        fc.double({ min: 0, max: 1, noNaN: true }),
        async (of, how, lengths, cut) => {
          const wav = exactWav(sound(50 * frameBytes(of)), of, { ...how, late: false, after: [] });
          const whole = wav.length - (how.pad ? (50 * frameBytes(of)) % 2 : 0);
          const short = wav.subarray(0, Math.min(whole - 1, Math.floor(cut * whole)));
          await expect(hear(torn(short, lengths))).rejects.toMatchObject({ problem: 'incomplete' });
        },
      ),
      { numRuns: 60 },
    ));

  const damage = fc.array(fc.tuple(fc.nat({ max: 100 }), fc.constantFrom(0, 1, 0x52, 0x7f, 0x80, 0xff)), {
    maxLength: 6,
  });
  const bytes = fc.oneof(
    fc.uint8Array({ maxLength: 300 }),
    fc.uint8Array({ maxLength: 300 }).map((rest) => Buffer.concat([riff([]), rest])),
    fc.uint8Array({ maxLength: 300 }).map((rest) => Buffer.concat([plainWav(sound(64), 0), rest])),
    fc.tuple(body, damage).map(([{ wav }, hits]) => {
      const hurt = Buffer.from(wav);
      for (const [at, value] of hits) hurt[at % hurt.length] = value;
      return hurt;
    }),
    fc
      .array(
        fc.tuple(
          fc.constantFrom('RIFF', 'WAVE', 'fmt ', 'data', 'LIST', 'ds64'),
          fc.uint8Array({ maxLength: 24 }),
        ),
      )
      .map((words) =>
        Buffer.concat([riff([]), ...words.flatMap(([word, rest]) => [Buffer.from(word), rest])]),
      ),
    fc
      .array(fc.constantFrom('RIFF', 'LIST', '1234', 'WAVE', 'INFO', 'adtl', 'data', 'R', 'LI', '\0\0\0\0'))
      .map((words) => plainWav(Buffer.concat([sound(64), Buffer.from(words.join(''))]), 0)),
  );

  it('makes sound or a clean error of any bytes, and the same however they are torn', () =>
    fc.assert(
      fc.asyncProperty(bytes, tears, async (given, lengths) => {
        const [whole, inTears] = [await outcome(given, [given.length]), await outcome(given, lengths)];
        expect(inTears).toEqual(whole);
      }),
      { numRuns: 200 },
    ));
});

/** The samples, as far as they came, and the error after them, if it is one that may be. */
async function outcome(bytes: Uint8Array, lengths: readonly number[]): Promise<string> {
  let pcm = '';
  try {
    const speech = await readWav(torn(bytes, lengths));
    for await (const piece of speech.pcm) {
      expect(piece.length % frameBytes(speech.format)).toBe(0);
      pcm += Buffer.from(piece).toString('hex');
    }
    expect(pcm).not.toBe('');
    return `sound ${pcm}`;
  } catch (error) {
    if (!(error instanceof WavError)) throw error;
    return `${pcm} ${error.problem} ${error.message} ${Buffer.from(error.head ?? []).toString('hex')}`;
  }
}
