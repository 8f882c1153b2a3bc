import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { serveBytes } from '../support/byte-server.ts';
import { complete } from '../support/http-bytes.ts';
import { parseWav } from '../support/read-wav.ts';
import { named, type RunOptions, Sandbox } from '../support/run.ts';
import { serveSpeech } from '../support/speech-server.ts';
import { wavOf } from '../support/text-audio.ts';
import { writeUserConfig } from '../support/user-config.ts';

/** Milliseconds that a service or an engine takes for a line. */
const PACE = 15;

const linesOf = (changed?: number) =>
  Array.from({ length: 200 }, (_, at) => {
    const name = ['Alice', 'Bob', 'Carl'][at % 3];
    return `${name}: This is ${at === changed ? 'the changed' : 'the'} line number ${at}.\n`;
  }).join('\n');

/** A service that speaks at 24,000 Hz, and an engine that speaks at 16,000 Hz. */
async function stage() {
  const asked: string[] = [];
  const speaking = (key: 'text' | 'input', sampleRate: number) =>
    (async (wire, request, number) => {
      const text = (request.json as Record<string, string>)[key] ?? '';
      asked.push(text);
      await sleep(PACE);
      await complete(wavOf(text, { sampleRate, framesPerByte: 20 }))(wire, request, number);
    }) satisfies Parameters<typeof serveBytes>[0];
  const service = await serveBytes(speaking('text', 24_000));
  const engine = await serveSpeech(speaking('input', 16_000));
  const box = new Sandbox();
  writeUserConfig(box, { engines: { mine: { url: engine.url } } });
  const options: RunOptions = { env: named(service.url, { TTS_CACHE: '1' }), patience: 60_000 };
  return { asked, box, options };
}

const ARGS = [
  '-f',
  'play.txt',
  '--voices',
  'Alice=2,Bob=mine:bert,Carl=slt',
  '-s',
  '2',
  '-q',
  '-o',
  'play.wav',
];

it('A dialogue of a service, an engine and a built-in voice goes on where it was killed, and asks for nothing twice.', async () => {
  const { asked, box, options } = await stage();
  box.file('play.txt', linesOf());
  for (const until of [30, 80]) {
    const run = box.start(ARGS, options);
    await expect.poll(() => asked.length, { timeout: 20_000, interval: 5 }).toBeGreaterThan(until);
    run.child.kill('SIGKILL');
    await run.ended.catch(() => {});
  }
  expect(await box.tts(ARGS, options)).toMatchObject({ status: 0, stderr: '' });
  const lines = new Set(asked);
  expect(lines.size).toBe(134);
  // What was under way when it was killed is lost.
  expect(asked.length - lines.size).toBeLessThanOrEqual(2 * (4 + 6));
  const whole = parseWav(box.read('play.wav'));
  expect(whole.sampleRate).toBe(24_000);

  asked.length = 0;
  box.file('play.txt', linesOf(100));
  expect(await box.tts(ARGS, options)).toMatchObject({ status: 0 });
  expect(asked).toEqual(['This is the changed line number 100.']);
});
