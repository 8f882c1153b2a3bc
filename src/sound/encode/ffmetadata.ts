import { type Chapter, type Cover, OPENING, type Tags } from '../pcm.ts';
import { type Field, fieldsOf } from './tags.ts';

/**
 * mp4: chapters are sections, and the cover is a picture beside the sound
 * ogg: all of it is comments
 * flac: the same, but for the cover
 */
export type Family = 'mp4' | 'ogg' | 'flac';

/**
 * Writes tags and chapters in the format of ffmpeg's own metadata files.
 * @param sampleRate the chapters count in frames of this rate
 */
export function metadataOf(
  family: Family,
  tags: Tags,
  chapters: readonly Chapter[],
  sampleRate: number,
): string {
  const isMp4 = family === 'mp4';
  const fields = fieldsOf(tags);
  const lines = [...NAMES, ...(isMp4 ? MP4_NAMES : XIPH_NAMES)].flatMap(([name, field]) => {
    const value = fields[field];
    return value === undefined ? [] : [lineOf(name, value)];
  });
  if (isMp4)
    lines.push(lineOf('media_type', AUDIOBOOK), ...chapters.flatMap((each) => section(each, sampleRate)));
  else lines.push(...chapters.flatMap((each, number) => comments(each, number, sampleRate)));
  if (tags.cover && family === 'ogg') lines.push(lineOf('METADATA_BLOCK_PICTURE', pictureOf(tags.cover)));
  return `${[';FFMETADATA1', ...lines].join('\n')}\n`;
}

/** The names that ffmpeg gives to tags, which its formats turn into theirs. */
const NAMES: readonly (readonly [name: string, field: Field])[] = [
  ['title', 'title'],
  ['album', 'album'],
  ['artist', 'artist'],
  ['album_artist', 'albumArtist'],
  ['composer', 'narrator'],
  ['genre', 'genre'],
  ['date', 'date'],
  ['track', 'track'],
  ['grouping', 'grouping'],
];

/** MP4 knows series as those of television. */
const MP4_NAMES: typeof NAMES = [
  ['description', 'description'],
  ['synopsis', 'description'],
  ['comment', 'comment'],
  ['show', 'series'],
  ['episode_id', 'seriesPart'],
];

/** ffmpeg writes `comment` as DESCRIPTION. */
const XIPH_NAMES: typeof NAMES = [
  ['comment', 'description'],
  ['series', 'series'],
  ['series-part', 'seriesPart'],
  ['language', 'language'],
];

/** What players take for a book, and not for music. */
const AUDIOBOOK = '2';

/** The text track of an MP4 has no gap at its beginning: what is heard before the first chapter is one as well. */
export function fromTheStart(chapters: readonly Chapter[]): readonly Chapter[] {
  const end = chapters[0]?.start ?? 0;
  return end > 0 ? [{ title: OPENING, level: 1, start: 0, end }, ...chapters] : chapters;
}

function section({ title, start, end }: Chapter, sampleRate: number): string[] {
  const times = [`TIMEBASE=1/${sampleRate}`, `START=${start}`, `END=${end}`];
  return ['[CHAPTER]', ...times, ...(title === undefined ? [] : [lineOf('title', title)])];
}

function comments({ title, start }: Chapter, number: number, sampleRate: number): string[] {
  const name = `CHAPTER${String(number).padStart(3, '0')}`;
  return [lineOf(name, clock(start / sampleRate)), lineOf(`${name}NAME`, title ?? `${number + 1}`)];
}

function clock(seconds: number): string {
  const milliseconds = Math.round(1000 * seconds);
  const parts = [milliseconds / 3_600_000, (milliseconds / 60_000) % 60, (milliseconds / 1000) % 60];
  const [hours, minutes, rest] = parts.map((part) => String(Math.floor(part)).padStart(2, '0'));
  return `${hours}:${minutes}:${rest}.${String(milliseconds % 1000).padStart(3, '0')}`;
}

/**
 * ffmpeg takes a line break after a backslash for a part of the value, even if the backslash is escaped. A zero byte ends the
 * line as well.
 */
function lineOf(name: string, value: string): string {
  const escaped = value.replaceAll('\0', '').replace(/[=;#\\\n]/g, '\\$&');
  return `${name}=${escaped}${escaped.endsWith('\\') ? '\0' : ''}`;
}

const FRONT_COVER = 3;

/** @returns the block of FLAC for a picture, which comments of Ogg hold in base64 */
function pictureOf({ mediaType, bytes }: Cover): string {
  const head = Buffer.alloc(8 + mediaType.length + 20 + 4);
  let at = head.writeUInt32BE(FRONT_COVER);
  at = head.writeUInt32BE(mediaType.length, at);
  at += head.write(mediaType, at, 'latin1');
  // No description, and an unknown size and depth.
  head.writeUInt32BE(bytes.length, at + 20);
  return Buffer.concat([head, bytes]).toString('base64');
}
