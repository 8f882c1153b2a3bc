import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'rolldown';
import { expect, it } from 'vitest';
import { openStore } from '../../../src/voices/cache-store.ts';
import { emptyFolder } from '../../support/folder.ts';
import { sound } from '../sound/wav-builder.ts';
import { filesBelow, heard, keyOf, uid } from './segment-sound.ts';

const KEYS = Array.from({ length: 6 }, (_, i) => keyOf(`${i}`));
const BYTES = 300_000;

/** What another process does: writes entries again and again, each as a run of its own, and reads now and then. */
const program = (store: string, options: object) => `
  const { openStore } = require(${JSON.stringify(store)});
  const keys = ${JSON.stringify(KEYS)};
  const format = { encoding: 'integer', sampleRate: 22050, channels: 1, bitsPerSample: 16 };
  const sound = (seed) => Buffer.from(Array.from({ length: ${BYTES} }, (_, i) => ((i + seed) * 37 + (i >> 8)) % 251));
  const sounds = keys.map((_, i) => sound(i));
  (async () => {
    for (let round = 0; round < 3; round++)
      for (const [i, key] of keys.entries()) {
        const store = await openStore({ ...${JSON.stringify(options)}, warn: (text) => console.log(text) });
        const draft = store.put({ key, format, owner: '' });
        for (let at = 0; at < ${BYTES}; at += 20_000) await draft?.write(sounds[i].subarray(at, at + 20_000));
        await draft?.publish();
        const other = (i * 5 + round) % keys.length;
        const all = [];
        const speech = await store.get(keys[other]);
        for await (const piece of speech?.pcm ?? []) all.push(piece);
        if (speech && !Buffer.concat(all).equals(sounds[other])) console.log('wrong sound');
        await store.close();
      }
  })().catch((error) => console.log(error));
`;

it('The cache is right for three processes that write and read the same entries at once, and throw out what the others write.', async () => {
  const file = join(emptyFolder(), 'store.cjs');
  await build({
    input: 'src/voices/cache-store.ts',
    platform: 'node',
    transform: { target: 'es2023' },
    output: { file, format: 'cjs', codeSplitting: false },
  });
  const home = { folder: emptyFolder(), uid };
  const run = () =>
    promisify(execFile)(process.execPath, ['-e', program(file, { ...home, maxBytes: 4 * BYTES })]);
  expect(await Promise.all([run(), run(), run()])).toEqual(Array(3).fill({ stdout: '', stderr: '' }));
  const store = await openStore({ ...home, maxBytes: 2 ** 30, warn: () => {} });
  const left: number[] = [];
  for (const [i, key] of KEYS.entries()) {
    const pcm = store && (await heard(store, key));
    if (!pcm) continue;
    expect(pcm.equals(sound(BYTES, i))).toBe(true);
    left.push(i);
  }
  expect(left.length).toBeGreaterThan(0);
  expect(left.length).toBeLessThanOrEqual(4);
  expect(filesBelow(home.folder, /part/)).toEqual([]);
});
