import { spawn } from 'node:child_process';
import { existsSync, readFileSync, truncateSync } from 'node:fs';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type Report, readFrames, writeFrame } from '../../src/engines/model-frames.ts';
import { node, Sandbox } from '../support/run.ts';
import { startServe } from '../support/serve.ts';
import {
  FRAMES_PER_CHARACTER,
  hasSherpa,
  TINY_RATE,
  tinySound,
  writeTinyVoice,
} from '../support/tiny-voice.ts';
import { writeUserConfig } from '../support/user-config.ts';

/** A sandbox with the voice in the folder `voice`. */
function boxWithVoice(): Sandbox {
  const box = new Sandbox();
  writeTinyVoice(box.path('voice'));
  return box;
}

/** `tts serve` with the voice, and what a test asks it. */
async function serveVoice(box = boxWithVoice(), engine = ['./voice']) {
  const { url, run } = await startServe(
    box,
    engine.flatMap((each) => ['--engine', each]),
  );
  const ask = async (text: string, speaker: number, signal?: AbortSignal) => {
    const answer = await fetch(`${url}/tts`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ text, speaker_no: speaker, config: { sample_rate: TINY_RATE } }),
      ...(signal && { signal }),
    });
    const body = Buffer.from(await answer.arrayBuffer());
    return { status: answer.status, body, pcm: body.subarray(44), frames: (body.length - 44) / 2 };
  };
  const requests = async () =>
    ((await (await fetch(`${url}/healthz`)).json()) as { requests: number }).requests;
  const log = async () => (await run.endBy('SIGTERM')).ended.stderr;
  return { ask, requests, log, modelProcesses: () => childrenOf(run.child.pid as number) };
}

function childrenOf(pid: number): number[] {
  const list = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8');
  return list.trim().split(' ').filter(Boolean).map(Number);
}

describe.runIf(hasSherpa() && existsSync('/proc/self/task'))('the process of a model', () => {
  it('that is killed fails its utterance with one error; the next one and other voices speak', async () => {
    const { ask, log, modelProcesses } = await serveVoice();
    expect((await ask('one', 1001)).frames).toBe(3 * FRAMES_PER_CHARACTER);
    const [pid] = modelProcesses() as [number];
    process.kill(pid, 'SIGSTOP');
    const failed = ask('two of them', 1001);
    await sleep(200);
    process.kill(pid, 'SIGKILL');
    const { status, body } = await failed;
    expect(status).toBe(502);
    expect(JSON.parse(body.toString()).error).toMatchObject({ code: 'engine_failed' });
    expect((await ask('hello', 1)).status).toBe(200);
    expect((await ask('three', 1001)).frames).toBe(5 * FRAMES_PER_CHARACTER);
    expect(modelProcesses()).toHaveLength(1);
    expect(modelProcesses()).not.toContain(pid);
    expect(await log()).toContain('voice: its process ended with SIGKILL');
  });

  it('that ends three times in a row is not started again', async () => {
    const { ask, log, modelProcesses } = await serveVoice();
    const statusOfKilled = async () => {
      const alive = modelProcesses();
      for (const pid of alive) process.kill(pid, 'SIGSTOP');
      const asked = ask('a text', 1001);
      if (alive.length > 0) await sleep(200);
      else await expect.poll(() => modelProcesses().length, { interval: 2 }).toBe(1);
      for (const pid of modelProcesses()) process.kill(pid, 'SIGKILL');
      return (await asked).status;
    };
    // A new process may answer before it is killed. Then it takes three more deaths.
    for (let deaths = 0; deaths < 3; ) deaths = (await statusOfKilled()) === 502 ? deaths + 1 : 0;
    expect((await ask('a text', 1001)).status).toBe(502);
    expect((await ask('hello', 1)).status).toBe(200);
    expect(await log()).toContain('ended 3 times in a row and is not started again');
  });

  it('that is killed between two texts costs nothing', async () => {
    const { ask, modelProcesses } = await serveVoice();
    const [pid] = modelProcesses() as [number];
    process.kill(pid, 'SIGKILL');
    await expect.poll(modelProcesses).toEqual([]);
    expect((await ask('hello', 1001)).pcm.equals(tinySound('hello'))).toBe(true);
  });

  it('that cannot load its model any more is one error, and other engines speak', async () => {
    const box = boxWithVoice();
    writeTinyVoice(box.path('other'));
    const { ask, log, modelProcesses } = await serveVoice(box, ['./voice', './other']);
    truncateSync(box.path('voice/model.onnx'), 500);
    for (const pid of modelProcesses()) process.kill(pid, 'SIGKILL');
    await expect.poll(modelProcesses).toEqual([]);
    const { status, body } = await ask('hello', 1001);
    expect(status).toBe(502);
    expect(JSON.parse(body.toString()).error).toMatchObject({ code: 'engine_failed' });
    expect((await ask('hello', 2001)).pcm.equals(tinySound('hello'))).toBe(true);
    expect((await ask('hello', 1)).status).toBe(200);
    expect(await log()).toMatch(/engine failed: voice: .*model\.onnx failed:Protobuf parsing failed/);
  });

  it('is another one after 500 texts', async () => {
    const { ask, modelProcesses } = await serveVoice();
    const before = modelProcesses();
    for (let text = 1; text <= 500; text += 1) expect((await ask('hi', 1001)).status).toBe(200);
    expect(modelProcesses()).toEqual(before);
    expect((await ask('ho', 1001)).pcm.equals(tinySound('ho'))).toBe(true);
    await expect.poll(modelProcesses).toHaveLength(1);
    expect(modelProcesses()).not.toEqual(before);
  });

  it.each([1, 3])('speaks texts at once, each with its own samples: %i in work', async (concurrency) => {
    const box = boxWithVoice();
    const engines = { mine: { model: box.path('voice'), concurrency, maxChars: 40 } };
    writeUserConfig(box, { engines });
    const { ask } = await serveVoice(box, ['mine']);
    // Each sentence is a piece of its own; the spaces between them are not spoken.
    const sentences = [
      'First of three long texts.',
      'A second one of these texts.',
      'And another text, longer still.',
    ];
    const answers = await Promise.all(
      sentences.map((sentence) => ask(Array.from({ length: 20 }, () => sentence).join(' '), 1001)),
    );
    for (const [at, { pcm }] of answers.entries())
      expect(pcm.equals(tinySound(sentences[at]?.repeat(20) ?? ''))).toBe(true);
  });

  it('stops for a client that leaves, and goes on for others', async () => {
    const { ask, requests, modelProcesses } = await serveVoice();
    const control = new AbortController();
    const left = ask('some words of a long text. '.repeat(2000), 1001, control.signal);
    await expect.poll(requests).toBe(1);
    control.abort();
    await expect(left).rejects.toThrow();
    await expect.poll(requests).toBe(0);
    expect((await ask('one', 1001)).frames).toBe(3 * FRAMES_PER_CHARACTER);
    expect(modelProcesses()).toHaveLength(1);
  });
});

const program = fileURLToPath(new URL('../../dist/model.mjs', import.meta.url));

describe.runIf(hasSherpa())('the program of a model', () => {
  it('stops soon when it is told to', async () => {
    const voice = boxWithVoice().path('voice');
    const child = spawn(node, [program], { stdio: ['ignore', 'ignore', 'inherit', 'pipe', 'pipe'] });
    onTestFinished(() => void child.kill('SIGKILL'));
    const [orders, reports] = [child.stdio[3] as Writable, child.stdio[4] as Readable];
    const vits = { model: `${voice}/model.onnx`, tokens: `${voice}/tokens.txt` };
    const config = { model: { vits, numThreads: 1, provider: 'cpu', debug: false }, maxNumSentences: 1 };
    writeFrame(orders, { type: 'load', config });
    const text = 'a sentence of many. '.repeat(5000);
    writeFrame(orders, { type: 'speak', id: 7, text, options: { sid: 0, speed: 1 } });
    let chunks = 0;
    for await (const report of readFrames<Report>(reports)) {
      if (report.type === 'samples') chunks += 1;
      if (chunks === 3) writeFrame(orders, { type: 'cancel', id: 7 });
      if (report.type === 'end') break;
    }
    expect(chunks).toBeLessThan(1000);
  });
});
