import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openEpub } from '../../../src/read/epub.ts';
import type { About } from '../../../src/read/reading.ts';
import { fileSource } from '../../../src/read/source.ts';
import { type BookParts, epubOf } from '../../support/epub.ts';
import { emptyFolder } from '../../support/folder.ts';

const { signal } = new AbortController();

async function about(parts: Omit<BookParts, 'documents'>): Promise<About> {
  const path = join(emptyFolder(), 'book.epub');
  writeFileSync(path, epubOf({ documents: { 'a.xhtml': 'Text' }, ...parts }));
  const options = { readsNotes: false, speaksReadings: false, speaksTitles: true, readsAll: false };
  return (await openEpub(fileSource(path, '/'), options, signal)).about ?? {};
}

it('A book of EPUB 3 says what it is.', async () => {
  const metadata = `<dc:title id="s">A Tale</dc:title><meta refines="#s" property="title-type">subtitle</meta>
    <dc:title id="m"> The
    Book </dc:title><meta refines="#m" property="title-type">main</meta>
    <dc:creator id="i">Ida Illustrator</dc:creator><meta refines="#i" property="role">ill</meta>
    <dc:creator>Ann Author</dc:creator><dc:creator>Ben Author</dc:creator>
    <dc:language>de-AT</dc:language><dc:date>1901-02-03T00:00:00Z</dc:date>
    <dc:description>&lt;p&gt;Of &lt;b&gt;men&lt;/b&gt; &amp;amp; mice.&lt;/p&gt;&lt;p&gt;By&lt;br/&gt;Ann&lt;/p&gt;</dc:description>
    <meta property="belongs-to-collection" id="c">Tales</meta><meta refines="#c" property="group-position">2</meta>`;
  expect(await about({ metadata })).toEqual({
    title: 'The Book',
    author: 'Ann Author, Ben Author',
    language: 'de-AT',
    date: '1901-02-03',
    description: 'Of men & mice. By Ann',
    series: { name: 'Tales', number: '2' },
  });
});

it('A book of EPUB 2 says what it is, and has a cover.', async () => {
  const metadata = `<dc:title>The Book</dc:title><dc:creator opf:role="trl">Tom Translator</dc:creator>
    <dc:creator opf:role="aut">Ann Author</dc:creator><dc:date opf:event="modification">2020</dc:date>
    <dc:date>1901</dc:date><meta name="cover" content="pic"/>
    <meta name="calibre:series" content="Tales"/><meta name="calibre:series_index" content="3.0"/>`;
  const manifest = '<item id="pic" href="c.jpg" media-type="image/jpeg"/>';
  const files = [{ name: 'EPUB/c.jpg', data: 'a picture' }];
  const { cover, ...told } = await about({ metadata, manifest, files });
  expect(told).toMatchObject({
    title: 'The Book',
    author: 'Ann Author',
    date: '1901',
    series: { name: 'Tales', number: '3' },
  });
  expect(String(await cover?.(signal))).toBe('a picture');
});

it('A book may say nothing, and its cover may be missing.', async () => {
  const manifest = '<item id="pic" href="c.jpg" properties="cover-image" media-type="image/jpeg"/>';
  const { cover, ...told } = await about({ manifest });
  expect(Object.values(told).filter((value) => value !== undefined)).toEqual([]);
  expect(await cover?.(signal)).toBeUndefined();
});
