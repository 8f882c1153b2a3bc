import { expect, it } from 'vitest';
import { table } from '../../../../src/cli/terminal/style.ts';

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

it('Any number of rows has room.', () => {
  const rows = Array.from({ length: 300_000 }, (_, no) => [String(no), 'name']);
  expect(table(rows).split('\n')).toHaveLength(300_000);
});
