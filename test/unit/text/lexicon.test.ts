import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type ExitCode, TtsError } from '../../../src/kit/error.ts';
import { Replacing, readLexicons } from '../../../src/text/lexicon.ts';
import { writtenOf } from '../../../src/text/piece.ts';
import { withinSeconds } from '../../support/clock.ts';
import { anyText } from './any-text.ts';
import { inPieces, passed, staged, textPiece } from './pieces.ts';

const readLexicon = (source: string, name: string) => readLexicons([{ source, name }]);

async function speak(source: string, text: string, sizes: readonly number[] = [65_536]): Promise<string> {
  let spoken = '';
  const pieces = inPieces(text, ...sizes);
  for await (const piece of staged(pieces, new Replacing(readLexicon(source, 'my.txt')))) spoken += piece;
  return spoken;
}

function refusal(source: string): { message: string; exitCode: ExitCode; hint: string | undefined } {
  try {
    readLexicon(source, 'my.txt');
  } catch (error) {
    if (error instanceof TtsError) return error;
    throw error;
  }
  throw new Error('the lexicon was accepted');
}

test.each([
  ['a word', 'SQL = sequel', 'SQL, and MySQL, SQLite, SQL.', 'sequel, and MySQL, SQLite, sequel.'],
  [
    'a number, and not a part of one',
    '3 = three',
    '3, 3. 3.14 1,3 3,000 $3.',
    'three, three. 3.14 1,3 3,000 $three.',
  ],
  ['accents of either form', 'naïve = N\ncafe\u0301 = C', 'nai\u0308ve naïve café cafe\u0301', 'N N C C'],
  ['apostrophes of either form', "don't = D\ncan’t = C", "don’t don't can't can’t", 'D D C C'],
  ['one case', 'us /c = them', 'us US Us', 'them US Us'],
  ['one case, said at the end', 'us = them /c', 'us US', 'them US'],
  ['one word in two cases', 'Polish = of Poland\npolish = shine', 'polish Polish', 'shine of Poland'],
  ['any case', 'us /i = them', 'us US Us', 'them them them'],
  ['a word that ends as a flag does', 'a/c = account\nw/i = within', 'a A/C w W/I', 'a account w within'],
  ['a spoken form that ends as a flag does', 'US = u/i\nus /i = them', 'US us', 'u/i them'],
  ['what ends as a flag does, and one case', 'a/c /c = account', 'a/c A/C', 'account A/C'],
  ['the case that fits before any case', 'us /i = them\nUS = States', 'us US Us', 'them States them'],
  ['any case in other scripts', 'Σίσυφος /i = S\nпривет /i = P', 'ΣΊΣΥΦΟΣ ПРИВЕТ', 'S P'],
  [
    'a word that begins with a sign',
    '.NET = dot net',
    '.NET (.NET) ASP.NET .NETs',
    'dot net (dot net) ASP.NET .NETs',
  ],
  [
    'a word that ends with signs',
    'C++ = C plus plus',
    'C++ and C++, C++11',
    'C plus plus and C plus plus, C++11',
  ],
  ['a sign alone, anywhere', '→ = to\n% = percent', 'A→B 5%', 'AtoB 5percent'],
  [
    'the longest',
    'New = N\nNew York = N Y\nNew York City = N Y C',
    'New York City, New York, New',
    'N Y C, N Y, N',
  ],
  ['a shorter one where the longest is not whole', 'New = N\nNew York = N Y', 'New Yorker', 'N Yorker'],
  ['words across a line break', 'New York = N Y', 'New\nYork, New\n\nYork', 'N Y, New\n\nYork'],
  ['a replacement only once', 'a = b\nb = c\nc = a', 'a b c', 'b c a'],
  ['dollars in a spoken form', 'cash = $1 $& $$', 'cash', '$1 $& $$'],
  ['nothing as the spoken form', '™ =', 'Foo™ bar', 'Foo bar'],
  ['an equals sign in a word', 'E=mc² = the formula', 'E=mc²', 'the formula'],
  ['no space around the equals sign', 'a=b', 'a', 'b'],
  ['comments and empty lines', '# a = b\n\n   \n  # c = d\ne = f\r\n', 'a c e', 'a c f'],
  ['Devanagari with its vowel signs', 'क = K', 'क कि क', 'K कि K'],
  ['a mark after a letter', 'cafe = C', 'cafe\u0301 cafe', 'cafe\u0301 C'],
  ['Chinese, which has no spaces', '北京 = Beijing', '我在北京工作', '我在Beijing工作'],
  ['a regular expression', 're:/(\\d+)\\s?km/ = $1 kilometres', '5km 6 km', '5 kilometres 6 kilometres'],
  ['flags', 're:/ab/i = X', 'AB ab', 'X X'],
  ['a slash and an equals sign in an expression', 're:/a[/=]b\\/ = c/ = X', 'a/b/ = c', 'X'],
  ['what stands around an expression', 're:/(?<=€)\\d+(?=k)/ = N', '€5k 5k €5', '€Nk 5k €5'],
  ['anchors by the paragraph', 're:/^a|b$/ = X', 'a b\n\na b\n', 'X X\n\nX X\n'],
  ['no empty matches', 're:/x*/ = Y', 'axxb', 'aYb'],
  ['no empty matches, in front of an emoji neither', 're:/x*/ = Y', 'a😀xxb', 'a😀Yb'],
  ['words and expressions, the longest first', 're:/\\bfoo\\w*/ = E\nfoo = W', 'foo foobar', 'W E'],
])('A lexicon knows %s.', async (_, source, text, spoken) => {
  expect(await speak(source, text)).toBe(spoken);
  expect(await speak(source, text, [1])).toBe(spoken);
});

test.each([
  ['fine = yes\n\nfoo bar', 'my.txt, line 3: there is no "="'],
  ['= x', 'my.txt, line 1: there is no word before "="'],
  [' /i = x', 'my.txt, line 1: there is no word before "="'],
  [`${'x'.repeat(201)} = y`, 'my.txt, line 1: the word is longer than 200 characters'],
  ['a = b\na = c', 'my.txt, line 2: "a" is already on line 1'],
  ['a /i = b\nA = c /i', 'my.txt, line 2: "A" is already on line 1'],
  ['re:/a = b', 'my.txt, line 1: "re:/a = b" is not of the form re:/expression/ = replacement'],
  ['re:a = b', 'my.txt, line 1: "re:a = b" is not of the form re:/expression/ = replacement'],
  ['re:/a/y = b', 'my.txt, line 1: unknown flags "y" after the regular expression'],
  [`a = ${'b'.repeat(5000)}`, 'my.txt, line 1: it is longer than 4096 characters'],
  [`a = b${' '.repeat(500_000)}x`, 'my.txt, line 1: it is longer than 4096 characters'],
  ['re:/(a/ = b', 'my.txt, line 1: /(a/ is not a regular expression: unterminated group'],
])('The bad lexicon %j is refused with its line.', (source, message) => {
  const error = refusal(source);
  expect(error.message).toBe(message);
  expect(error.exitCode).toBe(2);
  expect(error.hint).toMatch(/\w/u);
});

const wordLexicon = `a = A1\nthe /i = THE\nthe world = T W\nDr. = Doctor\ne.g. = for example\n你好 = nihao
क्षि = K\nU.S. = US\n. = stop\n👍🏽 = thumb\n👍 = up\ne\u0301\u0323 = E\nHello, = hi\n3.14 /i = pi\n한국어 = K\nสวัสดี = S`;
const lexicons = [
  wordLexicon,
  `${wordLexicon}\nre:/\\s(the|\\p{Lu})\\b/ = [$1]\nre:/\\p{Script=Cyrillic}+/ = R\nre:/$|^./ = B`,
];

test.each(lexicons)('Whatever the pieces, the same text comes out (lexicon %#).', (source) =>
  fc.assert(
    fc.asyncProperty(
      anyText,
      fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1 }),
      async (text, sizes) => {
        expect(await speak(source, text, sizes)).toBe(await speak(source, text));
      },
    ),
    { numRuns: 60 },
  ),
);

test.each(lexicons)('Paragraphs longer than a window come out the same too (lexicon %#).', async (source) => {
  for (const unit of ['Hello the world a ', '你好世界', 'a', '👍🏽', 'x \n']) {
    const text = unit.repeat(Math.ceil(20_000 / unit.length));
    expect(await speak(source, text, [997, 8192, 3])).toBe(await speak(source, text, [1_000_000]));
  }
});

test('What is held back is bounded, also in an endless word.', async () => {
  let pulled = 0;
  async function* endless() {
    for (;;) {
      pulled += 1;
      yield 'a'.repeat(1000);
    }
  }
  for (const source of ['aaa = b', 're:/aaa/ = b']) {
    pulled = 0;
    let given = 0;
    for await (const piece of staged(endless(), new Replacing(readLexicon(source, 'my.txt')))) {
      given += piece.length;
      if (given > 100) break;
    }
    expect(pulled).toBeLessThan(20);
  }
});

test('A lexicon that the config of a project names has no regular expressions.', () => {
  expect(() => readLexicons([{ source: 'a = b\nre:/a+/ = b', name: 'my.txt', isOfProject: true }])).toThrow(
    expect.objectContaining({
      message: 'my.txt, line 2: a lexicon that the config of a project names may have no regular expressions',
      exitCode: 2,
    }),
  );
});

test('Ten thousand words in a long text take a moment.', async () => {
  const source = Array.from({ length: 10_000 }, (_, index) => `word${index} = W`).join('\n');
  const text = Array.from({ length: 20_000 }, (_, index) => `word${index % 20_000}`).join(' ');
  await withinSeconds(10, async () => {
    expect(await speak(source, text)).toContain('W word10000 word10001');
  });
});

test('What is spoken keeps the lines of what was written.', () => {
  const places = (source: string, written: string) => {
    const stage = new Replacing(readLexicon(source, 'my.txt'));
    return passed(stage, [textPiece(written), { kind: 'paragraph' }]).map((piece) =>
      piece.kind === 'text' ? [piece.place.line, piece.text] : piece.kind,
    );
  };
  expect(places('New York = NY\nCairo = Kairo', 'To New\nYork.\nTo Cairo.')).toEqual([
    [1, 'To NY'],
    [2, '.\nTo Kairo.'],
    'paragraph',
  ]);
  expect(places('re:/New\\s+York/ = NY', 'To New\nYork.\n\nTo Cairo.')).toEqual([
    [1, 'To NY'],
    [2, '.'],
    [2, '\n\n'],
    [4, 'To Cairo.'],
    'paragraph',
  ]);
});

test('A word of a later lexicon counts more.', async () => {
  const rules = readLexicons([
    { source: 'gif = jif\njpg = jay peg', name: 'a' },
    { source: 'GIF = gift\ngif = giff', name: 'b' },
  ]);
  const pieces = passed(new Replacing(rules), [textPiece('gif jpg GIF')]);
  expect(pieces.map(writtenOf).join('')).toBe('giff jay peg gift');
});

test('An entry that no text has is known as unused, a word as well as a regular expression.', async () => {
  const unused = async (source: string) => {
    const rules = readLexicon(source, 'my.txt');
    const text = staged(inPieces('The café is 5km away.', 3), new Replacing(rules));
    for await (const _ of text);
    return rules.lines.filter(({ isUsed }) => !isUsed).map(({ written, place }) => [written, place]);
  };
  expect(await unused('cafe\u0301 = bar\n\nweena = w\naway /c = off')).toEqual([['weena', 'my.txt, line 3']]);
  expect(await unused('weena = w\nre:/(\\d)km/ = $1 k\nre:/\\d{2}/ = n')).toEqual([
    ['weena', 'my.txt, line 1'],
    ['/\\d{2}/', 'my.txt, line 3'],
  ]);
});
