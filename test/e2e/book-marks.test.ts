import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { serveBytes } from '../support/byte-server.ts';
import { decoded } from '../support/decoded.ts';
import { epubOf } from '../support/epub.ts';
import { complete } from '../support/http-bytes.ts';
import { isThere } from '../support/programs.ts';
import { named, Sandbox } from '../support/run.ts';
import { plainWav } from '../unit/sound/wav-builder.ts';

const RATE = 22_050;
const CHAPTERS = 7;
/** With `TTS_TEST_HOURS=3` the sound is as long as that of a book. */
const SECONDS = 3600 * Number(process.env.TTS_TEST_HOURS ?? 0) || 8;

const documents = Object.fromEntries(
  Array.from({ length: CHAPTERS }, (_, at) => [`c${at}.xhtml`, `<p>Chapter number ${at}.</p>`]),
);
const BOOK = epubOf({
  documents,
  nav: Object.keys(documents)
    .map((path, at) => `<li><a href="${path}">Number ${at}</a></li>`)
    .join(''),
});

const PATIENCE_MS = 20_000 + 200 * SECONDS;

const hertzOf = (chapter: number) => 500 + 100 * chapter;

/** A tone that tells the chapter, of a length that no frame of an encoder has. */
function toneOf(chapter: number): Uint8Array {
  const frames = Math.round((RATE * SECONDS) / CHAPTERS) + 977 * chapter;
  const samples = new Int16Array(frames);
  const step = (2 * Math.PI * hertzOf(chapter)) / RATE;
  for (let at = 0; at < frames; at += 1) samples[at] = 8000 * Math.cos(step * at);
  return plainWav(Buffer.from(samples.buffer));
}

interface Mark {
  readonly start_time: string;
  readonly tags: { readonly title: string };
}

function marksIn(path: string): readonly Mark[] {
  const args = ['-v', 'error', '-show_chapters', '-of', 'json', path];
  return JSON.parse(execFileSync('ffprobe', args, { encoding: 'utf8' })).chapters;
}

/** Crossings of zero tell the tone. */
function hertzAt(sound: Int16Array, start: number): number {
  let crossings = 0;
  for (let at = start; at < start + RATE / 2; at++)
    if ((sound[at] as number) < 0 !== (sound[at + 1] as number) < 0) crossings += 1;
  return crossings;
}

describe.skipIf(!isThere('ffmpeg'))('the marks of chapters', () => {
  it.each(['mp3', 'm4b', 'opus', 'flac'])(
    'stand at the sound of their chapters: %s',
    { timeout: 2 * PATIENCE_MS },
    async (format) => {
      const server = await serveBytes((wire, request, number) => {
        const { text } = request.json as { text: string };
        return complete(toneOf(Number(/\d+/.exec(text)?.[0])))(wire, request, number);
      });
      const box = new Sandbox();
      box.file('book.epub', BOOK);
      const run = await box.tts(['-f', 'book.epub', '-o', `book.${format}`, '-q', '--timeout', '300'], {
        env: named(server.url),
        patience: PATIENCE_MS,
      });
      expect(run).toMatchObject({ status: 0, stderr: '' });
      const sound = decoded(box.path(`book.${format}`), RATE);
      const marks = marksIn(box.path(`book.${format}`));
      expect(marks.map(({ tags }) => tags.title)).toEqual(
        Object.keys(documents).map((_, at) => `Number ${at}`),
      );
      for (const [at, { start_time }] of marks.entries()) {
        const start = Number(start_time);
        const from = Math.max(0, Math.round((start - 0.5) * RATE));
        const onset = from + sound.subarray(from).findIndex((sample) => Math.abs(sample) > 2000);
        expect(Math.abs(onset / RATE - start), `chapter ${at}`).toBeLessThan(0.002);
        expect(Math.abs(hertzAt(sound, onset + 1000) - hertzOf(at)), `chapter ${at}`).toBeLessThan(5);
      }
    },
  );
});
