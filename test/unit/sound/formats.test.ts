import { execFileSync, spawnSync } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { processHost } from '../../../src/kit/host.ts';
import type { EncodingName } from '../../../src/sound/encode/encoding.ts';
import { encodingOf } from '../../../src/sound/encode/encodings.ts';
import { fromTheStart } from '../../../src/sound/encode/ffmetadata.ts';
import type { Chapter, Cover } from '../../../src/sound/pcm.ts';
import { decoded } from '../../support/decoded.ts';
import { emptyFolder } from '../../support/folder.ts';
import { isThere } from '../../support/programs.ts';
import { atomsAt, chapterTrack, readAtoms, tagsOf } from './atoms.ts';
import { tone, trackOf, write } from './encoded.ts';

const ffmpeg = isThere('ffmpeg');

/** It is made by another program, for a cover. */
function picture(kind: 'png' | 'mjpeg'): Buffer {
  const args = ['-v', 'error', '-f', 'lavfi', '-i', 'color=red:size=16x16', '-frames:v', '1', '-c:v', kind];
  return execFileSync('ffmpeg', [...args, '-f', 'image2pipe', '-']);
}

const chaptersNamed = (titles: readonly string[], frames: number): Chapter[] =>
  titles.map((title, at) => ({ title, level: 1, start: at * frames, end: (at + 1) * frames }));

interface Probed {
  readonly chapters: readonly { readonly start_time: string; readonly tags: { readonly title: string } }[];
  readonly format: { readonly tags?: Record<string, string> };
  readonly streams: readonly { readonly codec_name: string; readonly tags?: Record<string, string> }[];
}

function probed(path: string): Probed {
  const args = ['-v', 'error', '-show_chapters', '-show_format', '-show_streams', '-of', 'json', path];
  return JSON.parse(execFileSync('ffprobe', args, { encoding: 'utf8' })) as Probed;
}

const TAGS = {
  title: 'Ein Buch; mit = und #',
  author: 'Ann Author',
  narrator: 'Flite',
  language: 'de',
  date: '1901-02-03',
  description: 'Two lines\nand a backslash \\',
  series: { name: 'Tales', number: '2' },
} as const;

const TITLES = [
  'One',
  'a=b;c#d',
  'line\nbreak',
  'ends in a backslash\\',
  'ü'.repeat(150),
  '[CHAPTER]',
  'last',
];

describe.skipIf(!ffmpeg)('a file by ffmpeg', () => {
  it('has the samples that went in', async () => {
    const frames = 20_001;
    for (const name of ['a.flac', 'a.opus']) {
      const path = join(await write(name, { pcm: tone(frames) }), name);
      const args = ['-v', 'error', '-i', path, '-ar', '22050', '-f', 's16le', '-'];
      expect([name, execFileSync('ffmpeg', args).length / 2]).toEqual([name, frames]);
    }
    for (const name of ['a.m4b', 'a.aac']) {
      const more = decoded(join(await write(name, { pcm: tone(frames) }), name)).length - frames;
      expect(more).toBeGreaterThanOrEqual(0);
      expect(more).toBeLessThan(1024);
    }
  });

  it('begins with its first sample, after the delay of the encoder.', async () => {
    const pcm = Buffer.concat([Buffer.alloc(2 * 22_050), tone(22_050)]);
    const path = join(await write('a.m4b', { pcm }), 'a.m4b');
    const onset = decoded(path).findIndex((at) => Math.abs(at) > 2000);
    expect(Math.abs(onset - 22_050)).toBeLessThan(20);
  });
});

describe.skipIf(!ffmpeg)('stdout that is a file, on a system where it has no path', () => {
  /** @returns its bytes */
  async function written(name: EncodingName, pcm: Buffer): Promise<Buffer> {
    const place = join(emptyFolder(), 'out');
    const fd = openSync(place, 'w');
    onTestFinished(() => closeSync(fd));
    const file = { fd, name: 'stdout', start: 0, path: '/nowhere/fd/1' };
    const encoding = encodingOf('', { encode: name, programs: processHost(process) });
    await encoding.record(file, trackOf({ pcm }), new AbortController().signal);
    return readFileSync(place);
  }

  it('holds the sound', async () => {
    const input = await written('flac', tone(20_000));
    const args = ['-v', 'error', '-i', 'pipe:0', '-ar', '22050', '-f', 's16le', '-'];
    expect(execFileSync('ffmpeg', args, { input }).length / 2).toBe(20_000);
  });

  it('cannot hold what begins with its end', async () => {
    await expect(written('m4b', tone(100))).rejects.toThrow('m4b cannot be appended to stdout');
  });
});

describe.skipIf(!ffmpeg)('a book', () => {
  it('in M4B has the atoms that Apple reads.', async () => {
    const cover: Cover = { mediaType: 'image/jpeg', bytes: picture('mjpeg') };
    const sound = { tags: { ...TAGS, cover }, chapters: chaptersNamed(TITLES, 3000) };
    const bytes = readFileSync(join(await write('a.m4b', sound), 'a.m4b'));
    const atoms = readAtoms(bytes);
    expect(atoms.map(({ kind }) => kind).filter((kind) => kind === 'moov' || kind === 'mdat')).toEqual([
      'moov',
      'mdat',
    ]);
    expect(atoms[0]?.content.toString('latin1', 0, 4)).toBe('M4B ');
    const tags = tagsOf(atoms);
    const text = Object.fromEntries([...tags].map(([kind, value]) => [kind, value.toString('utf8')]));
    expect(text).toMatchObject({
      '\xa9nam': TAGS.title,
      '\xa9alb': TAGS.title,
      '\xa9ART': TAGS.author,
      aART: TAGS.author,
      '\xa9wrt': TAGS.narrator,
      '\xa9day': TAGS.date,
      '\xa9gen': 'Audiobook',
      '\xa9grp': 'Tales #2',
      tvsh: 'Tales',
      tven: '2',
      desc: TAGS.description,
    });
    expect(tags.get('stik')).toEqual(Buffer.of(2));
    expect(tags.get('covr')).toEqual(cover.bytes);
    const { marks, chunks } = chapterTrack(bytes);
    expect(marks.map(({ title }) => title)).toEqual(TITLES);
    expect(chunks).toBe(TITLES.length);
    for (const [at, { start }] of marks.entries())
      expect(Math.abs(start - (at * 3000) / 22_050)).toBeLessThan(0.002);
    expect(atomsAt(atoms, 'moov/udta/chpl')).toHaveLength(1);
  });

  it('in M4B begins with a chapter, whatever is heard before the first.', () => {
    const [first, ...others] = chaptersNamed(['One', 'Two'], 100).map((each) => ({
      ...each,
      start: each.start + 50,
    }));
    const chapters = [first as Chapter, ...others];
    expect(fromTheStart(chapters)).toEqual([{ title: 'Opening', level: 1, start: 0, end: 50 }, ...chapters]);
    expect(fromTheStart([])).toEqual([]);
  });

  it('in M4B may have 393 chapters, without the list that counts to 255.', async () => {
    const titles = Array.from({ length: 393 }, (_, at) => `Chapter ${at + 1}`);
    const sound = { pcm: tone(393 * 100), chapters: chaptersNamed(titles, 100) };
    const folder = await write('a.m4b', sound);
    const bytes = readFileSync(join(folder, 'a.m4b'));
    const { marks, chunks } = chapterTrack(bytes);
    expect(marks.map(({ title }) => title)).toEqual(titles);
    expect(chunks).toBe(393);
    const decoding = spawnSync('ffmpeg', ['-v', 'warning', '-i', join(folder, 'a.m4b'), '-f', 'null', '-']);
    expect(decoding.stderr.toString()).toBe('');
    expect(atomsAt(readAtoms(bytes), 'moov/udta/chpl')).toEqual([]);
  });

  it.each(['a.flac', 'a.ogg'])('in %s has chapters, tags and a cover.', async (name) => {
    const cover: Cover = { mediaType: 'image/png', bytes: picture('png') };
    const sound = { tags: { ...TAGS, cover }, chapters: chaptersNamed(TITLES, 3000) };
    const { chapters, format, streams } = probed(join(await write(name, sound), name));
    expect(chapters.map(({ tags }) => tags.title)).toEqual(TITLES);
    for (const [at, { start_time }] of chapters.entries())
      expect(Math.abs(Number(start_time) - (at * 3000) / 22_050)).toBeLessThan(0.002);
    const all = { ...format.tags, ...streams[0]?.tags };
    const tags = Object.fromEntries(Object.entries(all).map(([key, value]) => [key.toLowerCase(), value]));
    expect(tags).toMatchObject({
      title: TAGS.title,
      artist: TAGS.author,
      composer: 'Flite',
      date: TAGS.date,
      series: 'Tales',
      'series-part': '2',
      language: 'de',
    });
    const shown = streams.find(({ codec_name }) => codec_name === 'png');
    expect(shown?.tags?.comment).toBe('Cover (front)');
  });

  it('loses a cover that is none with a word, and nothing else.', async () => {
    const cover: Cover = { mediaType: 'image/png', bytes: Buffer.from('GIF89a, which is no PNG') };
    const words: string[] = [];
    const sound = { tags: { ...TAGS, cover } };
    const path = join(await write('a.m4b', sound, { warn: (text) => words.push(text) }), 'a.m4b');
    expect(probed(path).streams).toHaveLength(1);
    expect(probed(path).format.tags).toMatchObject({ title: TAGS.title });
    expect(words).toEqual([expect.stringContaining('the cover is left out')]);
  });
});
