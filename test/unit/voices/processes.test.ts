import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { rolldown } from 'rolldown';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openStore, type Store } from '../../../src/voices/cache-store.ts';
import { emptyFolder } from '../../support/folder.ts';
import { sound } from '../sound/wav-builder.ts';
import { filesBelow, heard, keyOf, uid } from './segment-sound.ts';

const KEYS = Array.from({ length: 6 }, (_, i) => keyOf(`${i}`));
const BYTES = 300_000;

/** What another process does: writes entries again and again, reading now and then, until it is ended. */
const program = (rounds: number, maxBytes: number, isSmall = maxBytes < KEYS.length * BYTES) => `
  const { openStore } = require('data-store');
  const keys = ${JSON.stringify(KEYS)};
  const format = { encoding: 'integer', sampleRate: 22050, channels: 1, bitsPerSample: 16 };
  const sound = (seed) => Buffer.from(Array.from({ length: ${BYTES} }, (_, i) => ((i + seed) * 37 + (i >> 8)) % 251));
  const sounds = keys.map((_, i) => sound(i));
  (async () => {
    const options = { folder: process.env.FOLDER, uid: process.geteuid(), maxBytes: ${maxBytes}, warn: (text) => console.log(text) };
    let store = await openStore(options);
    for (let round = 0; round < ${rounds}; round++) {
      for (const [i, key] of keys.entries()) {
        if (${isSmall}) {
          await store.close(); // a run of its own for each: one alone would fill it
          store = await openStore(options);
        }
        const draft = store.put(key, format);
        for (let at = 0; at < ${BYTES}; at += 20_000) await draft?.write(sounds[i].subarray(at, at + 20_000));
        await draft?.publish();
        const speech = await store.get(keys[(i * 5 + round) % keys.length]);
        if (!speech) continue;
        const all = [];
        for await (const piece of speech.pcm) all.push(piece);
        if (!Buffer.concat(all).equals(sounds[(i * 5 + round) % keys.length])) console.log('wrong sound');
      }
    }
    await store.close();
  })().catch((error) => console.log(error));
`;

let code: string;

beforeAll(async () => {
  const build = await rolldown({ input: 'src/voices/cache-store.ts', platform: 'node', tsconfig: true });
  const { output } = await build.generate({ format: 'cjs' });
  code = output[0].code;
  await build.close();
});

interface Work {
  readonly rounds: number;
  readonly maxBytes?: number;
}

function start({ rounds, maxBytes = 2 ** 30 }: Work) {
  const exports = `const module_ = { exports: {} }; (function (exports, module) {${code}\n})(module_.exports, module_);`;
  const source = `${exports}${program(rounds, maxBytes).replace("require('data-store')", 'module_.exports')}`;
  const child = spawn(process.execPath, ['-'], { env: { FOLDER: folder } });
  child.stdin.end(source);
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (piece) => {
      said += piece;
    });
  return { child, ended: once(child, 'close').then(([status, signal]) => ({ status, signal, said })) };
}

let folder: string;
let store: Store;

beforeEach(async () => {
  folder = emptyFolder();
  const opened = await openStore({ folder, uid, maxBytes: 2 ** 30, warn: () => {} });
  if (!opened) throw new Error('no store');
  store = opened;
});

/** How many of the entries are there; each of them has to be right. */
async function countRight(): Promise<number> {
  let found = 0;
  for (const [i, key] of KEYS.entries()) {
    const pcm = await heard(store, key);
    if (pcm === undefined) continue;
    expect(pcm.equals(sound(BYTES, i))).toBe(true);
    found += 1;
  }
  return found;
}

describe('a segment cache and the processes that use it', () => {
  it('is right for three that write and read the same entries at once, and throw out what the others write', async () => {
    const runs = [1, 2, 3].map(() => start({ rounds: 3, maxBytes: 4 * BYTES }).ended);
    expect(await Promise.all(runs)).toEqual(Array(3).fill({ status: 0, signal: null, said: '' }));
    const left = await countRight();
    expect(left).toBeGreaterThan(0);
    expect(left).toBeLessThanOrEqual(4);
    expect(filesBelow(folder, /part/)).toEqual([]);
  });

  it('holds only whole entries whenever a process is killed', async () => {
    for (const delay of [0, 10, 25]) {
      const before = filesBelow(folder, /part/).length;
      const { child, ended } = start({ rounds: 1000 });
      await expect.poll(() => filesBelow(folder, /part/).length, { interval: 5 }).toBeGreaterThan(before);
      await sleep(delay);
      child.kill('SIGKILL');
      expect((await ended).signal).toBe('SIGKILL');
      await countRight();
    }
    expect(await countRight()).toBeGreaterThan(0);
  });
});
