import { describe, expect, it } from 'vitest';
import { readWav, type WavError, type WavProblem } from '../../../src/sound/wav.ts';
import { collect, hear, inPieces, WatchedBody } from './body.ts';
import { chunk, fmt, fmtChunk, plainWav, riff, sound, speechFormat } from './wav-builder.ts';

/** Sound that looks like a header to those who do not look closely. */
const decoy = Buffer.from('RIFF1234WAVE\0\0\0\0RIFF');
const pcm = Buffer.concat([decoy, sound(1980)]);
const data = chunk('data', pcm);
const text = Buffer.from('made by a test');

function ds64(dataBytes: bigint): Buffer {
  const content = Buffer.alloc(28);
  content.writeBigUInt64LE(dataBytes, 0);
  content.writeBigUInt64LE(dataBytes, 8);
  return chunk('ds64', content);
}

const endless = (size: number) => chunk('data', pcm, { size, pad: false });
const info = chunk('LIST', Buffer.from('INFOISFT\x0e\0\0\0made by a test'));
const labels = chunk('LIST', Buffer.from('adtllabl\x06\0\0\0\x01\0\0\0a\0'));
const placeholders = [0, 0x7fff_ffff, 0xffff_ffff, 0x7fff_f024, 2_000_000_000];

const variations: readonly (readonly [string, Buffer])[] = [
  ['the plainest WAV', plainWav(pcm)],
  [
    'JUNK, bext and fact chunks',
    riff([chunk('JUNK', sound(28)), fmtChunk, chunk('bext', sound(602)), chunk('fact', sound(4)), data]),
  ],
  ['an odd chunk without its padding', riff([chunk('LIST', sound(15), { pad: false }), fmtChunk, data])],
  ['the data before the format', riff([data, chunk('LIST', text), fmtChunk])],
  ['a fmt chunk of 1000 bytes', riff([chunk('fmt ', fmt(speechFormat, { extra: Buffer.alloc(984) })), data])],
  ['a wrong byte rate', riff([chunk('fmt ', fmt(speechFormat, { byteRate: 1 })), data])],
  ['a wrong block align', riff([chunk('fmt ', fmt(speechFormat, { blockAlign: 7 })), data])],
  ['samples of 12 bits in 16', riff([chunk('fmt ', fmt(speechFormat, { bits: 12 })), data])],
  ['chunks after the data', riff([fmtChunk, data, chunk('C2PA', sound(15_043)), chunk('LIST', text)])],
  [
    'a chunk after the data that is cut off',
    riff([fmtChunk, data, chunk('C2PA', sound(100), { size: 15_043 })]),
  ],
  ['zeros after the data', riff([fmtChunk, data, Buffer.alloc(5000)])],
  ['a RIFF size of 0', riff([fmtChunk, data], 'RIFF', 0)],
  [
    'RF64 with its size in ds64',
    riff([ds64(2000n), fmtChunk, endless(0xffff_ffff), chunk('LIST', text)], 'RF64', 0xffff_ffff),
  ],
  ['RF64 without a size', riff([ds64(0n), fmtChunk, endless(0xffff_ffff)], 'RF64', 0xffff_ffff)],
  [
    'RF64 with a size that is none',
    riff([ds64(0xffff_ffff_ffff_ffffn), fmtChunk, endless(0xffff_ffff)], 'RF64'),
  ],
  ['BW64', riff([ds64(2000n), fmtChunk, endless(0xffff_ffff)], 'BW64', 0xffff_ffff)],
  ...placeholders.map((size) => [`a data size of ${size}`, plainWav(pcm, size)] as const),
  ['a LIST chunk after endless data', riff([fmtChunk, endless(0xffff_ffff), info])],
  ['a LIST chunk after endless data that is cut off', riff([fmtChunk, endless(0), info.subarray(0, 15)])],
  [
    'a LIST chunk after endless data, and others after it',
    riff([fmtChunk, endless(0), info, chunk('C2PA', sound(15_043)), labels, chunk('id3 ', text)]),
  ],
  [
    'a LIST chunk after RF64 without a size',
    riff([ds64(0n), fmtChunk, endless(0xffff_ffff), info], 'RF64', 0xffff_ffff),
  ],
];

const wavs = (count: number, size?: number) =>
  Array.from({ length: count }, (_, i) => plainWav(pcm.subarray(i * 500, i * 500 + 500), size));

const furtherHeaders: readonly (readonly [string, Buffer])[] = [
  ['a WAV that says the size of all for each chunk', Buffer.concat(wavs(4, 2000))],
  ['exact WAVs after one without a size', Buffer.concat([...wavs(1, 0), ...wavs(4).slice(1)])],
  [
    'a LIST chunk between WAVs without a size',
    Buffer.concat(wavs(4, 0).flatMap((wav) => [wav, info, labels])),
  ],
  ['a LIST chunk after WAVs whose size is that of all', Buffer.concat([...wavs(4, 2000), info])],
  [
    'a further header with more chunks in it',
    Buffer.concat([
      plainWav(pcm.subarray(0, 500), 0),
      riff([chunk('LIST', text), fmtChunk, chunk('data', pcm.subarray(500), { size: 0 })]),
    ]),
  ],
  ['an empty WAV at the end', Buffer.concat([...wavs(4), plainWav(Buffer.alloc(0))])],
];

describe('readWav', () => {
  it.each([...variations, ...furtherHeaders])('reads %s', async (_, wav) => {
    for (const size of [1, 7, 100_000]) {
      const speech = await hear(inPieces(wav, size));
      expect(speech.format).toEqual(speechFormat);
      expect(speech.pcm.equals(pcm)).toBe(true);
    }
  });

  it('takes samples at the end for what they are, even where the bytes after make a header of them', async () => {
    const samples = Buffer.concat([pcm, Buffer.from('RIFF')]);
    const behind = chunk('LIST', text, { size: Buffer.from('WAVE').readUInt32LE() });
    const speech = await hear(inPieces(riff([fmtChunk, chunk('data', samples), behind]), 64));
    expect(speech.pcm.equals(samples)).toBe(true);
  });

  it.each([undefined, 0])('drops a last frame that is not whole, with a data size of %s', async (size) => {
    const wav = plainWav(pcm.subarray(0, 999), size);
    const speech = await hear(inPieces(wav, 100), { bodyBytes: wav.length });
    expect(speech.pcm.equals(pcm.subarray(0, 998))).toBe(true);
    expect(speech.bytes).toBe(size === undefined ? 998 : undefined);
  });

  it('takes what only resembles a chunk for sound', async () => {
    const words = [
      'RIFF',
      'RIFF1234WAVE',
      'RIFF1234WAVE\0\0\0\0',
      'RIFFRIFFRIFF',
      'RRIFF',
      'RIFF1234INFOISFT',
    ];
    words.push('LIST', 'LIST1234INF', 'LIST1234info', 'LIST1234WAVEfmt ', 'LLIST', 'LISTRIFF', 'id3 1234ID3');
    for (const bytes of words.map((word) => Buffer.from(word)))
      for (const size of [undefined, 0])
        for (const pieces of [1, 5, 1000]) {
          const tricky = Buffer.concat([sound(100), bytes, sound(101), bytes]);
          const speech = await hear(inPieces(plainWav(tricky, size), pieces));
          expect(speech.pcm.equals(tricky.subarray(0, tricky.length & ~1)), `${bytes}`).toBe(true);
        }
  });

  it('takes what would be a LIST chunk for sound where the size says so', async () => {
    const samples = Buffer.concat([pcm, info, pcm, info]);
    expect((await hear(inPieces(plainWav(samples), 7))).pcm.equals(samples)).toBe(true);
  });

  it('hands out only whole frames, and large pieces without a copy', async () => {
    const format = { ...speechFormat, bitsPerSample: 24 };
    const piece = sound(65_536);
    const speech = await readWav(new WatchedBody([plainWav(Buffer.alloc(0), 0, format), piece, piece]));
    const pieces: Uint8Array[] = [];
    for await (const part of speech.pcm) pieces.push(part);
    expect(pieces.map((part) => part.length % 3)).toEqual([0, 0, 0]);
    expect(pieces.map((part) => part.buffer === piece.buffer)).toEqual([true, false, true]);
  });

  describe('says how many bytes there will be', () => {
    const wav = plainWav(pcm);
    const late = riff([data, fmtChunk]);
    const behind = chunk('LIST', sound(200));
    it.each([
      ['where the body has no room for a further WAV', wav, 0, 2000],
      ['where there is room for chunks only', wav, 40, 2000],
      ['where what is behind the samples belongs to the WAV', riff([fmtChunk, data, behind]), 0, 2000],
      ['not where the header does not say so', plainWav(pcm, 0xffff_ffff), 0, undefined],
      ['not where a further WAV may follow', wav, 44, undefined],
      ['not where it is more than there is', plainWav(pcm, 500_000), 0, undefined],
      ['not where one may follow a late format', late, 44, undefined],
      ['not where nobody knows what follows', wav, undefined, undefined],
    ])('%s', async (_, body, more, bytes) => {
      const options = more === undefined ? {} : { bodyBytes: body.length + more };
      expect((await readWav(inPieces(body), options)).bytes).toBe(bytes);
    });
  });

  it('resolves and gives samples before the rest of the body is there', async () => {
    const never = new Promise<void>(() => {});
    async function* live() {
      yield plainWav(Buffer.alloc(0), 0);
      yield pcm;
      await never;
    }
    const speech = await readWav(live());
    const first = await speech.pcm[Symbol.asyncIterator]().next();
    expect(first.value).toEqual(pcm);
  });

  it('reads the body to its end, so that what goes wrong there is seen', async () => {
    async function* reset() {
      yield plainWav(pcm);
      throw new Error('connection reset');
    }
    const speech = await readWav(reset());
    await expect(collect(speech.pcm)).rejects.toThrow('connection reset');
  });

  it('lets go of the body once when its reader leaves', async () => {
    const body = new WatchedBody([plainWav(Buffer.alloc(0), 0), pcm, pcm, pcm]);
    for await (const _ of (await readWav(body)).pcm) break;
    expect([body.returned, body.pulled]).toEqual([1, 2]);
  });

  it('tells of kilobytes after the samples that are no chunk', async () => {
    const leftovers: number[] = [];
    const options = { onLeftover: (bytes: number) => void leftovers.push(bytes) };
    const wav = riff([fmtChunk, data, Buffer.alloc(5000, 7)]);
    expect((await hear(inPieces(wav, 999), options)).pcm.equals(pcm)).toBe(true);
    expect(leftovers).toEqual([5000]);
    const quiet = [
      plainWav(pcm),
      riff([fmtChunk, data, Buffer.alloc(1000)]),
      riff([fmtChunk, data, chunk('LIST', sound(9000))]),
      Buffer.concat([plainWav(pcm), plainWav(pcm)]),
    ];
    for (const wav of quiet) await hear(inPieces(wav, 999), options);
    expect(leftovers).toEqual([5000]);
  });

  it('refuses two formats that differ', async () => {
    const other = chunk('fmt ', fmt({ ...speechFormat, sampleRate: 8000 }));
    await expect(readWav(inPieces(riff([fmtChunk, other, data])))).rejects.toMatchObject({
      problem: 'format-changed',
      message:
        'WAV with two fmt chunks that differ: 22050 Hz, mono, 16-bit integer and 8000 Hz, mono, 16-bit integer',
    });
  });
});

const withFmt = (content: Uint8Array) => riff([chunk('fmt ', content), data]);

async function failure(body: AsyncIterable<Uint8Array>): Promise<WavError> {
  return hear(body).then(
    () => expect.unreachable('this body was read'),
    (error) => error,
  );
}

const broken: readonly (readonly [string, WavProblem, RegExp, Buffer])[] = [
  ['an empty body', 'incomplete', /empty/, Buffer.alloc(0)],
  ['a body of two bytes', 'incomplete', /within its header/, Buffer.from('RI')],
  ['a body that ends within its header', 'incomplete', /within its header/, plainWav(pcm).subarray(0, 30)],
  ['a header and no more', 'incomplete', /without a single sample/, plainWav(Buffer.alloc(0))],
  [
    'a LIST chunk instead of samples, without a size',
    'incomplete',
    /without a single/,
    plainWav(chunk('LIST', Buffer.from('INFO')), 0),
  ],
  ['half a sample', 'incomplete', /without a single sample/, plainWav(Buffer.alloc(1))],
  ['half of the samples', 'incomplete', /1000 of 2000 bytes/, plainWav(pcm.subarray(0, 1000), 2000)],
  [
    'a second WAV that breaks off',
    'incomplete',
    /5 of 9 bytes/,
    Buffer.concat([plainWav(pcm), plainWav(sound(5), 9)]),
  ],
  ['a WAV without a data chunk', 'incomplete', /within its header/, riff([fmtChunk])],
  [
    'a fmt chunk that claims 4 GB',
    'incomplete',
    /within its header/,
    riff([chunk('fmt ', fmt(speechFormat), { size: 0xffff_fffe }), data]),
  ],
  ['A-law', 'unsupported', /A-law/, withFmt(fmt(speechFormat, { tag: 6, bits: 8 }))],
  ['an unknown codec', 'unsupported', /codec 4660/, withFmt(fmt(speechFormat, { tag: 0x1234 }))],
  [
    'an extension that is cut short',
    'unsupported',
    /18 bytes/,
    withFmt(fmt(speechFormat, { tag: 0xfffe, extra: Buffer.alloc(2) })),
  ],
  ['no channel', 'unsupported', /0 channels/, withFmt(fmt({ ...speechFormat, channels: 0 }))],
  ['a sample rate of 0', 'unsupported', /0 Hz/, withFmt(fmt({ ...speechFormat, sampleRate: 0 }))],
  ['64-bit integers', 'unsupported', /64-bit integer/, withFmt(fmt(speechFormat, { bits: 64 }))],
  ['a short fmt chunk', 'unsupported', /14 bytes/, withFmt(fmt(speechFormat).subarray(0, 14))],
  [
    'bytes that are no chunk',
    'unsupported',
    /no chunk begins at byte 12/,
    riff([Buffer.alloc(50), fmtChunk, data]),
  ],
  [
    'endless data before its format',
    'unsupported',
    /before their format/,
    riff([chunk('data', pcm, { size: 0 }), fmtChunk]),
  ],
  ['RIFX', 'unsupported', /big-endian/, riff([fmtChunk, data], 'RIFX')],
  [
    'Wave64',
    'unsupported',
    /Wave64/,
    Buffer.concat([Buffer.from('726966662e91cf11a5d628db04c10000', 'hex'), pcm]),
  ],
  [
    'a second WAV in stereo',
    'format-changed',
    /from 22050 Hz, mono, 16-bit integer to 22050 Hz, stereo/,
    changing(),
  ],
];

function changing(): Buffer {
  return Buffer.concat([plainWav(pcm), plainWav(pcm, undefined, { ...speechFormat, channels: 2 })]);
}

describe('readWav refuses', () => {
  it.each(broken)('%s as %s', async (_, problem, message, body) => {
    for (const size of [1, 7, 100_000]) {
      const error = await failure(inPieces(body, size));
      expect(error).toMatchObject({ name: 'WavError', problem, message: expect.stringMatching(message) });
    }
  });

  it.each([
    ['JSON', Buffer.from('{"error":"no such speaker"}')],
    ['two bytes of text', Buffer.from('ok')],
    ['HTML', Buffer.from('<!doctype html><title>502</title>')],
    ['MP3', Buffer.from('fffb9064000f', 'hex')],
    ['Ogg', Buffer.concat([Buffer.from('OggS\0\x02'), sound(4000)])],
    ['another kind of RIFF', riff([data]).fill('AVI ', 8, 12)],
  ])('%s as no WAV, and hands over how it begins', async (_, body) => {
    for (const size of [1, 7, 100_000]) {
      const error = await failure(inPieces(body, size));
      expect(error.problem).toBe('not-wav');
      expect(Buffer.from(error.head ?? []).equals(body.subarray(0, 1024))).toBe(true);
    }
  });

  it.each([10, 30, 500])(
    'nothing itself where the body fails at byte %i: its error is passed on',
    async (at) => {
      const reset = new Error('connection reset');
      async function* body() {
        yield plainWav(pcm).subarray(0, at);
        throw reset;
      }
      expect(await failure(body())).toBe(reset);
    },
  );

  it('a chunk of 4 GB without keeping it', async () => {
    const block = Buffer.alloc(16 * 1024 * 1024);
    let largest = 0;
    async function* body() {
      yield riff([]);
      yield chunk('JUNK', Buffer.alloc(0), { size: 0xffff_fffe });
      for (let i = 0; i < 256; i++) {
        yield block;
        largest = Math.max(largest, process.memoryUsage.rss());
      }
    }
    const before = process.memoryUsage.rss();
    expect((await failure(body())).problem).toBe('incomplete');
    expect(largest - before).toBeLessThan(100e6);
  });
});
