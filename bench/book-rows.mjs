// Rows of the table of docs/speed.md about books: an EPUB of 3 million characters, compared with the same text in a file.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { crc32, deflateRawSync } from 'node:zlib';
import { median, pairs, run } from './measure.mjs';

const CHARACTERS = 3_000_000;
const CHAPTERS = 40;
const ROUNDS = 11;
const WORDS =
  'the lamps were lit and nobody saw a ship leave while it was late for those who had come to look'.split(
    ' ',
  );

/** Characters of a typical novel. */
const NOVEL = 600_000;

/** Chapters of random paragraphs with this length in total, the same in each run. */
function chapters(characters) {
  let seed = 1;
  const random = (below) => {
    seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
    return seed % below;
  };
  const sentence = () =>
    `${Array.from({ length: 6 + random(14) }, () => WORDS[random(WORDS.length)]).join(' ')}.`;
  const paragraph = () => Array.from({ length: 3 + random(4) }, sentence).join(' ');
  return Array.from({ length: CHAPTERS }, () => {
    const paragraphs = [];
    for (let length = 0; length < characters / CHAPTERS; length += paragraphs.at(-1).length)
      paragraphs.push(paragraph());
    return paragraphs;
  });
}

/** A ZIP archive (APPNOTE 6.3) with ASCII names and no comments. */
function zipOf(files) {
  const parts = [];
  const listing = [];
  let offset = 0;
  for (const [name, text] of files) {
    const data = Buffer.from(text);
    const body = deflateRawSync(data);
    const common = Buffer.alloc(26);
    common.writeUInt16LE(20, 0);
    common.writeUInt16LE(8, 4);
    common.writeUInt32LE(crc32(data), 10);
    common.writeUInt32LE(body.length, 14);
    common.writeUInt32LE(data.length, 18);
    common.writeUInt16LE(name.length, 22);
    const place = Buffer.alloc(14);
    place.writeUInt32LE(offset, 10);
    listing.push(Buffer.from('PK\x01\x02\x14\x03'), common, place, Buffer.from(name));
    parts.push(Buffer.from('PK\x03\x04'), common, Buffer.from(name), body);
    offset += 30 + name.length + body.length;
  }
  const directory = Buffer.concat(listing);
  const end = Buffer.alloc(22);
  end.write('PK\x05\x06', 'latin1');
  end.writeUInt16LE(files.length, 8);
  end.writeUInt16LE(files.length, 10);
  end.writeUInt32LE(directory.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...parts, directory, end]);
}

function bookIn(work, characters = CHARACTERS) {
  const all = chapters(characters);
  const documents = all.map((paragraphs, at) => [
    `c${at}.xhtml`,
    `<html xmlns="http://www.w3.org/1999/xhtml"><head><title>c</title></head><body><h2>Chapter ${at}</h2>${paragraphs.map((text) => `<p><i>${text.slice(0, 20)}</i>${text.slice(20)}</p>`).join('\n')}</body></html>`,
  ]);
  const names = documents.map(([name]) => name);
  const items = names.map((name) => `<item id="${name}" href="${name}" media-type="application/xhtml+xml"/>`);
  const order = names.map((name) => `<itemref idref="${name}"/>`);
  const points = names.map(
    (name) => `<navPoint><navLabel><text>${name}</text></navLabel><content src="${name}"/></navPoint>`,
  );
  const files = [
    [
      'META-INF/container.xml',
      '<container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles><rootfile full-path="b.opf" media-type="application/oebps-package+xml"/></rootfiles></container>',
    ],
    [
      'b.opf',
      `<package version="2.0" xmlns="http://www.idpf.org/2007/opf"><metadata xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>Book</dc:title></metadata><manifest>${items.join('')}<item id="ncx" href="b.ncx" media-type="application/x-dtbncx+xml"/></manifest><spine toc="ncx">${order.join('')}</spine></package>`,
    ],
    ['b.ncx', `<ncx xmlns="http://www.daisy.org/z3986/2005/ncx/"><navMap>${points.join('')}</navMap></ncx>`],
    ...documents,
  ];
  const [epub, text] = [join(work, 'book.epub'), join(work, 'book.txt')];
  writeFileSync(epub, zipOf(files));
  writeFileSync(
    text,
    all.map((paragraphs, at) => [`Chapter ${at}`, ...paragraphs].join('\n\n')).join('\n\n'),
  );
  return { epub, text };
}

/** Milliseconds until the whole output has arrived through a pipe. */
async function allText(command, env) {
  return (await run(command, { env, onData() {} })).milliseconds;
}

/** Seconds until the first byte has arrived through a pipe. */
async function firstByte(command, env) {
  let first;
  await run(command, {
    env,
    onData: (_, at) => {
      first ??= at;
    },
  });
  return first / 1000;
}

export const bookRows = [
  {
    what: 'an EPUB of 3 million characters, all its text out / the same text from a file',
    most: { 20: 3 },
    unit: '×',
    digits: 2,
    async measure({ tts, work, env }) {
      const { epub, text } = bookIn(work);
      const ratios = [];
      for (let round = 0; round < ROUNDS; round++) {
        const ofBook = await allText(tts('--show-text', '-f', epub), env);
        ratios.push(ofBook / (await allText(tts('--show-text', '-f', text), env)));
      }
      return median(ratios);
    },
  },
  {
    what: 'all text of that EPUB / `pandoc -t plain` of the same',
    most: { 20: 0.2 },
    unit: '×',
    digits: 2,
    async measure({ tts, work, env }) {
      const { epub } = bookIn(work);
      const converted = ['pandoc', '-f', 'epub', '-t', 'plain', '--wrap=none', epub];
      return (await pairs(tts('--show-text', '-f', epub), converted, { rounds: 5, env })).ratio;
    },
  },
  {
    what: 'MP3 of 10 minutes of 22,050 Hz mono / `ffmpeg -c:a libmp3lame` of the same',
    most: { 20: 2.5 },
    unit: '×',
    digits: 2,
    async measure({ speak, work, env }) {
      const [sound, ours, theirs] = ['in.wav', 'ours.mp3', 'theirs.mp3'].map((name) => join(work, name));
      await run(speak('minutes', '-o', sound), { env });
      const encode = ['-v', 'error', '-y', '-i', sound, '-c:a', 'libmp3lame', '-b:a', '64k', theirs];
      const { ratio } = await pairs(speak('minutes', '-o', ours), ['ffmpeg', ...encode], { rounds: 5, env });
      return ratio;
    },
  },
  {
    what: 'first text of that EPUB',
    most: { 20: 0.3 },
    unit: 's',
    digits: 2,
    async measure({ tts, work, env }) {
      const { epub } = bookIn(work);
      const times = [];
      for (let round = 0; round < ROUNDS; round++)
        times.push(await firstByte(tts('--show-text', '-f', epub), env));
      return median(times);
    },
  },
  {
    what: 'first sound of an EPUB of 600,000 characters, beyond that of the same text',
    most: { 20: 0.3 },
    unit: 's',
    digits: 2,
    async measure({ tts, address, work, env }) {
      const { epub, text } = bookIn(work, NOVEL);
      const firstSound = (file) => {
        const speaking = tts('-f', file, '-s', '3', '--base-url', address('small'), '-o', '-');
        return firstByte(['sh', '-c', '"$0" "$@" | head -c 100', ...speaking], env);
      };
      const beyond = [];
      for (let round = 0; round < ROUNDS; round++)
        beyond.push((await firstSound(epub)) - (await firstSound(text)));
      return median(beyond);
    },
  },
];
