import { expect, it } from 'vitest';
import { id3Tag } from '../../../src/sound/encode/tags.ts';
import type { Chapter } from '../../../src/sound/pcm.ts';
import { readChapters, readId3, textOf } from '../../support/mp3.ts';

const RATE = 22_050;

/** Chapters of a second each. */
const chaptersNamed = (titles: readonly (string | undefined)[]): Chapter[] =>
  titles.map((title, at) => ({ title, level: 1, start: at * RATE, end: (at + 1) * RATE }));

const tagOf = (titles: readonly (string | undefined)[]) =>
  readId3(Buffer.from(id3Tag({ title: 'Book' }, chaptersNamed(titles), RATE)));

it.each([1, 2, 255, 256, 393, 511, 2014])(
  '%s chapters are reached through the tables of contents.',
  (count) => {
    const titles = Array.from({ length: count }, (_, at) => `Chapter ${at + 1}`);
    const marks = readChapters(tagOf(titles).frames);
    expect(marks.map(({ title }) => title)).toEqual(titles);
    expect(marks.map(({ start, end }) => [start, end])).toEqual(
      titles.map((_, at) => [1000 * at, 1000 * (at + 1)]),
    );
  },
);

it('Titles are kept as they are.', () => {
  const titles = [
    'a=b;c#d',
    'line\nbreak',
    'ends in a backslash\\',
    'é你𝄞\u202e',
    'ü'.repeat(150),
    undefined,
  ];
  expect(readChapters(tagOf(titles).frames).map(({ title }) => title)).toEqual(titles);
});

it('A book has its tags, and its cover.', () => {
  const bytes = Uint8Array.of(0xff, 0xd8, 0xff, 0, 1);
  const tags = {
    title: 'One',
    album: 'Book',
    author: 'Ann Author',
    narrator: 'Flite',
    language: 'de-AT',
    date: '1901-02-03',
    series: { name: 'Tales', number: '2' },
    track: { number: 3, count: 12 },
    cover: { mediaType: 'image/jpeg', bytes },
  } as const;
  const { frames } = readId3(Buffer.from(id3Tag(tags, [], RATE)));
  const texts = frames.filter(({ id }) => id.startsWith('T')).map((each) => [each.id, textOf(each)]);
  expect(Object.fromEntries(texts)).toEqual({
    TIT2: 'One',
    TALB: 'Book',
    TPE1: 'Ann Author',
    TPE2: 'Ann Author',
    TCOM: 'Flite',
    TYER: '1901',
    TCON: 'Audiobook',
    TIT1: 'Tales #2',
    TRCK: '3/12',
    TLAN: 'deu',
  });
  const cover = frames.find(({ id }) => id === 'APIC')?.content ?? Buffer.alloc(0);
  expect(cover.subarray(0, 13).toString('latin1')).toBe('\0image/jpeg\0\x03');
  expect(cover.subarray(-5)).toEqual(Buffer.from(bytes));
});

it('A sound without a name and chapters has no tag.', () => {
  expect(id3Tag({ narrator: 'Flite' }, [], RATE)).toHaveLength(0);
});
