import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readInstructions } from '../../../src/engines/style.ts';
import { withinSeconds } from '../../support/clock.ts';

const plain = { rate: 1, pitch: 1, loudness: 1, pause: 1 };

describe('readInstructions', () => {
  it.each([
    ['slowly', { rate: 0.8 }],
    ['Speak very slowly and softly.', { rate: 0.64, loudness: 0.5 }],
    ['twice as fast', { rate: 2 }],
    ['three times as fast', { rate: 3 }],
    ['twice as slowly', { rate: 0.5 }],
    ['at 0.8 speed', { rate: 0.8 }],
    ['at 80% speed', { rate: 0.8 }],
    ['at half the normal speed', { rate: 0.5 }],
    ['1.5x', { rate: 1.5 }],
    ['20 percent faster', { rate: 1.2 }],
    ['slower by 20%', { rate: 0.8 }],
    ['100% faster', { rate: 2 }],
    ['150 percent faster', { rate: 2.5 }],
    ['three times faster', { rate: 3 }],
    ['louder by 100%', { loudness: 2 }],
    ['100% higher', { pitch: 2 }],
    ['200% longer pauses', { pause: 3 }],
    ['100% shorter pauses', { pause: 0 }],
    ['1/2 speed', { rate: 0.5 }],
    ['½ speed', { rate: 0.5 }],
    ['at ¾ of the normal speed', { rate: 0.75 }],
    ['1½ times as fast', { rate: 1.5 }],
    ['1 1/2x', { rate: 1.5 }],
    ['1/2x', { rate: 0.5 }],
    ['one third the speed', { rate: 0.333 }],
    ['.5 speed', { rate: 0.5 }],
    ['a bit faster', { rate: 1.118 }],
    ['speak a bit more slowly', { rate: 0.894 }],
    ['slow down a bit', { rate: 0.894 }],
    ['not too fast', { rate: 0.894 }],
    ['don’t speak so fast', { rate: 0.894 }],
    ['deep', { pitch: 0.8 }],
    ['in a very deep, slow voice', { pitch: 0.64, rate: 0.8 }],
    ['HIGH-PITCHED and VERY LOUD', { pitch: 1.25, loudness: 2 }],
    ['a little higher', { pitch: 1.118 }],
    ['loud', { loudness: 1.5 }],
    ['slightly louder than usual', { loudness: 1.225 }],
    ['quietly', { loudness: 0.5 }],
    ['whisper', { loudness: 0.3 }],
    ['low volume', { loudness: 0.5 }],
    ['pause longer between sentences', { pause: 2 }],
    ['Please pause much longer between the sentences', { pause: 4 }],
    ['with slightly longer pauses between sentences', { pause: Math.round(1000 * Math.SQRT2) / 1000 }],
    ['shorter breaks', { pause: 0.5 }],
    ['no pauses', { pause: 0 }],
    [
      'a bit slower, much deeper; loud, and pause longer',
      { rate: 0.894, pitch: 0.64, loudness: 1.5, pause: 2 },
    ],
  ])('understands all of "%s"', (text, changes) => {
    expect(readInstructions(text)).toEqual({ style: { ...plain, ...changes }, ignored: [] });
  });

  it.each([
    ...["don't", 'do not', 'dont', 'never', 'not', 'should not', "can't", 'no need to', 'try not to'].flatMap(
      (not) =>
        [
          'shout',
          'whisper',
          'speak up',
          'turn it up',
          'turn down the volume',
          'speed up',
          'slow down',
          'hurry',
        ].map((verb) => `${not} ${verb}`),
    ),
    ...['no', 'without', 'without any', 'avoid', 'stop', 'instead of', 'not', 'less'].flatMap((not) =>
      ['shouting', 'whispering'].map((verb) => `${not} ${verb}`),
    ),
    ...['not a whisper', 'not in a whisper', 'no whisper', 'without hurry', 'no rush', 'don’t shout at me'],
    ...["I don't want you to shout", "don't be shouting", 'by no means shout', "don't raise your voice"],
    ...["don't shout or whisper", 'never shout, or whisper', "don't shout and don't whisper"],
    ...['not twice as fast', "don't be 20% louder", 'never at 0.5 speed', "don't pause longer"],
  ])('understands all of "%s", which changes nothing', (text) => {
    expect(readInstructions(text)).toEqual({ style: plain, ignored: [] });
  });

  it.each([
    ...[
      'never loud',
      "don't be loud",
      'do not be so loud',
      'without being loud',
      'no loud voice',
      "isn't loud",
    ],
    ...[
      'not at all loud',
      'never very loud',
      'not a bit louder',
      'hardly loud',
      'avoid speaking loudly',
      'no louder',
    ],
  ])('takes "%s" as "not loud"', (text) => {
    expect(readInstructions(text)).toEqual(readInstructions('not loud'));
    expect(readInstructions(text).style.loudness).toBeLessThan(1);
  });

  it.each([
    ['never fast', { rate: 0.894 }],
    ['do not use a deep voice', { pitch: 1.118 }],
    ['no long pauses', { pause: Math.round(1000 * Math.SQRT1_2) / 1000 }],
    ['never pause', { pause: 0 }],
    ['avoid pauses after sentences', { pause: 0 }],
    ['neither loud nor fast', { rate: 0.894, loudness: 0.816 }],
    ['not loud or too fast', { rate: 0.894, loudness: 0.816 }],
    ['not less loud', { loudness: 1.225 }],
    ['speak up but don’t shout', { loudness: 1.5 }],
    ['quietly, never whispering', { loudness: 0.5 }],
    ["slow down don't shout", { rate: 0.8 }],
    ['no pauses, no shouting, slowly', { rate: 0.8, pause: 0 }],
    ['not overly fast', { rate: 0.894 }],
    ["don't be super loud", { loudness: 0.816 }],
    ['no need for shouting', {}],
    ["don't start whispering", {}],
    ['not in such a loud voice', { loudness: 0.816 }],
  ])('knows what is denied in "%s", and what is not', (text, changes) => {
    expect(readInstructions(text)).toEqual({ style: { ...plain, ...changes }, ignored: [] });
  });

  it.each([
    ["don't stop shouting", { loudness: 1.5 }, ["don't stop"]],
    ["don't be afraid to shout", { loudness: 1.5 }, ["don't be afraid"]],
    ['not only loud', { loudness: 1.5 }, ['not only']],
    ['not loud enough', { loudness: 1.5 }, ['not', 'enough']],
    ['speed up not too much', { rate: 1.25 }, ['not too much']],
    ['never without pauses', {}, ['never without pauses']],
    ['never cheerful', {}, ['never cheerful']],
    ["why don't you speak louder", { loudness: 1.5 }, ["why don't"]],
    ["can't you speak louder", { loudness: 1.5 }, ["can't"]],
    ["wouldn't you pause longer", { pause: 2 }, ["wouldn't"]],
    ['why not slower', { rate: 0.8 }, ['why not']],
  ])('takes no denial from "%s"', (text, changes, ignored) => {
    expect(readInstructions(text)).toEqual({ style: { ...plain, ...changes }, ignored });
  });

  it.each([
    ['turn the volume up', { loudness: 1.5 }],
    ['raise your voice', { loudness: 1.5 }],
    ['lower your voice', { loudness: 0.5 }],
  ])('understands "%s"', (text, changes) => {
    expect(readInstructions(text)).toEqual({ style: { ...plain, ...changes }, ignored: [] });
  });

  it.each(['not ', "don't be so ", 'not loud or ', 'no a b c or ', 'stop '])(
    'does not take long over thousands of words: %s',
    (words) => withinSeconds(3, () => readInstructions(words.repeat(10_000))),
  );

  it.each([
    ['', []],
    ['cheerful', ['cheerful']],
    ['Please speak slowly like a pirate, and cheerfully.', ['like a pirate', 'cheerfully']],
    ['Read this calmly at normal speed', ['calmly']],
    ['use 2 voices', ['2 voices']],
    ['constructor, __proto__', ['constructor', '__proto__']],
    ['very', ['very']],
    ['slowly, and a bit', ['bit']],
    ['Be very cheerful.', ['very cheerful']],
    ['0,8 speed', ['0', '8']],
    ['at -1 speed', ['-1']],
    ['1/0 speed', ['1/0']],
    ['1/0.5 speed', ['1/0.5']],
    ['4/5/6x', ['4/5/6x']],
  ])('says what it ignores in "%s"', (text, ignored) => {
    expect(readInstructions(text).ignored).toEqual(ignored);
  });

  it.each([
    ['at 0 speed', { rate: 0.25 }, ['0 speed']],
    ['10 times slower', { rate: 0.25 }, ['10 times slower']],
    ['like a robot, at 100 speed, deep', { rate: 4, pitch: 0.8 }, ['like a robot', '100 speed']],
    ['3 times as high', { pitch: 2 }, ['3 times as high']],
    ['300% louder', { loudness: 2 }, ['300% louder']],
    ['100% slower', { rate: 0.25 }, ['100% slower']],
    ['200% quieter, 200% quieter', { loudness: 0.1 }, ['200% quieter', '200% quieter']],
    ['pauses 9 times as long', { pause: 5 }, ['pauses 9 times as long']],
    ['3x, twice as fast', { rate: 4 }, ['3x', 'twice as fast']],
    ['4x', { rate: 4 }, []],
    ['extremely loud', { loudness: 2 }, []],
  ])('says what it cannot do of "%s"', (text, changes, ignored) => {
    expect(readInstructions(text)).toEqual({ style: { ...plain, ...changes }, ignored });
  });

  it('keeps every style within what the engine takes, whatever is asked for', () => {
    const words = fc.constantFrom(
      ...[
        'very',
        'extremely',
        'slowly',
        'fast',
        '0 times',
        '999999999999 times',
        'as fast',
        'as slow',
        '0% speed',
      ],
      ...[
        'deep',
        'high',
        'loud',
        'soft',
        'longer pauses',
        'no pauses',
        'faster',
        'not',
        'by',
        ',',
        '300%',
        "don't",
        'or',
        'shout',
      ],
    );
    fc.assert(
      fc.property(fc.array(words, { maxLength: 40 }), (instructions) => {
        const { rate, pitch, loudness, pause } = readInstructions(instructions.join(' ')).style;
        expect(rate).toBeGreaterThanOrEqual(0.25);
        expect(rate).toBeLessThanOrEqual(4);
        expect(pitch).toBeGreaterThanOrEqual(0.5);
        expect(pitch).toBeLessThanOrEqual(2);
        expect(loudness).toBeGreaterThanOrEqual(0.1);
        expect(loudness).toBeLessThanOrEqual(2);
        expect(pause).toBeGreaterThanOrEqual(0);
        expect(pause).toBeLessThanOrEqual(5);
      }),
    );
  });

  it('takes any text', () => {
    const property = fc.property(fc.string({ unit: 'binary' }), (text) => void readInstructions(text));
    expect(() => fc.assert(property)).not.toThrow();
  });
});
