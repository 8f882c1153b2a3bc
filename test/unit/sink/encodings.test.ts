import { describe, expect, it } from 'vitest';
import { ExitCode } from '../../../src/error.ts';
import { wav } from '../../../src/sink/encoding/wav.ts';
import { assertEncodable, encodingOf } from '../../../src/sink/encodings.ts';

describe('the encoding of a name', () => {
  it.each(['a.wav', 'b.WAV', 'mp3', '.mp3', 'c.mp3.wav', 'd.raw', '-'])('%s is WAV', (name) => {
    expect(() => assertEncodable(name)).not.toThrow();
    expect(encodingOf(name)).toBe(wav);
  });

  it.each(['a.mp3', 'b.Opus', 'folder.wav/c.flac'])('%s is refused', (name) => {
    expect(() => assertEncodable(name)).toThrow(expect.objectContaining({ exitCode: ExitCode.usage }));
  });
});
