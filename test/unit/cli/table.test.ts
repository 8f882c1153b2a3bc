import { expect, it } from 'vitest';
import { table } from '../../../src/kit/words.ts';

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

it('Any number of rows has room.', () => {
  const rows = Array.from({ length: 300_000 }, (_, no) => [String(no), 'name']);
  expect(table(rows).split('\n')).toHaveLength(300_000);
});
