import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { serveBytes } from '../support/byte-server.ts';
import { complete } from '../support/http-bytes.ts';
import { named, Sandbox } from '../support/run.ts';
import { wavOf } from '../support/text-audio.ts';
import { writeUserConfig } from '../support/user-config.ts';

/** A service, an engine that is a program, and a built-in voice. */
const NAMES = ['Alice', 'Bob', 'Carol'];
const LINES = Array.from(
  { length: 200 },
  (_, at) => `${NAMES[Math.max(0, (at % 12) - 9)]}: This is line ${at + 1}.`,
);

test('A dialogue of three voices that is killed twice goes on, and a changed line is one request.', async () => {
  const box = new Sandbox();
  const asked: string[] = [];
  const server = await serveBytes(async (wire, request, number) => {
    asked.push((request.json as { text: string }).text);
    await sleep(10);
    await complete(wavOf(asked.at(-1) ?? '', { framesPerByte: 20 }))(wire, request, number);
  });
  box.file('good.wav', wavOf('the sound of a program', { framesPerByte: 200, sampleRate: 16_000 }));
  const command = ['bash', '-c', `tee -a ${box.path('log')} >&2; cat ${box.path('good.wav')}`];
  writeUserConfig(box, { engines: { mine: { command } } });
  box.file('play.txt', `${LINES.join('\n')}\n`);
  const voices = 'Alice=8,Bob=mine:mine,Carol=slt';
  const args = ['-f', 'play.txt', '--voices', voices, '--subtitles', 'a.json', '-o', 'a.wav', '-q'];
  const options = { env: named(server.url, { TTS_CACHE: '1' }), patience: 110_000 };
  const spoken = () =>
    box.list().includes('log') ? readFileSync(box.path('log'), 'utf8').trim().split('\n') : [];
  for (const enough of [8, 16]) {
    const dying = box.start(args, options);
    await expect.poll(() => asked.length).toBeGreaterThan(enough);
    dying.child.kill('SIGKILL');
    await dying.ended.catch(() => {});
  }
  expect(await box.run(args, options)).toMatchObject({ status: 0, stderr: '' });
  const { cues } = JSON.parse(box.read('a.json').toString());
  expect(cues.map(({ voice, text }: Record<string, string>) => `${voice}: ${text}`)).toEqual(LINES);
  // What was under way, or on its way to the disk, is lost with each of the two runs.
  expect(asked.length - new Set(asked).size).toBeLessThanOrEqual(16);
  expect(spoken().length - new Set(spoken()).size).toBeLessThanOrEqual(8);
  const [ofService, ofProgram] = [asked.length, spoken().length];
  box.file('play.txt', `${LINES.join('\n').replace('line 1.', 'line one.')}\n`);
  expect(await box.run(args, options)).toMatchObject({ status: 0, stderr: '' });
  expect([asked.slice(ofService), spoken().length]).toEqual([['This is line one.'], ofProgram]);
}, 120_000);
