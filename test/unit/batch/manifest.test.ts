import { appendFileSync, linkSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import {
  findBatchFiles,
  Journal,
  lineOf,
  lockFolder,
  type ManifestEntry,
  readEntries,
} from '../../../src/batch/manifest.ts';
import { emptyFolder } from '../../support/folder.ts';

let folder: string;
beforeEach(() => {
  folder = emptyFolder();
});

const entry = (id: string): ManifestEntry => ({
  id,
  file: `${id}.wav`,
  key: 'aa',
  sha256: 'bb',
  frames: 5,
  sampleRate: 8000,
  characters: 3,
});

describe('a manifest', () => {
  it('has one line for each entry, without times', () => {
    expect(lineOf(entry('a'))).toBe(
      '{"id":"a","file":"a.wav","key":"aa","sha256":"bb","frames":5,"sampleRate":8000,"characters":3}\n',
    );
  });

  it('is read whole', () => {
    writeFileSync(join(folder, 'tts-batch.jsonl'), lineOf(entry('a')) + lineOf(entry('b')));
    expect([...readEntries(folder, 'tts-batch.jsonl')]).toEqual([entry('a'), entry('b')]);
  });

  it('with the marks of a merge is refused with the line', () => {
    writeFileSync(join(folder, 'tts-batch.jsonl'), `${lineOf(entry('a'))}<<<<<<< HEAD\n`);
    expect(() => [...readEntries(folder, 'tts-batch.jsonl')]).toThrow(
      expect.objectContaining({
        message: expect.stringContaining('line 2: this is not an entry'),
        hint: 'this is a conflict of git: delete the lines <<<<<<<, ======= and >>>>>>>, and run again',
      }),
    );
  });

  it.each(['../a.wav', '/etc/a.wav', 'x/../../a.wav', 'C:\\a.wav', '', '.', 'x/', 'x//a.wav', 'a\0.wav'])(
    'that names %s is refused',
    (file) => {
      writeFileSync(join(folder, 'tts-batch.jsonl'), lineOf({ ...entry('a'), file }));
      expect(() => [...readEntries(folder, 'tts-batch.jsonl')]).toThrow('line 1: this is not an entry');
    },
  );

  it('is read whole where lines are longer than what is read at once', () => {
    const ids = ['x'.repeat(3_000_000), 'b', 'y'.repeat(1_048_000), 'c'];
    const text = ids.map((id) => lineOf({ ...entry('a'), id })).join('');
    writeFileSync(join(folder, 'tts-batch.jsonl'), text.trimEnd());
    expect([...readEntries(folder, 'tts-batch.jsonl')].map(({ id }) => id)).toEqual(ids);
  });

  it('is read after those of shards and before journals', () => {
    for (const name of [
      'tts-batch.journal',
      'tts-batch.jsonl',
      'tts-batch.2-of-3.jsonl',
      'tts-batch.2-of-3.journal',
      'a.wav',
    ])
      writeFileSync(join(folder, name), '');
    expect(findBatchFiles(folder).sources).toEqual([
      'tts-batch.jsonl',
      'tts-batch.2-of-3.jsonl',
      'tts-batch.2-of-3.journal',
      'tts-batch.journal',
    ]);
    expect(findBatchFiles(join(folder, 'none')).sources).toEqual([]);
  });
});

describe('a journal', () => {
  it('with a second name is refused: its lines would appear in that file as well', () => {
    writeFileSync(join(folder, 'profile'), '');
    linkSync(join(folder, 'profile'), join(folder, 'tts-batch.journal'));
    expect(() => new Journal(join(folder, 'tts-batch.journal'))).toThrow('has a second name');
    expect(readFileSync(join(folder, 'profile'), 'utf8')).toBe('');
  });

  it('that a kill tore keeps its whole lines, and takes further ones', () => {
    const path = join(folder, 'tts-batch.journal');
    appendFileSync(path, lineOf(entry('a')) + lineOf(entry('b')).slice(0, 20));
    const journal = new Journal(path);
    journal.add(entry('c'));
    journal[Symbol.dispose]();
    expect([...readEntries(folder, 'tts-batch.journal')].map(({ id }) => id)).toEqual(['a', 'c']);
  });
});

describe('the lock of a folder', () => {
  const host = (pid: number, running: readonly number[], realm = 'here') => ({
    pid,
    realm,
    isRunning: (other: number) => running.includes(other),
  });
  const take = (shard: { index: number; count: number } | undefined, who: ReturnType<typeof host>) =>
    lockFolder(folder, shard, who);

  it('lets shards of one division work side by side, and nothing else', () => {
    const alive = [1, 2, 3];
    const one = take({ index: 1, count: 8 }, host(1, alive));
    const two = take({ index: 2, count: 8 }, host(2, alive));
    expect(() => take({ index: 1, count: 8 }, host(3, alive))).toThrow('process 1');
    expect(() => take({ index: 1, count: 4 }, host(3, alive))).toThrow('at work');
    expect(() => take(undefined, host(3, alive))).toThrow('at work');
    for (const lock of [one, two]) lock[Symbol.dispose]();
  });
});
