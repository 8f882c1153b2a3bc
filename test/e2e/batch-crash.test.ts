import { existsSync, statSync, utimesSync } from 'node:fs';
import { expect, it } from 'vitest';
import { epubOf } from '../support/epub.ts';
import { failingCall, type Mode } from '../support/failing-calls.ts';
import { serveRows } from '../support/row-service.ts';
import { named, Sandbox } from '../support/run.ts';

/** A run that was killed before it wrote its name into its lock counts as alive for a minute. */
function forgetOwner(lock: string): void {
  if (statSync(lock, { throwIfNoEntry: false })?.size === 0) utimesSync(lock, 0, 0);
}

interface Work {
  /** Every N-th place is tried. */
  readonly step: number;
  readonly prepare: (box: Sandbox) => void;
  readonly args: readonly string[];
  readonly files: readonly string[];
}

const BATCH: Work = {
  step: 2,
  prepare: (box) => void box.file('p.csv', 'id,text\none,one\ntwo,two\n'),
  args: ['batch', 'p.csv', '-q', '--concurrency', '1'],
  files: ['one.wav', 'two.wav'],
};

const documents = { 'a.xhtml': '<h1>One</h1>', 'b.xhtml': '<h1>Two</h1>' };

const SPLIT: Work = {
  step: 4,
  prepare: (box) => void box.file('book.epub', epubOf({ documents })),
  args: ['-f', 'book.epub', '--split', 'chapters', '-o', '{n} {title}.mp3', '-q'],
  files: ['1 One.mp3', '2 Two.mp3'],
};

const CASES: readonly (readonly [name: string, mode: Mode, work: Work])[] = [
  ['A batch', 'kill', BATCH],
  ['A book in files', 'onwards', SPLIT],
];

/** What would show that a file was written again. The manifest is, with the same content. */
function seen(box: Sandbox, files: readonly string[]): unknown {
  return files.map((name) => {
    const { ino, mtimeNs } = statSync(box.path(name), { bigint: true });
    return [name, ino, mtimeNs];
  });
}

it.each(CASES)(
  '%s is whole after a fault at each place, another one in the next run, and a third run: %s',
  { timeout: 240_000 },
  async (_, mode, { step, prepare, args, files }) => {
    const { url, requests } = await serveRows();
    const whole = new Sandbox();
    prepare(whole);
    expect(await whole.run(args, { env: named(url) })).toMatchObject({ status: 0 });
    for (let at = 1; ; at += step) {
      const box = new Sandbox();
      prepare(box);
      const broken = async () => {
        const failing = failingCall(box, at, mode);
        const { status } = await box
          .run(args, { env: { ...named(url), ...failing.env } })
          .catch(() => ({ status: null }));
        // A file that has its name is whole.
        for (const file of files.filter((each) => existsSync(box.path(each))))
          expect(box.read(file), `${file} at ${at}`).toEqual(whole.read(file));
        const call = failing.hit();
        if (call && mode === 'kill') expect(status).toBe(null);
        if (!call) expect(status).toBe(0);
        forgetOwner(box.path('tts-batch.lock'));
        return call;
      };
      if ((await broken()) === undefined) {
        // Otherwise nothing was tried.
        expect(at).toBeGreaterThan(10);
        const [before, asked] = [seen(box, files), requests.length];
        expect(await box.tts(args, { env: named(url) })).toMatchObject({ status: 0 });
        expect([seen(box, files), requests.length]).toEqual([before, asked]);
        return;
      }
      await broken();
      expect(await box.run(args, { env: named(url) }), `again after ${at}`).toMatchObject({ status: 0 });
      expect(box.list(), `files after ${at}`).toEqual(whole.list());
      expect(box.read('tts-batch.jsonl')).toEqual(whole.read('tts-batch.jsonl'));
    }
  },
);
