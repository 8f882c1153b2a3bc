import { describe, expect, it } from 'vitest';
import type { WavError, WavProblem } from '../../../src/sound/wav.ts';
import { hear, inPieces } from './body.ts';
import { chunk, extensibleFmt, fmt, fmtChunk, plainWav, riff, sound, speechFormat } from './wav-builder.ts';

const pcm = sound(2000);
const data = chunk('data', pcm);
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
  ['a WAV without a fmt chunk', 'incomplete', /within its header/, riff([data])],
  ['RF64 that breaks off', 'incomplete', /2000 of 5000/, rf64(5000n)],
  [
    'a fmt chunk that claims 4 GB',
    'incomplete',
    /within its header/,
    riff([chunk('fmt ', fmt(speechFormat), { size: 0xffff_fffe }), data]),
  ],
  ['A-law', 'unsupported', /A-law/, withFmt(fmt(speechFormat, { tag: 6, bits: 8 }))],
  ['mu-law', 'unsupported', /mu-law/, withFmt(fmt(speechFormat, { tag: 7, bits: 8 }))],
  ['MP3 in WAV', 'unsupported', /MP3/, withFmt(fmt(speechFormat, { tag: 85 }))],
  ['an unknown codec', 'unsupported', /codec 4660/, withFmt(fmt(speechFormat, { tag: 0x1234 }))],
  [
    'an unknown subformat',
    'unsupported',
    /subformat/,
    withFmt(extensibleFmt(speechFormat, '0100000000001000800000aa00389b72')),
  ],
  [
    'an extension that is cut short',
    'unsupported',
    /18 bytes/,
    withFmt(fmt(speechFormat, { tag: 0xfffe, extra: Buffer.alloc(2) })),
  ],
  ['no channel', 'unsupported', /0 channels/, withFmt(fmt({ ...speechFormat, channels: 0 }))],
  ['65 channels', 'unsupported', /65 channels/, withFmt(fmt({ ...speechFormat, channels: 65 }))],
  ['a sample rate of 0', 'unsupported', /0 Hz/, withFmt(fmt({ ...speechFormat, sampleRate: 0 }))],
  [
    'a sample rate of 4 GHz',
    'unsupported',
    /4294967295 Hz/,
    withFmt(fmt({ ...speechFormat, sampleRate: 0xffff_ffff })),
  ],
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
  [
    '17 MB of data before its format',
    'unsupported',
    /before their format/,
    riff([chunk('data', pcm, { size: 17e6 }), fmtChunk]),
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
  ['a second WAV in stereo amid the data', 'format-changed', /stereo/, changing(0)],
];

function rf64(bytes: bigint): Buffer {
  const content = Buffer.alloc(28);
  content.writeBigUInt64LE(bytes, 8);
  return riff([chunk('ds64', content), fmtChunk, chunk('data', pcm, { size: 0xffff_ffff })], 'RF64');
}

function changing(size?: number): Buffer {
  return Buffer.concat([plainWav(pcm, size), plainWav(pcm, size, { ...speechFormat, channels: 2 })]);
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
