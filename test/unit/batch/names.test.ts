import { expect, it } from 'vitest';
import { chapterRows, chapterTemplate, safeName } from '../../../src/batch/split.ts';

it.each([
  ['a/b\\c:d*e?f"g<h>i|j', 'a-b-c-d-e-f-g-h-i-j'],
  ['  .hidden. ', 'hidden'],
  ['CON', '_CON'],
  ['nul.txt', '_nul.txt'],
  ['a\nb\tc\u202ed\0', 'a b c d'],
  ['../..', '-'],
  ['e\u0301', 'é'],
  ['{title}', '-title-'],
  ['', ''],
])('%j becomes %j in a name.', (title, name) => {
  expect(safeName(title, 150)).toBe(name);
});

it('A title is cut by bytes, between two characters.', () => {
  expect(safeName('ü'.repeat(200), 150)).toBe('ü'.repeat(75));
  expect(safeName(`${'a'.repeat(148)}👨‍👩‍👧`, 150)).toBe('a'.repeat(148));
});

it('Names are unique, in order and padded.', async () => {
  const names = async (template: string, titles: readonly string[]) => {
    const parsed = chapterTemplate(template);
    const chapters = titles.map((title, at) => ({ title, number: at + 1 }));
    const rows = [];
    for await (const { cells } of chapterRows(chapters, 'Book', parsed))
      rows.push(parsed.nameOf((column) => cells.get(column)));
    return rows;
  };
  expect(await names('{title}.mp3', ['A', 'a', 'A', ''])).toEqual([
    'A.mp3',
    'a (2).mp3',
    'A (3).mp3',
    'Chapter 4.mp3',
  ]);
  expect(await names('{title}.mp3', ['A (2)', 'A', 'A', 'A'])).toEqual([
    'A (2).mp3',
    'A.mp3',
    'A (3).mp3',
    'A (4).mp3',
  ]);
  expect(await names('x/{book}/{nn}.mp3', ['A', 'B'])).toEqual(['Book/01.mp3', 'Book/02.mp3']);
  const many = await names('{nn} {title}.mp3', Array(393).fill('A'));
  expect([many[0], many[392]]).toEqual(['001 A.mp3', '393 A.mp3']);
  expect([...many].sort()).toEqual(many);
});
