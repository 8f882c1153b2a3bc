import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { expectSpoken } from '../support/book.ts';
import type { Script } from '../support/byte-server.ts';
import { gate } from '../support/gate.ts';
import { complete, streamed } from '../support/http-bytes.ts';
import { novel } from '../support/novel.ts';
import { wholePcm } from '../support/read-wav.ts';
import { Sandbox } from '../support/run.ts';
import { serveSpeech } from '../support/speech-server.ts';
import { textOf, wavOf } from '../support/text-audio.ts';
import { writeUserConfig } from '../support/user-config.ts';

const RATE = 8000;
/** 0.045 s a byte: a fast voice, whose sound counts as whole without a question. */
const FRAMES_PER_BYTE = 360;

/** Speaks the text of a request byte by byte. */
function speaking({ delay = 0, isStreamed = false } = {}): Script {
  return async (wire, request, number) => {
    const { input } = request.json as { input: string };
    await sleep(delay);
    const wav = wavOf(input, { sampleRate: RATE, framesPerByte: FRAMES_PER_BYTE, sized: !isStreamed });
    await (isStreamed ? streamed(wav, 50_000) : complete(wav))(wire, request, number);
  };
}

function heard(box: Sandbox): string {
  return textOf(wholePcm(box.read('book.wav')), FRAMES_PER_BYTE);
}

const ARGS = ['-f', 'book.txt', '-o', 'book.wav', '-r', String(RATE), '--paragraph-pause', '0', '-q'];

describe('a novel of 100,000 characters through a server', () => {
  it.each([['streamed answers', true]])(
    'is killed twice and run again, without a wrong sample or a segment asked for twice: %s',
    async (_, isStreamed) => {
      const server = await serveSpeech(speaking({ delay: 5, isStreamed }));
      const box = new Sandbox();
      const book = novel(100_000);
      box.file('book.txt', book);
      const args = [...ARGS, '--engine', server.url];
      const atKills: string[] = [];
      for (const requests of [100, 250]) {
        const run = box.start(args);
        await expect.poll(() => server.asked.length).toBeGreaterThan(requests);
        run.child.kill('SIGKILL');
        await run.ended.catch(() => {});
        atKills.push(...server.asked.slice(-20).map(({ input }) => input));
      }
      expect(await box.run(args, { patience: 110_000 })).toMatchObject({ status: 0, stderr: '' });
      expectSpoken(heard(box), book);
      const inputs = server.asked.map(({ input }) => input);
      const twice = inputs.filter((input, at) => inputs.indexOf(input) < at);
      // Only what was under way or not yet stored when a run was killed: twelve parts at most, twice.
      expect(twice.filter((input) => !atKills.includes(input))).toEqual([]);
      expect(twice.length).toBeLessThanOrEqual(24);
      const undisturbed = new Sandbox();
      undisturbed.file('book.txt', book);
      expect((await undisturbed.run(args, { patience: 110_000 })).status).toBe(0);
      expect(undisturbed.read('book.wav').equals(box.read('book.wav'))).toBe(true);
    },
    120_000,
  );
});

describe('the texts at once', () => {
  it.each([
    { concurrency: 8, args: [], most: 8 },
    { concurrency: 8, args: ['--concurrency', '3'], most: 3 },
  ])(
    'are as many as the engine takes, and never more than asked for: $concurrency $args',
    async ({ concurrency, args, most }) => {
      const open = { now: 0, most: 0 };
      const full = gate();
      const server = await serveSpeech(async (wire, request, number) => {
        open.now += 1;
        open.most = Math.max(open.most, open.now);
        // The first ones wait for each other; then there is time for one too many.
        if (open.now === most) full.open();
        await full.opened;
        await sleep(30);
        open.now -= 1;
        await speaking()(wire, request, number);
      });
      const box = new Sandbox();
      writeUserConfig(box, { engines: { mine: { url: server.url, concurrency } } });
      box.file('book.txt', 'One short paragraph of many.\n\n'.repeat(40));
      const run = await box.run([...ARGS, '--engine', 'mine', '--max-chars', '40', '--no-cache', ...args]);
      expect(run).toMatchObject({ status: 0, stderr: '' });
      expect(open.most).toBe(most);
    },
  );
});
