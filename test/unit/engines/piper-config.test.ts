import { describe, expect, it } from 'vitest';
import { readPiperConfig, tagOfEspeak, tokensOf } from '../../../src/engines/model-metadata.ts';
import { piperSettings } from '../../support/piper-settings.ts';

const read = (changes: object) => readPiperConfig(JSON.stringify(piperSettings(changes)));

describe("Piper's settings", () => {
  it('become tokens of one character, without line breaks', () => {
    expect(tokensOf(read({}))).toBe('_ 0\n^ 1\n$ 2\n  3\na 4\n');
  });

  it.each<[object, string]>([
    [{ phoneme_type: 'pinyin' }, '"phoneme_type" must be "espeak": sherpa-onnx makes no other phonemes'],
    [{ phoneme_type: { a: 1 } }, '"phoneme_type" must be "espeak"'],
    [{ espeak: { voice: '../../../etc/passwd' } }, '"espeak.voice" must be the name of a voice'],
    [{ espeak: { voice: 'en\0' } }, '"espeak.voice" must be the name of a voice'],
    [{ espeak: null }, '"espeak" must be an object'],
    [{ num_speakers: 1e9 }, '"num_speakers" must be 10000 or less'],
    [{ num_speakers: '3' }, '"num_speakers" must be a whole number'],
    [{ audio: { sample_rate: 96_000 } }, '"audio.sample_rate" must be 48000 or less'],
    [{ audio: [] }, '"audio.sample_rate" must be'],
    [{ phoneme_id_map: { a: [70_000] } }, '"phoneme_id_map.a.0" must be 1023 or less'],
    [{ phoneme_id_map: { a: {} } }, '"phoneme_id_map.a" must be a list'],
    [{ phoneme_id_map: { ab: [1] } }, '"phoneme_id_map" must have a symbol'],
    [{ phoneme_id_map: 'a' }, '"phoneme_id_map" must be an object'],
  ])('of a stranger are checked: %j', (changes, message) => {
    expect(() => read(changes)).toThrow(message);
  });

  it('keep what is usual in the place of what is out of bounds', () => {
    const inference = { noise_scale: -1, noise_w: 'loud', length_scale: 0 };
    const { scales, speakerNames, language } = read({
      inference,
      num_speakers: 2,
      speaker_id_map: { '\u001b[31m': 0, anna: 1, bob: 7, ['x'.repeat(100)]: 0 },
      language: { code: 'en_GB; rm' },
    });
    expect(scales).toEqual({ noiseScale: 0.667, noiseScaleW: 0.8, lengthScale: 1 });
    expect([...speakerNames]).toEqual([[1, 'anna']]);
    expect(language).toBe('en-GB');
  });

  it.each([
    ['en-gb-x-rp', 'en-GB'],
    ['en-us', 'en-US'],
    ['es-419', 'es-419'],
    ['de', 'de'],
    ['yue-x', 'yue'],
  ])('name the language of %s', (voice, tag) => {
    expect(tagOfEspeak(voice)).toBe(tag);
  });
});
