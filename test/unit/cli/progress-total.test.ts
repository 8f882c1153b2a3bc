import { closeSync, createReadStream, openSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { expect, it } from 'vitest';
import { totalOf } from '../../../src/cli/progress.ts';
import { plain } from '../../../src/read/plain.ts';
import { fileSource, stdinSource } from '../../../src/read/source.ts';
import { RunText } from '../../../src/run/text.ts';
import { emptyFolder } from '../../support/folder.ts';

const { signal } = new AbortController();

async function total(files: readonly string[], stdin: (cwd: string) => Readable = () => Readable.from([])) {
  const cwd = emptyFolder();
  writeFileSync(join(cwd, 'a.txt'), 'One. Two.');
  const sourceOf = (name: string) => (name === '-' ? stdinSource(stdin(cwd)) : fileSource(name, cwd));
  const sources = () => files.map((name) => ({ source: sourceOf(name), reader: plain }));
  const voice = { maxChars: 5 };
  const text = await RunText.open(
    { sources, stages: [], voice, pace: 'by output', cutsParagraphs: false },
    signal,
  );
  return totalOf(text, false, signal);
}

it('What there is to speak is counted in the segments in which it is spoken', async () => {
  expect(await total(['a.txt'])).toEqual({ segments: 2, characters: 8 });
});

it.skipIf(process.platform !== 'linux')('A file in stdin is counted, too', async () => {
  let fd = -1;
  const open = (cwd: string) => {
    fd = openSync(join(cwd, 'a.txt'), 'r');
    return createReadStream('', { fd, autoClose: false });
  };
  expect(await total(['-'], open)).toEqual({ segments: 2, characters: 8 });
  closeSync(fd);
});

it.each(['-', '.'])('Nothing is known of what cannot be read twice: %s', async (name) => {
  expect(await total(['a.txt', name])).toBeUndefined();
});

it.each(['missing.txt', 'missing/../a.txt', 'a.txt/x', '/proc/self/mem'])(
  'A file that cannot be read is refused before: %s',
  async (name) => {
    await expect(total(['a.txt', name])).rejects.toMatchObject({ exitCode: 2 });
  },
);
