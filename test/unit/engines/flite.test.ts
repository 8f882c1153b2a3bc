import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { Flite, VARIABLES_START } from '../../../src/engines/flite.ts';
import {
  compileFlite,
  type FliteProgram,
  fliteFile,
  startFlite,
} from '../../../src/engines/flite-program.ts';
import { Wasi } from '../../../src/engines/flite-wasi.ts';
import { emptyFolder } from '../../support/folder.ts';

const SHA256 = 'f975276f4f2a6de78613f197533aac2167d181b77020866d142d594bcc2a0e80';
/** The offset of the first byte of the first data segment: 0 is an active one. */
const SEGMENT_FLAG = 197_886;
const hello = { text: 'Hello there.', voice: 'rms', stretch: 1 };

let program: FliteProgram;
beforeAll(async () => {
  program = await compileFlite();
});

describe('Flite', () => {
  it('is the program that was examined', async () => {
    const hash = createHash('sha256').update(await readFile(fliteFile()));
    expect(hash.digest('hex')).toBe(SHA256);
  });

  it.each([
    ['before its voices', 1000, 0, 'ends too soon'],
    ['in its voices', 300_000, 0, 'ends too soon'],
    ['and has another kind of segment', 300_000, 1, 'is damaged'],
  ])('is refused where the file ends %s', async (_, size, flag, message) => {
    const bytes = (await readFile(fliteFile())).subarray(0, size);
    if (size > SEGMENT_FLAG) bytes[SEGMENT_FLAG] = flag;
    const file = join(emptyFolder(), 'flite.wasm');
    writeFileSync(file, bytes);
    const started = compileFlite('', file).then((found) => startFlite(found, new Wasi().imports));
    await expect(started).rejects.toThrow(message);
  });

  it('speaks each text like a fresh instance, whatever it spoke before', async () => {
    const flite = await Flite.start(program);
    const fresh = (await Flite.start(program)).speak(hello);
    flite.speak({
      text: 'Quite another sentence, of another voice, with 12 words.',
      voice: 'slt',
      stretch: 2,
    });
    expect(flite.speak(hello)).toEqual(fresh);
    expect(flite.speak(hello)).toEqual(fresh);
  });

  it.each(['rms', 'kal'])('leaves its constants as they are, as %s', async (voice) => {
    const wasi = new Wasi();
    const { memory, _start } = await startFlite(program, wasi.imports);
    const constants = () => Buffer.from(memory.buffer, 0, VARIABLES_START);
    const before = Buffer.from(constants());
    const text = 'Dr. Smith paid $5.20 on 3/4/2021 at 10:30 for 1234 zzyzx & 5% of NASA; or did he?';
    wasi.prepare(memory, ['flite', '-voice', voice, '-t', text, '-o', 'speech.wav']);
    _start();
    expect(wasi.output.length).toBeGreaterThan(10_000);
    expect(constants().equals(before)).toBe(true);
  });
});
