import { describe, expect, it } from 'vitest';
import { rowKeyOf, type Shape, TextHash } from '../../../src/batch/manifest.ts';

const PAUSES = { chapter: 1.5, scene: 1.2, heading: 0.8, paragraph: 0.3, sentence: 0 };

const SHAPE: Shape = {
  owner: 'https://tts.example',
  voice: { speaker: 3, sampleRate: 22_050, instructions: 'slow' },
  mix: { pauses: PAUSES },
  maxChars: 1000,
};

const keyOf = (shape: Partial<Shape>) => rowKeyOf('Hello there.', { ...SHAPE, ...shape }).key;

describe('the key of a row', () => {
  it.each<[string, Partial<Shape>, string]>([
    ['a WAV', {}, 'fcdd4aaef28c3b1c488a0317c7b6e0a31ca39c0c6fe52c13e40649d00fafbf66'],
    [
      'a loudness',
      { mix: { pauses: PAUSES, loudness: -18 } },
      '9028e7cb68523542b86622e47e6de966282d9f0fa388df645383d721a36447be',
    ],
    [
      'a pause after sentences',
      { mix: { pauses: { ...PAUSES, sentence: 0.5 } } },
      'dddba7341678086525deb93b2b41542731b1e436e78fe8dd7b1de1725f9c5094',
    ],
    [
      'an MP3',
      { mix: { pauses: PAUSES, loudness: -18 }, encoded: ['mp3', null] },
      'fae529287275656d0cacb4472cb948cad4de0a816dc8249e91873a9a96a23acf',
    ],
    [
      'a speed',
      { voice: { ...SHAPE.voice, speed: 1.5 } },
      '367077213fb7ac0496ceb112797bc7cdb1a23a19bba3438a1c868c8ed5224367',
    ],
  ])('is that of old manifests: %s', (_, shape, key) => {
    expect(keyOf(shape)).toBe(key);
  });

  it('is the same for pieces and for the text as a whole', () => {
    const hash = new TextHash();
    hash.add('Hello ');
    hash.add('there.');
    expect(hash.finish(SHAPE).key).toBe(keyOf({}));
  });
});
