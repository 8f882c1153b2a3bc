import { closeSync, createReadStream, openSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readerFor } from '../../../src/read/readers.ts';
import { stdinSource } from '../../../src/read/source.ts';
import { emptyFolder } from '../../support/folder.ts';
import { written } from './spoken.ts';

const { signal } = new AbortController();
const options = { readsAll: false, hasChapters: false, speaksTitles: true };
const byContent = readerFor('a.txt', 'auto', options as never);

/** A file that counts how often it is open. */
function countedFile(text: string) {
  const file = { open: 0 };
  async function* bytes() {
    file.open += 1;
    try {
      for (const character of text) yield Buffer.from(character);
    } finally {
      file.open -= 1;
    }
  }
  return { file, source: { name: 'a.txt', isLive: false, size: text.length, bytes, again: bytes } };
}

test('A file whose first bytes were looked at is not left open.', async () => {
  const { file, source } = countedFile('Some words.');
  const reading = await byContent.open(source, signal);
  expect(file.open).toBe(0);
  expect(await written(reading.pieces(signal))).toBe('Some words.');
  expect(file.open).toBe(0);
});

test('A file in stdin stays open for the text after its first bytes were looked at.', async () => {
  const path = join(emptyFolder(), 'a.txt');
  const text = 'Some words. '.repeat(20_000);
  writeFileSync(path, text);
  const fd = openSync(path, 'r');
  const stream = createReadStream('', { fd, autoClose: false });
  const reading = await byContent.open(stdinSource(stream), signal);
  for (let turn = 0; turn < 3; turn += 1) expect(await written(reading.pieces(signal))).toBe(text);
  closeSync(fd);
});
