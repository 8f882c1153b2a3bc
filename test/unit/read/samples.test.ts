import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openEpub } from '../../../src/read/epub.ts';
import { fileSource } from '../../../src/read/source.ts';
import { writtenOf } from '../../../src/text/piece.ts';
import { sampleFolder, samplesIn } from '../../support/samples.ts';
import { wordsIn, wordsOfBook } from './book-words.ts';

const folder = sampleFolder('epub');
const { signal } = new AbortController();

/** What each book calls a part that is not read. */
const LEFT_OUT: Readonly<Record<string, readonly RegExp[]>> = {
  'childrens-literature.epub': [/<section\b[^>]*"bibliography"[\s\S]*?<\/section>/],
  'hefty-water.epub': [/<case\b[\s\S]*?<\/case>/],
  'kusamakura.epub': [/表紙\.xhtml$/, /<section[^>]*epub:type="colophon"[\s\S]*<\/section>/],
  'wasteland.epub': [
    /<section\b[^>]*epub:type="titlepage"[\s\S]*?<\/section>/,
    /<section\b[^>]*epub:type="rearnotes"[\s\S]*(?=<\/body>)/,
    /<span\b[^>]*lnum[^>]*>\s*\d+\s*<\/span>/g,
  ],
};

describe.skipIf(folder === undefined)('a published book', () => {
  it.each(samplesIn(folder, '.epub'))('is read word for word: %s', async (name) => {
    const path = join(folder ?? '', name);
    const options = { speaksReadings: false, readsAll: false, readsNotes: false };
    const reading = await openEpub(fileSource(path, '/'), options, signal);
    let text = '';
    for await (const piece of reading.pieces(signal))
      text += piece.kind === 'chapter' ? '\n\n' : writtenOf(piece);
    const expected = wordsOfBook(readFileSync(path), LEFT_OUT[name]);
    // Japanese has no spaces, and its lines are joined.
    const joint = name === 'kusamakura.epub' ? '' : '\n';
    expect(wordsIn(text).join(joint)).toBe(expected.join(joint));
    expect(expected.length).toBeGreaterThan(100);
  });
});
