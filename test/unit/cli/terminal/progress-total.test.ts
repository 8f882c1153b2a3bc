import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { expect, it } from 'vitest';
import { totalOf } from '../../../../src/cli/terminal/progress.ts';
import type { JobText } from '../../../../src/speech/job.ts';
import { emptyFolder } from '../../../support/folder.ts';

function total(files: readonly string[]) {
  const cwd = emptyFolder();
  writeFileSync(join(cwd, 'a.txt'), 'One. Two.');
  const text: JobText = { words: [], files, maxChars: 5, pace: 'by sink' };
  const stdin = { isTTY: false, stream: Readable.from([]) };
  const { signal } = new AbortController();
  return totalOf(text, false, { cwd, stdin }, signal);
}

it('What there is to speak is counted in the segments in which it is spoken', async () => {
  expect(await total(['a.txt'])).toEqual({ segments: 2, characters: 8 });
});

it.each(['-', 'missing.txt', 'missing/../a.txt', 'a.txt/x', '/proc/self/mem', '.'])(
  'Nothing is known of what cannot be read twice: %s',
  async (name) => {
    expect(await total(['a.txt', name])).toBeUndefined();
  },
);
