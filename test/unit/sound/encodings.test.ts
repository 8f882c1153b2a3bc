import { describe, expect, it } from 'vitest';
import { ExitCode } from '../../../src/kit/error.ts';
import { assertEncodable, encodingOf, holdsChapters } from '../../../src/sound/encode/encodings.ts';
import { ffmpegFormats } from '../../../src/sound/encode/ffmpeg.ts';
import { wav } from '../../../src/sound/encode/wav.ts';

const HOW = { programs: { env: {}, platform: 'linux' }, patienceMs: 1000 } as const;

const refused = expect.objectContaining({ exitCode: ExitCode.usage });

describe('the encoding of a name', () => {
  it.each(['a.wav', 'b.WAV', 'mp3', '.mp3', 'c.mp3.wav', 'Dr. Smith', 'a.d/b', 'e.', '-'])(
    '%s is WAV',
    (name) => {
      expect(() => assertEncodable(name)).not.toThrow();
      expect(encodingOf(name, HOW)).toBe(wav);
    },
  );

  it.each([
    ['a.mp3', 'mp3'],
    ['b.Opus', 'opus'],
    ['folder.wav/c.flac', 'flac'],
    ['a.m4b', 'm4b'],
    ['a.ogg', 'ogg'],
  ])('%s is %s', (name, format) => {
    expect(() => assertEncodable(name)).not.toThrow();
    expect(encodingOf(name, HOW).name).toBe(format);
  });

  it.each(['a.mp4', 'a.AIFF', 'a.raw', 'a.pcm', 'a.txt', 'a.ü'])('%s is refused', (name) => {
    expect(() => assertEncodable(name)).toThrow(refused);
  });

  it.each([
    ['a.raw', 's16le'],
    ['a.wav', 'ulaw'],
    ['a.ogg', 'opus'],
    ['a', 'mp3'],
  ] as const)('%s may be %s', (name, encode) => {
    expect(() => assertEncodable(name, encode)).not.toThrow();
    expect(encodingOf(name, { ...HOW, encode }).name).toBe(encode);
  });

  it.each([
    ['a.wav', 'mp3'],
    ['a.wav', 's16le'],
    ['a.m4b', 'm4a'],
  ] as const)('%s cannot be %s', (name, encode) => {
    expect(() => assertEncodable(name, encode)).toThrow(refused);
  });

  it.each([
    ['mp3', true],
    ['wav', false],
    ...Object.entries(ffmpegFormats).map(([name, format]) => [name, 'tagged' in format] as const),
  ] as const)('a.%s holds chapters: %s', (name, holds) => {
    expect(holdsChapters(`a.${name}`)).toBe(holds);
  });
});
