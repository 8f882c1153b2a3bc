import { entriesOf } from '../../kit/words.ts';
import type { Chapter, Cover, Tags } from '../pcm.ts';

export type Field = keyof ReturnType<typeof named>;

/** Returns tags by the names that players use. Sound without title, author and album gets none. */
export function fieldsOf(tags: Tags): Partial<ReturnType<typeof named>> {
  const { title, author, album } = tags;
  return [title, author, album].some((each) => each !== undefined) ? named(tags) : {};
}

function named(tags: Tags) {
  const { title, author, language, date, description, series, narrator, album = title, track } = tags;
  return {
    title,
    album,
    artist: author,
    albumArtist: author,
    narrator,
    date,
    year: date === undefined ? undefined : /\d{4}/.exec(date)?.[0],
    genre: 'Audiobook',
    description,
    comment: narrator === undefined ? 'Spoken by tts' : `Spoken by tts: ${narrator}`,
    language,
    language3: languageCode(language),
    series: series?.name,
    seriesPart: series?.number,
    /** In the form `Series #2`, which audiobookshelf reads. */
    grouping: series && `${series.name}${series.number === undefined ? '' : ` #${series.number}`}`,
    track: track && `${track.number}/${track.count}`,
  };
}

/** Codes of ISO 639-1 and ISO 639-2 for the languages that most books are in. */
const CODES = new Map(
  entriesOf(`
    ar ara, bg bul, ca cat, cs ces, cy cym, da dan, de deu, el ell, en eng, eo epo, es spa, et est, eu eus, fa fas,
    fi fin, fr fra, ga gle, he heb, hi hin, hr hrv, hu hun, id ind, is isl, it ita, ja jpn, ko kor, la lat, lt lit,
    lv lav, nb nob, nl nld, no nor, pl pol, pt por, ro ron, ru rus, sk slk, sl slv, sr srp, sv swe, ta tam, th tha,
    tr tur, uk ukr, vi vie, zh zho`),
);

/** @returns the ISO 639-2 code for a language tag, such as `deu` */
export function languageCode(tag = ''): string | undefined {
  const [language = ''] = tag.toLowerCase().split('-');
  return /^[a-z]{3}$/.test(language) ? language : CODES.get(language);
}

/** ID3 text frames that players read. audiobookshelf reads the series from TIT1. */
const TEXTS: readonly (readonly [id: string, field: Field])[] = [
  ['TIT2', 'title'],
  ['TALB', 'album'],
  ['TPE1', 'artist'],
  ['TPE2', 'albumArtist'],
  ['TCOM', 'narrator'],
  ['TYER', 'year'],
  ['TCON', 'genre'],
  ['TIT1', 'grouping'],
  ['TRCK', 'track'],
  ['TLAN', 'language3'],
];

/** An ID3 tag states its size in 28 bits. */
const LONGEST_COVER = 128 * 2 ** 20;

/** A table of contents counts its entries in one byte. */
const MOST_ENTRIES = 255;

/**
 * Returns an ID3v2.3 tag with `CHAP` chapters, and tables of contents, nested if there are more than 255 chapters.
 * @param sampleRate Hz; chapters give their times in frames of this rate
 * @returns no bytes if the tag would be empty
 */
export function id3Tag(tags: Tags, chapters: readonly Chapter[], sampleRate: number): Uint8Array {
  const fields = fieldsOf(tags);
  const texts = TEXTS.flatMap(([id, field]) => {
    const value = fields[field];
    return value === undefined ? [] : [frame(id, text(value))];
  });
  if (fields.description !== undefined) texts.push(comment(fields.description));
  if (fields.comment !== undefined) texts.push(comment(fields.comment, 'Comment'));
  const frames = [...texts, ...chapterFrames(chapters, sampleRate), ...coverFrames(tags.cover)];
  if (frames.length === 0) return new Uint8Array();
  const content = Buffer.concat(frames);
  return Buffer.concat([Buffer.from('ID3\x03\x00\x00', 'latin1'), sevenBits(content.length), content]);
}

function chapterFrames(chapters: readonly Chapter[], sampleRate: number): Buffer[] {
  if (chapters.length === 0) return [];
  const ids = chapters.map((_, number) => `ch${number}`);
  const milliseconds = (frames: number) => Math.round((1000 * frames) / sampleRate);
  const marks = chapters.map(({ title, start, end }, number) => {
    const times = Buffer.alloc(16, 0xff);
    times.writeUInt32BE(milliseconds(start), 0);
    times.writeUInt32BE(milliseconds(end), 4);
    const name = title === undefined ? [] : [frame('TIT2', text(title))];
    return frame('CHAP', Buffer.from(`${ids[number]}\0`, 'latin1'), times, ...name);
  });
  return [...tablesOfContents(ids), ...marks];
}

function tablesOfContents(ids: readonly string[]): Buffer[] {
  if (ids.length <= MOST_ENTRIES) return [contents('toc', ids, true)];
  const parts = Array.from({ length: Math.ceil(ids.length / MOST_ENTRIES) }, (_, part) =>
    ids.slice(part * MOST_ENTRIES, (part + 1) * MOST_ENTRIES),
  );
  const names = parts.map((_, part) => `toc${part}`);
  const top = names.length <= MOST_ENTRIES ? names : names.slice(0, MOST_ENTRIES);
  return [contents('toc', top, true), ...parts.map((part, at) => contents(names[at] ?? '', part, false))];
}

const TOP_LEVEL = 2;
const ORDERED = 1;

function contents(id: string, entries: readonly string[], isTop: boolean): Buffer {
  const head = Buffer.from([ORDERED | (isTop ? TOP_LEVEL : 0), entries.length]);
  const names = entries.map((entry) => `${entry}\0`).join('');
  return frame('CTOC', Buffer.from(`${id}\0`, 'latin1'), head, Buffer.from(names, 'latin1'));
}

const FRONT_COVER = 3;

function coverFrames(cover: Cover | undefined): Buffer[] {
  if (!cover || cover.bytes.length > LONGEST_COVER) return [];
  const head = Buffer.from(`\0${cover.mediaType}\0${String.fromCharCode(FRONT_COVER)}\0`, 'latin1');
  return [frame('APIC', head, cover.bytes)];
}

function comment(value: string, about = ''): Buffer {
  const language = Buffer.from('und', 'latin1');
  return frame('COMM', Buffer.from([1]), language, utf16(`${about}\0`), utf16(value));
}

function text(value: string): Buffer {
  return Buffer.concat([Buffer.from([1]), utf16(value)]);
}

/** ID3v2.3 only has Latin-1 and this. */
function utf16(value: string): Buffer {
  return Buffer.from(`\uFEFF${value}`, 'utf16le');
}

function frame(id: string, ...parts: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(parts);
  const head = Buffer.alloc(10);
  head.write(id, 'latin1');
  head.writeUInt32BE(content.length, 4);
  return Buffer.concat([head, content]);
}

/** Seven bits per byte, so that no byte looks like the beginning of an MPEG frame. */
function sevenBits(size: number): Buffer {
  return Buffer.from([21, 14, 7, 0].map((shift) => (size >> shift) & 0x7f));
}
