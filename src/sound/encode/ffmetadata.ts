import { type Chapter, type Cover, OPENING, type Tags, timestamp } from '../pcm.ts';
import { type Field, fieldsOf } from './tags.ts';

/**
 * mp4: chapters are sections, and the cover is a picture track
 * ogg: tags, chapters and cover are comments
 * flac: like ogg, but the cover is a picture track
 */
export type Family = 'mp4' | 'ogg' | 'flac';

/**
 * Writes tags and chapters as an ffmpeg metadata file.
 * @param sampleRate Hz; chapters give their times in frames of this rate
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

/** ffmpeg's names for tags, which it translates for each format. */
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

/** MP4 only has fields for television series. */
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

/** The media type that makes players show the file as a book instead of music. */
const AUDIOBOOK = '2';

/** An MP4's text track cannot begin with a gap, so the sound before the first chapter becomes a chapter. */
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
  return [lineOf(name, timestamp(start, sampleRate)), lineOf(`${name}NAME`, title ?? `${number + 1}`)];
}

/** ffmpeg continues a value after a backslash and a line break, even if the backslash is escaped. A zero byte ends it. */
function lineOf(name: string, value: string): string {
  const escaped = value.replaceAll('\0', '').replace(/[=;#\\\n]/g, '\\$&');
  return `${name}=${escaped}${escaped.endsWith('\\') ? '\0' : ''}`;
}

const FRONT_COVER = 3;

/** @returns a FLAC picture block, which Ogg comments hold in base64 */
function pictureOf({ mediaType, bytes }: Cover): string {
  const head = Buffer.alloc(8 + mediaType.length + 20 + 4);
  let at = head.writeUInt32BE(FRONT_COVER);
  at = head.writeUInt32BE(mediaType.length, at);
  at += head.write(mediaType, at, 'latin1');
  // There is no description, and size and depth are unknown.
  head.writeUInt32BE(bytes.length, at + 20);
  return Buffer.concat([head, bytes]).toString('base64');
}
