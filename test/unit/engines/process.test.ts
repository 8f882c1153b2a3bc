import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ModelProcess } from '../../../src/engines/model-process.ts';
import { emptyFolder } from '../../support/folder.ts';

const never = new AbortController().signal;

/**
 * A program that writes down its orders, speaks each word as one sample with the number of its letters, and does what some
 * words say.
 */
const PROGRAM = `
const { appendFileSync } = require('node:fs');
const { Socket } = require('node:net');
const [orders, reports] = [new Socket({ fd: 3 }), new Socket({ fd: 4 })];
function report(kind, bytes) {
  const head = Buffer.alloc(5);
  head.writeUInt32LE(bytes.length);
  head[4] = kind;
  reports.write(Buffer.concat([head, bytes]));
}
const say = (message) => report(0, Buffer.from(JSON.stringify(message)));
function die(words) {
  process.stderr.write(words, () => process.exit(134));
}
function speak({ id, text }) {
  for (const word of text.split(' ')) {
    if (word === 'refuse') return say({ type: 'error', id, message: 'no sound for \\u001b[1m this' });
    if (word === 'die') return setTimeout(die, 100, 'first words\\nlast words\\n');
    if (word === 'junk') return reports.write(Buffer.alloc(64, 255));
    if (word === 'wait') return;
    if (word === 'flood') return flood(id, 32);
    const samples = Buffer.alloc(6);
    samples.writeUInt32LE(id);
    samples.writeInt16LE(word.length, 4);
    report(1, samples);
  }
  say({ type: 'end', id });
}
function flood(id, left) {
  if (left === 0) return say({ type: 'end', id });
  const samples = Buffer.alloc(4 + 2 ** 20);
  samples.writeUInt32LE(id);
  report(1, samples);
  appendFileSync(__filename + '.flood', 'x');
  if (reports.writableNeedDrain) reports.once('drain', () => flood(id, left - 1));
  else flood(id, left - 1);
}
let held = Buffer.alloc(0);
orders.on('data', (piece) => {
  held = Buffer.concat([held, piece]);
  while (held.length >= 5 && held.length >= 5 + held.readUInt32LE(0)) {
    const order = JSON.parse(held.subarray(5, 5 + held.readUInt32LE(0)));
    held = held.subarray(5 + held.readUInt32LE(0));
    appendFileSync(__filename + '.log', order.type + ' ' + (order.id ?? '') + '\\n');
    if (order.type === 'load' && order.config.dies) die('cannot load\\n');
    else if (order.type === 'load' && order.config.refuses) say({ type: 'error', message: 'no such model' });
    else if (order.type === 'load') say({ type: 'loaded', sampleRate: 8000, voices: 2 });
    if (order.type === 'speak') speak(order);
  }
});
orders.on('end', () => reports.end());
`;

function start(config: object = {}) {
  const file = join(emptyFolder(), 'program.cjs');
  writeFileSync(file, PROGRAM);
  const { env, execPath } = process;
  const model = { name: 'mine', env, execPath, config, cwd: '/', runtimes: [] };
  const child = new ModelProcess(model, file);
  child.loaded.catch(() => {});
  onTestFinished(() => child.end());
  const say = (text: string, signal = never) => child.speak({ text, options: {} }, signal);
  const flooded = () => (existsSync(`${file}.flood`) ? statSync(`${file}.flood`).size : 0);
  return { child, say, flooded, orders: () => readFileSync(`${file}.log`, 'utf8').trimEnd().split('\n') };
}

async function all(sound: AsyncIterable<Int16Array>): Promise<number[]> {
  const samples: number[] = [];
  for await (const piece of sound) samples.push(...piece);
  return samples;
}

describe('the process of a model', () => {
  it('says what it has loaded, and speaks several texts, each with its own samples', async () => {
    const { child, say } = start();
    expect(await child.loaded).toMatchObject({ sampleRate: 8000, voices: 2 });
    const [one, two] = await Promise.all([all(say('a text of words')), all(say('another text'))]);
    expect([one, two]).toEqual([
      [1, 4, 2, 5],
      [7, 4],
    ]);
  });

  it('that dies in the middle fails all of its texts with its last words, after their samples', async () => {
    const { child, say } = start();
    const waiting = all(say('wait'));
    const sound = say('one die')[Symbol.asyncIterator]();
    expect((await sound.next()).value).toEqual(Int16Array.of(3));
    const message = 'mine: its process ended with status 134: last words';
    await expect(sound.next()).rejects.toThrow(message);
    await expect(waiting).rejects.toThrow(message);
    expect(child.isDead).toBe(true);
    await expect(all(say('next'))).rejects.toThrow(message);
  });

  it('that writes junk fails its text', async () => {
    const { say } = start();
    const message = expect.stringMatching(/^mine: its process ended with SIGKILL: a frame of \d+ bytes$/);
    await expect(all(say('junk'))).rejects.toMatchObject({ name: 'EngineError', kind: 'failed', message });
  });

  it.each(['aborts', 'leaves'])('is told to stop when the reader %s', async (how) => {
    const { say, orders } = start();
    const leaving = new AbortController();
    const sound = say('one wait', leaving.signal)[Symbol.asyncIterator]();
    await sound.next();
    if (how === 'leaves') await sound.return?.(undefined);
    else {
      leaving.abort(new Error('gone'));
      await expect(sound.next()).rejects.toThrow('gone');
    }
    expect(await all(say('next'))).toEqual([4]);
    expect(orders()).toEqual(['load ', 'speak 1', 'cancel 1', 'speak 2']);
  });

  it('is not read while 16 MiB of its sound wait for a reader', async () => {
    const { say, flooded } = start();
    const sound = say('flood')[Symbol.asyncIterator]();
    await sound.next();
    await expect.poll(flooded).toBeGreaterThanOrEqual(16);
    await sleep(150);
    expect(flooded()).toBeLessThan(24);
    let bytes = 2 ** 20;
    for (let next = await sound.next(); !next.done; next = await sound.next()) bytes += next.value.byteLength;
    expect(bytes).toBe(32 * 2 ** 20);
  });
});
