import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  chownSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import type { PcmFormat } from '../../../src/sound/pcm.ts';
import { openStore, type Store } from '../../../src/voices/cache-store.ts';
import { emptyFolder } from '../../support/folder.ts';
import { collect, inPieces } from '../sound/body.ts';
import { plainWav, sound, speechFormat } from '../sound/wav-builder.ts';
import { filesBelow, heard, keep, keyOf, uid } from './segment-sound.ts';

const KEY = keyOf('hello');
const HOUR = 3600;

let folder: string;
let warnings: string[];
let store: Store;

const openAt = (place: string, maxBytes = 2 ** 30) =>
  openStore({ folder: place, uid, maxBytes, warn: (text) => warnings.push(text) });

async function open(maxBytes?: number): Promise<Store> {
  const opened = await openAt(folder, maxBytes);
  if (!opened) throw new Error(warnings.join());
  return opened;
}

beforeEach(async () => {
  folder = join(emptyFolder(), 'deep', 'cache');
  warnings = [];
  store = await open();
});

const has = async (key: string) => (await store.secondsOf(key)) !== undefined;

const entries = () => filesBelow(folder, /\.wav$/);
const parts = () => filesBelow(folder, /\.part$/);

function entry(): string {
  const [path = 'none', ...others] = entries();
  expect(others).toEqual([]);
  return path;
}

describe('the segment cache', () => {
  it('has a complete segment before the process does anything else, so that a kill loses none', async () => {
    let isLater = false;
    setImmediate(() => {
      isLater = true;
    });
    await keep(store, KEY, sound(300_000));
    expect([entries().length, isLater]).toEqual([1, false]);
  });

  it.each<[string, PcmFormat, number]>([
    ['speech', speechFormat, 70_000],
    ['an odd number of bytes', { ...speechFormat, bitsPerSample: 8 }, 333],
    [
      'frames that no block is a multiple of',
      { ...speechFormat, channels: 5, bitsPerSample: 24 },
      15 * 40_001,
    ],
    ['floats', { encoding: 'float', sampleRate: 48_000, channels: 2, bitsPerSample: 32 }, 80_000],
  ])('gives back what it was given: %s', async (_, format, bytes) => {
    await keep(store, KEY, sound(bytes), format);
    const speech = await store.get(KEY);
    expect(speech).toMatchObject({ format, bytes });
    const pieces: Uint8Array[] = [];
    for await (const piece of speech?.pcm ?? []) pieces.push(piece);
    const frame = (format.channels * format.bitsPerSample) / 8;
    expect(pieces.every(({ length }) => length % frame === 0)).toBe(true);
    expect(Buffer.concat(pieces).equals(sound(bytes))).toBe(true);
    expect(warnings).toEqual([]);
  });

  it('holds plain WAVs in folders that are nobody else’s business', async () => {
    await keep(store, KEY, sound(4000));
    expect(readFileSync(entry()).equals(plainWav(sound(4000)))).toBe(true);
    for (const path of [dirname(folder), folder, dirname(entry())])
      expect((statSync(path).mode & 0o777).toString(8)).toBe('700');
    for (const path of filesBelow(folder, /\.wav$|tally/))
      expect((statSync(path).mode & 0o777).toString(8)).toBe('600');
  });

  it('discards what is still open when it is closed', async () => {
    const draft = store.put({ key: KEY, format: speechFormat, owner: '' });
    await draft?.write(sound(500_000));
    await keep(store, keyOf('other'), sound(2000));
    const left = await store.get(keyOf('other'));
    await store.close();
    expect(parts()).toEqual([]);
    await expect(collect(left?.pcm ?? inPieces(sound(1)))).rejects.toThrow('cannot read');
  });

  it('is read to its end even when another run removes the entry meanwhile', async () => {
    await keep(store, KEY, sound(900_000));
    const speech = await store.get(KEY);
    const reading = speech?.pcm[Symbol.asyncIterator]();
    const first = await reading?.next();
    rmSync(folder, { recursive: true });
    const rest = await collect({ [Symbol.asyncIterator]: () => reading as AsyncIterator<Uint8Array> });
    expect(Buffer.concat([first?.value ?? Buffer.alloc(0), rest]).equals(sound(900_000))).toBe(true);
  });
});

describe('a damaged entry', () => {
  const size = 44 + 60_000;

  it.each<[string, (path: string) => void]>([
    ['cut within its header', (path) => truncateSync(path, 30)],
    ['one byte short', (path) => truncateSync(path, size - 1)],
    ['followed by another WAV', (path) => appendFileSync(path, plainWav(sound(100)))],
    ['text', (path) => writeFileSync(path, 'no sound at all')],
    ['another whole WAV', (path) => writeFileSync(path, plainWav(sound(60_000, 9)))],
    ['of a size that nobody knows', (path) => writeFileSync(path, plainWav(sound(60_000), 0xffff_ffff))],
  ])('is a miss and is removed: %s', async (_, damage) => {
    await keep(store, KEY, sound(60_000));
    damage(entry());
    expect(await has(KEY)).toBe(false);
    expect(entries()).toEqual([]);
    await keep(store, KEY, sound(60_000));
    damage(entry());
    expect(await store.get(KEY)).toBeUndefined();
    await keep(store, KEY, sound(60_000));
    expect((await heard(store, KEY))?.equals(sound(60_000))).toBe(true);
    expect(warnings).toEqual([]);
  });

  it('is a miss whichever of its bits is flipped', async () => {
    await keep(store, KEY, sound(400));
    const [path, whole] = [entry(), readFileSync(entry())];
    for (let bit = 0; bit < whole.length * 8; bit += 31) {
      const flipped = Buffer.from(whole);
      flipped[bit >> 3] = (flipped[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      writeFileSync(path, flipped);
      expect(await has(KEY), `bit ${bit}`).toBe(false);
    }
    writeFileSync(path, whole);
    expect(await has(KEY)).toBe(true);
  });

  it('is a miss when it belongs to another text', async () => {
    await keep(store, keyOf('other'), sound(4000));
    const other = entry();
    await keep(store, KEY, sound(400));
    const own = entries().find((path) => path !== other) ?? '';
    copyFileSync(other, own);
    expect(await store.get(KEY)).toBeUndefined();
    expect(await has(keyOf('other'))).toBe(true);
  });

  it.each<[string, (path: string) => void]>([
    ['a link to the very same content', (path) => symlinkSync(`${path}.moved`, path)],
    ['a link to nowhere', (path) => symlinkSync('/nowhere', path)],
  ])('is a miss when it is %s', async (_, replace) => {
    await keep(store, KEY, sound(400));
    const path = entry();
    renameSync(path, `${path}.moved`);
    replace(path);
    expect(await store.get(KEY)).toBeUndefined();
  });

  it('is never looked for, nor written, behind a link that takes the place of a sub-folder', async () => {
    await keep(store, KEY, sound(400));
    const shard = dirname(entry());
    const elsewhere = join(emptyFolder(), 'elsewhere');
    renameSync(shard, elsewhere);
    symlinkSync(elsewhere, shard);
    const before = filesBelow(elsewhere, /./);
    expect(await store.get(KEY)).toBeUndefined();
    await keep(store, KEY, sound(800));
    expect(filesBelow(elsewhere, /./)).toEqual(before);
    expect(warnings).toHaveLength(1);
  });
});

describe('a cache that grows too large', () => {
  const LIMIT = 160_000;
  const ENTRY = 5000;

  it('lets go of what was not used for the longest time, and of what was used in the future', async () => {
    const now = Date.now() / 1000;
    store = await open(LIMIT);
    for (let i = 0; i < 20; i++) {
      await keep(store, keyOf(`${i}`), sound(ENTRY, i));
      const [path = ''] = filesBelow(folder, new RegExp(keyOf(`${i}`).slice(2)));
      const at = i === 19 ? now + 365 * 24 * HOUR : now - HOUR + i;
      utimesSync(path, at, at);
    }
    expect(await heard(store, keyOf('0'))).toBeDefined();
    await store.close();
    store = await open(LIMIT);
    for (let i = 20; i < 40; i++) await keep(store, keyOf(`${i}`), sound(ENTRY, i));
    await store.close();
    const kept = await Promise.all(Array.from({ length: 40 }, (_, i) => has(keyOf(`${i}`))));
    expect(kept[0]).toBe(true);
    expect(kept.slice(20)).toEqual(Array(20).fill(true));
    expect(kept.slice(1, 9)).toEqual(Array(8).fill(false));
    expect(kept[19]).toBe(false);
    expect(kept.slice(1, 19).lastIndexOf(false)).toBeLessThan(kept.slice(1, 19).indexOf(true));
    expect(warnings).toEqual([]);
  });

  it.each([
    ['a pipe', (path: string) => void execFileSync('mkfifo', [path])],
    ['a folder', (path: string) => void mkdirSync(path)],
    ['a link', (path: string) => symlinkSync('none', path)],
  ])('says that it keeps nothing where %s stands for its tally', async (_, plant) => {
    mkdirSync(folder, { recursive: true });
    plant(join(folder, 'tally'));
    await keep(store, KEY, sound(400));
    await store.close();
    expect(warnings).toEqual([
      expect.stringMatching(/not kept in .*tally is a .*expected a file of your own/),
    ]);
  });

  it('keeps the beginning of a run that is longer than there is room for, since that is what its repetition asks for first', async () => {
    store = await open(LIMIT);
    await keep(store, keyOf('before'), sound(ENTRY));
    await store.close();
    for (const attempt of [1, 2]) {
      store = await open(LIMIT);
      const found = [];
      for (let i = 0; i < 100; i++) {
        found.push((await heard(store, keyOf(`${i}`))) !== undefined);
        if (!found[i]) await keep(store, keyOf(`${i}`), sound(ENTRY, i));
      }
      await store.close();
      const kept = attempt === 1 ? 0 : 29;
      expect(found).toEqual([...Array(kept).fill(true), ...Array(100 - kept).fill(false)]);
    }
    expect(warnings).toEqual(Array(2).fill(expect.stringMatching(/has filled the cache.*cacheSize/)));
    expect(await has(keyOf('before'))).toBe(false);
  });

  it('stays within its limit, however many runs wrote a little of it each', async () => {
    for (let i = 0; i < 100; i++) {
      store = await open(LIMIT);
      await keep(store, keyOf(`${i}`), sound(ENTRY, i));
      await store.close();
      const bytes = entries().reduce((sum, path) => sum + statSync(path).size, 0);
      expect(bytes).toBeLessThanOrEqual(LIMIT);
    }
    expect(entries().length).toBeGreaterThan(LIMIT / ENTRY / 2);
    expect(await has(keyOf('99'))).toBe(true);
  });

  it('keeps no single sound that would throw out all others', async () => {
    store = await open(LIMIT);
    await keep(store, keyOf('small'), sound(ENTRY));
    // It is too long at its very end.
    await keep(store, KEY, sound((LIMIT / 16) * 15 + 2));
    await store.close();
    expect([await has(keyOf('small')), await has(KEY), parts()]).toEqual([true, false, []]);
  });

  it('removes what killed runs left an hour ago, and nothing else', async () => {
    mkdirSync(folder, { recursive: true });
    const name = (digit: string) => join(folder, `entry.${digit.repeat(8)}-0000-4000-8000-000000000000.part`);
    const old = Date.now() / 1000 - HOUR - 60;
    for (const path of [name('a'), join(folder, 'mine.part'), join(folder, 'notes.txt')]) {
      writeFileSync(path, 'x');
      utimesSync(path, old, old);
    }
    writeFileSync(name('b'), 'x');
    await keep(store, KEY, sound(400));
    await store.close();
    const left = [name('a'), name('b'), join(folder, 'mine.part'), join(folder, 'notes.txt')].map(existsSync);
    expect(left).toEqual([false, true, true, true]);
  });
});

describe('a place where nothing can be kept', () => {
  it.skipIf(process.getuid?.() !== 0)('is refused with a warning when it is another user’s', async () => {
    const theirs = emptyFolder();
    chownSync(theirs, 65_534, 65_534);
    expect(await openAt(theirs)).toBeUndefined();
    expect(warnings).toEqual([`segments are not kept in ${theirs}: it belongs to another user`]);
  });

  it.skipIf(process.getuid?.() !== 0)(
    'is not read or written below it when that is another user’s',
    async () => {
      await keep(store, KEY, sound(400));
      const shard = dirname(entry());
      expect(await heard(store, KEY)).toEqual(sound(400));
      chownSync(shard, 65_534, 65_534);
      expect(await heard(store, KEY)).toBeUndefined();
      await keep(store, KEY, sound(500));
      await store.close();
      expect(readFileSync(entry()).length).toBe(44 + 400);
      expect(warnings).toEqual([expect.stringContaining('is not a folder of its own')]);
    },
  );

  it('is refused with a warning when it is a file', async () => {
    const file = join(emptyFolder(), 'file');
    writeFileSync(file, '');
    expect(await openAt(file)).toBeUndefined();
    expect(warnings).toEqual([`segments are not kept in ${file}: it is not a folder`]);
  });

  it.each(['/proc/x/y', '/dev/null/cache'])('costs one warning and no sound: %s', async (place) => {
    const opened = await openAt(place);
    for (let i = 0; opened && i < 3; i++) {
      expect(await opened.get(KEY)).toBeUndefined();
      await keep(opened, KEY, sound(400_000));
    }
    await opened?.close();
    expect(warnings).toEqual([expect.stringContaining(`segments are not kept in ${place}: `)]);
  });
});
