import fc from 'fast-check';
import { expect, test } from 'vitest';
import { completeLength } from '../../../src/text/complete.ts';
import { isOneSentence, sentences } from '../../../src/text/sentences.ts';
import { withinSeconds } from '../../support/clock.ts';
import { anyText } from './any-text.ts';

const cut = (paragraph: string) => sentences(paragraph).map((sentence) => sentence.trim());

test('Sentences joined are the paragraph, whatever it holds.', () => {
  fc.assert(
    fc.property(anyText, (text) => {
      expect(sentences(text).join('')).toBe(text);
    }),
  );
});

test('No sentence is empty, and an empty paragraph has none.', () => {
  expect(sentences('')).toEqual([]);
  fc.assert(
    fc.property(anyText, (text) => {
      expect(sentences(text)).not.toContain('');
    }),
  );
});

test('White space between two sentences belongs to the first.', () => {
  expect(sentences('  One.  Two.\n Three. ')).toEqual(['  One.  ', 'Two.\n ', 'Three. ']);
});

test.each([
  'He met Dr. Smith there.',
  'Mr. Jones and Mrs. Jones left with Prof. Weiß.',
  'Il Sig. Rossi e il Dott. Bianchi parlano.',
  'Daar komen Dhr. Jansen en Mevr. De Vries.',
  'Take a city, e.g. Berlin, i.e. Bonn.',
  'Pi is 3.14 and no more.',
  'The U.S. Army left at 5 a.m. Monday.',
  'J. R. R. Tolkien wrote it.',
  'А. С. Пушкин жил здесь.',
  'Well... he waited.',
  'Well… he waited.',
  'See No. 5 in Vol. 3, Fig. 2, of Jan. 4.',
  'It is so (see also p. 5), and cf. p. 7 and n. 3.',
  'Am 3. Oktober kam z. B. Berlin dran.',
  'See example.com/?q=a!b and file.txt or Yahoo!World',
  '"What?" he asked.',
  '— Стой! — крикнул он.',
  'Smith vs. Jones (ca. 1990).',
  'The firm Smith, Jones & Co. Ltd. London.',
  '1. The first thing.',
  'A line that is\nwrapped at some\nwidth goes on.',
  'So the letter was for\nTolkien and nobody\nelse at all.',
  'In the end it was Dr.\nSmith who had gone to the house.',
  '* * * Hello !!!',
])('%j is one sentence.', (text) => {
  expect(sentences(text)).toEqual([text]);
});

test.each([
  ['One. Two! Three? Four', ['One.', 'Two!', 'Three?', 'Four']],
  ['He lives in the U.S. The house is old.', ['He lives in the U.S.', 'The house is old.']],
  ['He came at 5 p.m. Then he left.', ['He came at 5 p.m.', 'Then he left.']],
  ['It was I. Then he left.', ['It was I.', 'Then he left.']],
  ["No. I won't.", ['No.', "I won't."]],
  ['He said "No." (Really.) "Yes!" She left.', ['He said "No."', '(Really.)', '"Yes!"', 'She left.']],
  ['“Hello.” ‘Yes.’ «Non.» Oui.', ['“Hello.”', '‘Yes.’', '«Non.»', 'Oui.']],
  ['He waited… Nobody came... Nobody.', ['He waited…', 'Nobody came...', 'Nobody.']],
  ['It is so.[1] Or not.[2][3] Who knows?', ['It is so.[1]', 'Or not.[2][3]', 'Who knows?']],
  ['他说。「你好。」走了！好？', ['他说。', '「你好。」', '走了！', '好？']],
  ['यह है। वह है।', ['यह है।', 'वह है।']],
  ['هل هذا؟ نعم.', ['هل هذا؟', 'نعم.']],
  ['First line ends.\nSecond line ends.', ['First line ends.', 'Second line ends.']],
  ['CHAPTER ONE\nIt was a dark and stormy night.', ['CHAPTER ONE', 'It was a dark and stormy night.']],
  ['Milk\nEggs\nBrown bread', ['Milk', 'Eggs', 'Brown bread']],
  ['Buy:\n- milk\n- eggs', ['Buy:', '- milk', '- eggs']],
  ['1. milk\n2. eggs', ['1. milk', '2. eggs']],
  ['A heading\n\nthe text', ['A heading', 'the text']],
])('%j is cut where it should be.', (text, expected) => {
  expect(cut(text)).toEqual(expected);
});

test('Editing a sentence moves no border beyond its neighbours, also across the windows of a long paragraph.', () => {
  const text = Array.from({ length: 3000 }, (_, i) => `Sentence number ${i}, with Dr. Smith in it. `);
  expect(sentences(text.join(''))).toEqual(text);
});

test('A megabyte without any sentence end is one sentence, in a moment.', () =>
  withinSeconds(5, () => {
    const text = 'never ending words '.repeat(55_000);
    expect(sentences(text)).toHaveLength(1);
  }));

test('A great many short sentences takes a moment.', () =>
  withinSeconds(10, () => {
    expect(sentences('It is. '.repeat(30_000))).toHaveLength(30_000);
  }));

test('A great many line breaks take a moment, also where a sentence may end at each.', () => {
  expect(completeLength(`abc${'\n'.repeat(300_000)}`, 0)).toBe(300_003);
  expect(completeLength(`abc\n${'...\n'.repeat(20_000)}`, 0)).toBeGreaterThan(0);
});

test('A text that is said to be one sentence has no border, and short plain ones are said to be.', () => {
  const segmenter = new Intl.Segmenter('en', { granularity: 'sentence' });
  const unit = fc.constantFrom(...'aB1.!?"\')]}( \t,:;-…é\u2028\r\f');
  fc.assert(
    fc.property(fc.string({ unit, maxLength: 12 }), (text) => {
      if (isOneSentence(text)) expect([...segmenter.segment(text)].length).toBeLessThan(2);
    }),
    { numRuns: 300 },
  );
  expect(['hello', 'Is it "on"?', '(Yes, it is.) '].map(isOneSentence)).toEqual([true, true, true]);
});
