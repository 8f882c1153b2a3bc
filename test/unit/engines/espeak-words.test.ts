import { describe, expect, it, test } from 'vitest';
import { speakTimed } from '../../../src/engines/espeak-words.ts';
import { EXPECTED_ERROR } from '../../../src/run/words.ts';
import { align, comparableUpTo, FeatureMeter, type Features } from '../../../src/sound/align.ts';
import { isThere } from '../../support/programs.ts';

const espeak = { program: '/usr/bin/espeak-ng', env: process.env };
const { signal } = new AbortController();

const said = new Map<string, ReturnType<typeof speakTimed>>();

/** What a voice says of a text, each text once. */
async function say(text: string, voice: string) {
  const key = `${voice} ${text}`;
  const saying = said.get(key) ?? speakTimed(text, voice, espeak, signal);
  said.set(key, saying);
  const timed = await saying;
  if (!timed) throw new Error('no words');
  return timed;
}

const STORIES: readonly (readonly [language: string, text: string])[] = [
  ['de', 'Niemand wusste, woher der alte Mann gekommen war und wohin er ging.'],
  ['fr', 'Personne ne savait d’où venait le vieil homme ni où il allait.'],
  ['es', 'Nos quedamos mucho tiempo sentados delante de la casa hablando del pasado.'],
  ['it', 'Il sole splendeva e i bambini giocavano con la palla nella strada.'],
  ['nl', 'De kleine hond loopt door de tuin omdat hij een kat ziet.'],
  ['pt', 'Ninguém sabia de onde vinha o velho nem para onde ia.'],
  ['pl', 'Długo siedzieliśmy przed domem i rozmawialiśmy o dawnych czasach.'],
  ['ru', 'Никто не знал, откуда пришёл старик и куда он идёт.'],
  ['sv', 'Ingen visste varifrån den gamle mannen kom och vart han gick.'],
  ['tr', 'Uzun süre evin önünde oturup eski günlerden konuştuk.'],
];

describe.runIf(isThere('espeak-ng'))('Words of espeak-ng (skipped without it)', () => {
  test.each(STORIES)('each one has its own time: %s', async (voice, text) => {
    const { words, samples, sampleRate } = await say(text, voice);
    expect(words.map((word) => word.text)).toEqual(text.split(' '));
    for (const [at, { start, end }] of words.entries()) {
      expect(end).toBeGreaterThan(start);
      expect(start).toBeGreaterThanOrEqual(words[at - 1]?.end ?? 0);
    }
    expect(words.at(-1)?.end).toBeLessThanOrEqual(samples.length / sampleRate + 0.01);
  });

  test.each([
    ['words that are said as one', 'fr', 'Il court parce qu’il voit', ['Il', 'court', 'parce qu’il', 'voit']],
    ['a date', 'de', 'Am 25. März kam', ['Am', '25. März', 'kam']],
    ['the parts of a number', 'de', 'Über 25 000 Leute', ['Über', '25 000', 'Leute']],
    ['numbers beside each other', 'de', 'Reihe 12 30 45', ['Reihe', '12', '30', '45']],
    ['a dash', 'de', 'Ja — so sagt er', ['Ja —', 'so', 'sagt', 'er']],
    ['signs in front', 'fr', '« Bonjour ! » dit-il', ['Bonjour ! »', 'dit-il']],
    ['signs of XML', 'de', 'A & B, <b> und &lt; ja', ['A &', 'B,', '<b>', 'und', '&lt;', 'ja']],
    ['the signs of phonemes', 'de', 'eins [[zwei]] drei', ['eins [', '[zwei]]', 'drei']],
    ['a single word', 'de', 'Hallo', ['Hallo']],
  ])('%s', async (_, voice, text, expected) => {
    const { words } = await say(text, voice);
    expect(words.map((word) => word.text)).toEqual(expected);
  });

  it('are none where there is nothing to say.', async () => {
    expect(await speakTimed('  \n ', 'de', espeak, signal)).toBeUndefined();
  });

  it('are off in another voice by what files say of words that are aligned.', async () => {
    const errors: number[] = [];
    for (const [at, [language, text]] of STORIES.entries()) {
      const variant = ['+f3', '+m2', '+klatt3', '+whisper'][at % 4];
      const [known, other] = [await say(text, language), await say(text, `${language}${variant}`)];
      const alignment = align(featuresOf(known), featuresOf(other));
      expect(other.words.length).toBe(known.words.length);
      for (const [number, { start }] of other.words.entries())
        errors.push(Math.abs((alignment?.at(known.words[number]?.start ?? 0) ?? 99) - start));
    }
    errors.sort((a, b) => a - b);
    expect(errors.length).toBeGreaterThan(90);
    expect(errors.reduce((sum, error) => sum + error, 0) / errors.length).toBeLessThan(
      EXPECTED_ERROR.aligned,
    );
    expect(errors[Math.floor(0.95 * errors.length)]).toBeLessThan(0.09);
  });
});

function featuresOf({ samples, sampleRate }: Awaited<ReturnType<typeof say>>): Features {
  const meter = new FeatureMeter(sampleRate, comparableUpTo(sampleRate));
  meter.push(Float64Array.from(samples, (sample) => sample / 32_768));
  return meter.end();
}
