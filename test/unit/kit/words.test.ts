import { describe, expect, it } from 'vitest';
import {
  bytesInWords,
  duration,
  nearestName,
  printable,
  printableLines,
  shellQuoted,
  table,
  withoutEscapes,
} from '../../../src/kit/words.ts';

it('Each column is as wide as its widest cell.', () => {
  expect(
    table([
      ['a', 'long', 'x'],
      ['longer', 'b'],
    ]),
  ).toBe('a       long  x\nlonger  b');
});

it('A wide character takes two cells, a quotation mark one.', () => {
  expect(
    table([
      ['花子', 'x'],
      ['Núñez’', 'x'],
    ]),
  ).toBe('花子    x\nNúñez’  x');
});

it('A table that is wider than its terminal breaks its widest cells between words.', () => {
  const rows = [
    ['no', 'name', 'from'],
    ['1', 'a voice of several long words', 'here'],
    ['2', 'b', 'there'],
  ];
  expect(table(rows, 26)).toBe(
    [
      'no  name          from',
      '1   a voice of    here',
      '    several long',
      '    words',
      '2   b             there',
    ].join('\n'),
  );
  expect(table(rows, 80)).toBe(table(rows));
});

it.each([
  [0, '0.0 s'],
  [9.94, '9.9 s'],
  [9.96, '10 s'],
  [59.4, '59 s'],
  [59.6, '1 min 0 s'],
  [192, '3 min 12 s'],
  [3599.7, '1 h 0 min'],
  [7500, '2 h 5 min'],
])('%d seconds in words', (seconds, words) => {
  expect(duration(seconds)).toBe(words);
});

it.each([
  [1023, '1023 bytes'],
  [1024, '1.0 KiB'],
  [1024 * 1024 - 1, '1.0 MiB'],
  [37 * 2 ** 20, '37.0 MiB'],
])('%d bytes in words', (bytes, words) => {
  expect(bytesInWords(bytes)).toBe(words);
});

it('A word is quoted for a shell where it has to be.', () => {
  expect([shellQuoted('a-b.txt'), shellQuoted("it's"), shellQuoted('')]).toEqual([
    'a-b.txt',
    `'it'\\''s'`,
    "''",
  ]);
});

describe('the nearest name', () => {
  it.each([
    ['serev', ['speakers', 'serve'], 'serve'],
    ['zhs', ['bash', 'zsh', 'fish'], 'zsh'],
    ['markdwn', ['text', 'markdown', 'html'], 'markdown'],
    ['mp33', ['wav', 'mp3', 'm4b'], 'mp3'],
    ['.mp33', ['.wav', '.mp3', '.m4b'], '.mp3'],
    ['crori', ['Māori', 'cori'], 'cori'],
    ['germna', ['Greek', 'German'], 'German'],
    ['xx', ['rms', 'slt', 'de'], undefined],
    ['', [], undefined],
  ])('of %s among %j is %s', (name, candidates, nearest) => {
    expect(nearestName(name, candidates)).toBe(nearest);
  });
});

describe('text without escape sequences', () => {
  it.each([
    ['\x1b[31mred\x1b[0m', 'red'],
    ['\x1b]0;title\x07words', 'words'],
    ['\x1b[A\x1b[Bkey', 'key'],
  ])('of %j is %j', (text, clean) => {
    expect(withoutEscapes(text)).toBe(clean);
  });

  // Node's own function takes minutes for these.
  it.each([';#', ']', '[0', '[;', ']8;;a'])('is found in time for 100,000 times ESC %s', (unit) => {
    expect(withoutEscapes(`${`\x1b${unit}`.repeat(100_000)}\nend`)).toMatch(/\nend$/);
  });
});

it.each([
  ['a\x1b[31mb\x1b]8;;http://x\x07c', 'abc'],
  ['one\r\ntwo\rthree\u2028four\x0c', 'one\ntwo\nthree\nfour\n'],
  ['\ttab \u{1F468}\u200D\u{1F469} \u202Eback\u0007\u009B2J', '\ttab \u{1F468}\u200D\u{1F469} back'],
])('Lines of text are fit for a terminal: %j', (text, fit) => {
  expect(printableLines(text)).toBe(fit);
});

it.each([
  ['a\x1b[31m\u202Eb\r\nc ', 'a [31m b c'],
  ['\u{1F442}'.repeat(500), '\u{1F442}'.repeat(500)],
  ['\u{1F442}'.repeat(501), `${'\u{1F442}'.repeat(499)}…`],
])('Text from outside is one line of at most 500 characters: %j', (text, fit) => {
  expect(printable(text)).toBe(fit);
});
