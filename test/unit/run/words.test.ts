import { describe, expect, it, test } from 'vitest';
import { phonesOf, spokenWords } from '../../../src/engines/flite-words.ts';
import { normalise } from '../../../src/engines/normalise.ts';
import { EXPECTED_ERROR, matchedTo, spread, wordsIn } from '../../../src/run/words.ts';
import { align, comparableUpTo, FeatureMeter, type Features } from '../../../src/sound/align.ts';
import type { TimedSound } from '../../../src/voices/timed-words.ts';
import { openTimedVoices, RATE } from '../../support/timed-voice.ts';

const SENTENCES = [
  'The quick brown fox jumps over the lazy dog near the bank of the river.',
  'She had been waiting for almost an hour, and nobody had come to the door.',
  'It was the best of times, it was the worst of times, it was the age of wisdom.',
  "Please call me back before seven o'clock, because I will leave the office early today.",
  'In 1998 the company sold twenty five thousand machines to customers in Europe and Asia.',
  'The old man and the sea were friends, although neither of them would ever admit it.',
  'He opened the letter slowly, read it twice, and put it back into his pocket.',
  'Do you know how many miles it is from the village to the next railway station?',
];
const said = await openTimedVoices();
const measured = new Map<TimedSound, Features>();

/** What a voice says, for alignments, measured once. */
function featuresOf(name: string, text: string): Features {
  const sound = said(name, text);
  const known = measured.get(sound);
  if (known) return known;
  const meter = new FeatureMeter(RATE, comparableUpTo(RATE, 16_000));
  for (const piece of sound.pieces) meter.push(Float64Array.from(piece, (sample) => sample / 32_768));
  const features = meter.end();
  measured.set(sound, features);
  return features;
}

describe('Words of a sound whose times are known', () => {
  test.each(['slt', 'awb', 'kal16'])('%s, aligned to rms, is off by 30 ms or less on average', (voice) => {
    const errors = SENTENCES.flatMap((text) => {
      const [known, other] = [said('rms', text), said(voice, text)];
      const alignment = align(featuresOf('rms', text), featuresOf(voice, text));
      return other.words.flatMap(({ start, end }, at) => [
        Math.abs((alignment?.at(known.words[at]?.start ?? 0) ?? 99) - start),
        Math.abs((alignment?.at(known.words[at]?.end ?? 0) ?? 99) - end),
      ]);
    }).sort((a, b) => a - b);
    expect(errors.length).toBeGreaterThan(200);
    expect(errors.reduce((sum, error) => sum + error, 0) / errors.length).toBeLessThan(0.03);
    expect(errors[Math.floor(0.95 * errors.length)]).toBeLessThan(0.09);
  });

  it('is found in a long sound as well, behind a sentence that is missing.', () => {
    const before = SENTENCES.slice(0, 4).join(' ');
    const [whole, lacking] = [`${before} ${SENTENCES[5]} ${before}`, `${before} ${before}`];
    const [known, other] = [said('rms', whole), said('slt', lacking)];
    const missing = known.words.length - other.words.length;
    const alignment = align(featuresOf('rms', whole), featuresOf('slt', lacking));
    const errors = other.words.slice(-50).map(({ start }, at) => {
      const word = known.words[other.words.length - 50 + at + missing];
      return Math.abs((alignment?.at(word?.start ?? 0) ?? 99) - start);
    });
    expect(missing).toBeGreaterThan(10);
    expect(errors.reduce((sum, error) => sum + error, 0) / errors.length).toBeLessThan(0.03);
    expect(alignment?.missing).toBeGreaterThan(2);
    expect(alignment?.extra).toBeLessThan(0.6);
  });

  const story = [SENTENCES[1], SENTENCES[6], SENTENCES[5], SENTENCES[7]].join(' ');
  test.each([
    ['all of it', 'slt', story, [0, 0]],
    ['all of it', 'awb', story, [0, 0]],
    ['all of it', 'kal16', story, [0, 0]],
    ['a sentence less', 'slt', story.replace(SENTENCES[5] ?? '', ''), [1, 0]],
    ['the first sentence less', 'awb', story.replace(SENTENCES[1] ?? '', ''), [1, 0]],
    ['the last sentence less', 'kal16', story.replace(SENTENCES[7] ?? '', ''), [1, 0]],
    ['half of it', 'slt', story.slice(0, story.length / 2), [1, 0]],
    ['a sentence twice', 'awb', story.replace(SENTENCES[5] ?? '', '$& $&'), [0, 1]],
    ['a sentence more at the end', 'kal16', `${story} ${SENTENCES[3]}`, [0, 1]],
    ['a sentence more at its beginning', 'slt', `${SENTENCES[3]} ${story}`, [0, 1]],
  ])('shows what is missing and what is added: %s (%s)', (_, voice, text, expected) => {
    const alignment = align(featuresOf('rms', story), featuresOf(voice, text));
    const { missing = 0, extra = 0 } = alignment ?? {};
    expect([missing > 0.8 ? 1 : 0, extra > 1.2 ? 1 : 0]).toEqual(expected);
  });

  it('is off by what files say of times that are spread.', () => {
    const errors = SENTENCES.flatMap((text) => {
      const { words, seconds } = said('rms', text);
      const written = wordsIn(text);
      const known = matchedTo(written, words, seconds);
      return spread(written, 0, seconds).map(({ start }, at) => Math.abs(start - (known[at]?.start ?? 99)));
    });
    const mean = errors.reduce((sum, error) => sum + error, 0) / errors.length;
    expect(mean).toBeGreaterThan(0.8 * EXPECTED_ERROR.spread);
    expect(mean).toBeLessThan(1.2 * EXPECTED_ERROR.spread);
  });

  it('is the same as that of the sound itself.', () => {
    const [text = ''] = SENTENCES;
    const { words } = said('kal16', text);
    const alignment = align(featuresOf('kal16', text), featuresOf('kal16', text));
    for (const { start } of words) expect(alignment?.at(start)).toBeCloseTo(start, 1);
  });

  it('begins with a phone of Flite, and with no other.', () => {
    for (const text of SENTENCES) {
      const { words } = said('rms', text);
      expect(words.map((word) => word.text).join(' ')).toBe(normalise(text));
      for (const [at, { start, end }] of words.entries()) {
        expect(end).toBeGreaterThan(start);
        expect(start).toBeGreaterThanOrEqual(words[at - 1]?.end ?? 0);
      }
    }
  });
});

test.each([
  [
    'each phone of its word',
    'pau:0.1 hh:0.2 ax:0.3 l:0.4 ow:0.5 w:0.6 er:0.7 l:0.8 d:0.9 pau:1.0',
    [
      [0.1, 0.5],
      [0.5, 0.9],
    ],
  ],
  [
    'a pause between',
    'pau:0.1 hh:0.2 ax:0.3 l:0.4 ow:0.5 pau:0.7 w:0.8 er:0.9 l:1.0 d:1.1',
    [
      [0.1, 0.5],
      [0.7, 1.1],
    ],
  ],
  [
    'another vowel',
    'hh:0.2 eh:0.3 l:0.4 ow:0.5 w:0.6 er:0.7 l:0.8 d:0.9',
    [
      [0, 0.5],
      [0.5, 0.9],
    ],
  ],
  [
    'a phone that is dropped',
    'hh:0.2 ax:0.3 ow:0.5 w:0.6 er:0.7 l:0.8 d:0.9',
    [
      [0, 0.5],
      [0.5, 0.9],
    ],
  ],
  [
    'a phone more',
    'hh:0.2 ax:0.3 l:0.4 ow:0.5 w:0.6 er:0.7 l:0.8 d:0.9 z:1.0',
    [
      [0, 0.5],
      [0.5, 1],
    ],
  ],
  [
    'a word without a phone',
    'hh:0.2 ax:0.3 l:0.4 ow:0.5',
    [
      [0, 0.5],
      [0.5, 0.5],
    ],
  ],
])('Phones are divided among words: %s', (_, printed, times) => {
  const alone = new Map([
    ['hello', 'pau:0.1 hh:0.2 ax:0.3 l:0.4 ow:0.5 pau:0.6'],
    ['world', 'pau:0.1 w:0.6 er:0.7 l:0.8 d:0.9 pau:1'],
  ]);
  const words = spokenWords('hello world', phonesOf(printed), (word) => phonesOf(alone.get(word) ?? ''));
  expect(words.map(({ start, end }) => [start, end])).toEqual(times);
});

const spoken = (text: string) => text.split(' ').map((word, at) => ({ text: word, start: at, end: at + 1 }));

test.each([
  [
    'the same words',
    'one two three',
    'one two three',
    [
      [0, 1],
      [1, 2],
      [2, 3],
    ],
  ],
  [
    'signs around a word',
    '“One,” two!',
    'One, two',
    [
      [0, 1],
      [1, 2],
    ],
  ],
  [
    'an accent',
    'café noir',
    'cafe noir',
    [
      [0, 1],
      [1, 2],
    ],
  ],
  [
    'a number of several words',
    'in 1998 it',
    'in nineteen ninety eight it',
    [
      [0, 1],
      [1, 4],
      [4, 5],
    ],
  ],
  [
    'a sign that is a word',
    'costs €5 now',
    'costs 5 euros now',
    [
      [0, 1],
      [1, 3],
      [3, 4],
    ],
  ],
  [
    'a dash of its own',
    'one — two',
    'one two',
    [
      [0, 1],
      [1, 1],
      [1, 2],
    ],
  ],
  [
    'words that the voice leaves out',
    '世界 hello',
    'hello',
    [
      [0, 0],
      [0, 1],
    ],
  ],
  [
    'nothing in common',
    'aa bb',
    'x y',
    [
      [0, 1],
      [1, 2],
    ],
  ],
  [
    'a word twice',
    'the the cat',
    'the the cat',
    [
      [0, 1],
      [1, 2],
      [2, 3],
    ],
  ],
  ['more after the end', 'one', 'one two', [[0, 2]]],
])('Words get the times of those that the voice got: %s', (_, text, heard, times) => {
  const timed = matchedTo(wordsIn(text), spoken(heard), 9);
  expect(timed.map(({ start, end }) => [start, end])).toEqual(times);
  expect(timed.map((word) => word.text)).toEqual(text.split(' '));
});

test.each([
  ['a b', [0, 2]],
  ['  a\nb ', [2, 4]],
  ['well-known, isn’t it?', [0, 12, 18]],
])('Words stand between white space: %j', (text, places) => {
  expect(wordsIn(text).map(({ at }) => at)).toEqual(places);
});

it('Scripts without spaces have words.', () => {
  const text = '私は昨日東京で友達と一緒に新しい映画を見てから家に帰りました。';
  const words = wordsIn(text);
  expect(words.length).toBeGreaterThan(8);
  expect(words.map((word) => word.text).join('')).toBe(text);
});
