import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import type { FliteProgram } from '../../../src/engines/flite-program.ts';
import { FliteThread } from '../../../src/engines/flite-thread.ts';
import type { FliteTask } from '../../../src/engines/flite-voices.ts';
import { emptyFolder } from '../../support/folder.ts';

/** A worker that notes its start, answers with the thread it is, and can be told to fail in every way. */
const PROGRAM = `
const { parentPort, threadId } = require('node:worker_threads');
require('node:fs').appendFileSync(__filename + '.starts', '.');
parentPort.once('message', (program) => {
  if (program.file === 'broken') throw new Error('bad program');
  parentPort.on('message', ({ use }) => {
    if (use === 'exit') process.exit(3);
    if (use === 'throw') throw new Error('out of order');
    if (use === 'spin') for (;;);
    if (use === 'brief') Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100);
    parentPort.postMessage(Int16Array.of(threadId));
  });
  parentPort.postMessage('ready');
});
`;

const never = new AbortController().signal;
const good = Promise.resolve({ file: 'good' } as FliteProgram);

const folder = emptyFolder(afterAll);
const file = pathToFileURL(join(folder, 'program.cjs'));
writeFileSync(file, PROGRAM);

function start(program = file, loaded = good): FliteThread {
  const thread = new FliteThread(program, () => loaded);
  onTestFinished(() => thread.close());
  return thread;
}

async function ask(thread: FliteThread, use: string, signal = never): Promise<number> {
  const [answer] = await thread.run({ use } as unknown as FliteTask, signal);
  return answer ?? Number.NaN;
}

describe('a thread', () => {
  it('starts with its first task, and stays', async () => {
    const thread = start();
    expect(thread.ready).toBe(false);
    const first = await ask(thread, 'speak');
    expect(thread.ready).toBe(true);
    expect(await ask(thread, 'speak')).toBe(first);
  });

  it.each(['exit', 'throw'])('that dies by %s fails its task and is replaced', async (death) => {
    const thread = start();
    const first = await ask(thread, 'speak');
    await expect(ask(thread, death)).rejects.toMatchObject({ name: 'EngineError', kind: 'broken' });
    await expect.poll(() => thread.ready).toBe(true);
    expect(await ask(thread, 'speak')).not.toBe(first);
  });

  it('outlives a short task whose client left: a new thread would cost more', async () => {
    const thread = start();
    const first = await ask(thread, 'speak');
    const leaving = new AbortController();
    const brief = ask(thread, 'brief', leaving.signal);
    setTimeout(() => leaving.abort(new Error('gone')), 20);
    expect(await brief).toBe(first);
    expect(await ask(thread, 'speak')).toBe(first);
  });

  it('is ended when the signal aborts, in the middle of a computation, and replaced', async () => {
    const thread = start();
    const first = await ask(thread, 'speak');
    const leaving = new AbortController();
    const spinning = ask(thread, 'spin', leaving.signal);
    setTimeout(() => leaving.abort(new Error('gone')), 20);
    await expect(spinning).rejects.toThrow('gone');
    expect(await ask(thread, 'speak')).not.toBe(first);
  });

  it('that cannot start fails each task, and does not start over and over', async () => {
    const missing = start(pathToFileURL(join(folder, 'missing.cjs')));
    await expect(ask(missing, 'speak')).rejects.toMatchObject({ name: 'EngineError', kind: 'broken' });
    await expect(ask(missing, 'speak')).rejects.toThrow('missing.cjs');
    expect(missing.ready).toBe(false);
    const broken = start(file, Promise.resolve({ file: 'broken' } as FliteProgram));
    await expect(ask(broken, 'speak')).rejects.toThrow('bad program');
    const unfound = start(file, Promise.reject(new Error('no such wasm')));
    await expect(ask(unfound, 'speak')).rejects.toThrow('no such wasm');
  });

  it('that could not even be made is made with the next task', async () => {
    const address = new URL('http://127.0.0.1/'); // of which Node makes no thread, and says so before there is one
    const thread = start(address);
    for (const _ of [1, 2]) await expect(ask(thread, 'speak')).rejects.toMatchObject({ kind: 'broken' });
    address.href = file.href;
    expect(await ask(thread, 'speak')).toBeGreaterThan(0);
    expect(thread.ready).toBe(true);
  });

  it('ends at once when it is closed, also while it starts or spins', async () => {
    const starting = start();
    const prepared = starting.prepare();
    prepared.catch(() => {});
    await starting.close();
    await expect(prepared).rejects.toThrow();
    const spinning = start();
    await spinning.prepare();
    const spun = ask(spinning, 'spin');
    spun.catch(() => {});
    await sleep(10);
    await spinning.close();
    await expect(spun).rejects.toThrow();
    await expect(ask(spinning, 'speak')).rejects.toThrow('closed');
  });
});
