import { describe, expect, it } from 'vitest';
import { ExitCode } from '../../../src/error.ts';
import { wav } from '../../../src/sink/encoding/wav.ts';
import { assertEncodable, encodingOf } from '../../../src/sink/encodings.ts';

describe('the encoding of a name', () => {
  it.each(['a.wav', 'b.WAV', 'mp3', '.mp3', 'c.mp3.wav', 'Dr. Smith', 'a.d/b', 'e.', '-'])(
    '%s is WAV',
    (name) => {
      expect(() => assertEncodable(name)).not.toThrow();
      expect(encodingOf(name)).toBe(wav);
    },
  );

  it.each([
    'a.mp3',
    'b.Opus',
    'folder.wav/c.flac',
    'a.m4b',
    'a.mp4',
    'a.AIFF',
    'a.raw',
    'a.pcm',
    'a.txt',
    'a.ü',
  ])('%s is refused', (name) => {
    expect(() => assertEncodable(name)).toThrow(expect.objectContaining({ exitCode: ExitCode.usage }));
  });
});
