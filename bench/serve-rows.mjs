// Rows of the table of docs/speed.md about `tts serve`: engines, OpenAI's interface, and a service behind another one.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createReadStream, writeFileSync } from 'node:fs';
import { createServer, request } from 'node:http';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'rolldown';
import { median, run } from './measure.mjs';

const ROUNDS = 51;
const SEGMENTS = 200;
/** The default number of concurrent requests to an engine's server. */
const AT_ONCE = 4;
/** Seconds that the quick service of server.mjs takes for an answer. */
const ANSWER_SECONDS = 0.05;

async function serve({ tts, withoutService }, options = [], env = {}) {
  const [command, ...args] = tts('serve', '--port=0', '--json', '--no-auth', ...options);
  const child = spawn(command, args, {
    env: { ...withoutService.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = await once(child.stdout, 'data');
  child.stdout.resume();
  return {
    url: JSON.parse(line).url,
    async stop() {
      child.kill();
      await once(child, 'close');
    },
  };
}

/** Milliseconds until the end of an answer. */
async function wholeAnswer(url, body) {
  const begun = performance.now();
  await firstByte(url, body);
  return performance.now() - begun;
}

/** Milliseconds until the first byte after the WAV header. */
async function firstByte(url, body) {
  const begun = performance.now();
  const asked = request(url, { method: 'POST', headers: { 'content-type': 'application/json' } });
  asked.end(JSON.stringify(body));
  const [response] = await once(asked, 'response');
  if (response.statusCode !== 200) throw new Error(`status ${response.statusCode}`);
  let first;
  let bytes = 0;
  for await (const piece of response) {
    bytes += piece.length;
    if (bytes > 44) first ??= performance.now() - begun;
  }
  return first;
}

const ask = (service, text, sampleRate) =>
  firstByte(`${service.url}/tts`, {
    text,
    speaker_no: 1001,
    config: { sample_rate: sampleRate, use_streaming_response: true },
  });

/** Writes the tiny voice of the tests, which has a few kilobytes, into a folder. */
async function tinyVoice(work) {
  const dir = join(work, 'tiny');
  const input = { voice: fileURLToPath(new URL('../test/support/tiny-voice.ts', import.meta.url)) };
  await build({ input, platform: 'node', output: { dir, entryFileNames: '[name].mjs' }, logLevel: 'silent' });
  const { writeTinyVoice } = await import(pathToFileURL(join(dir, 'voice.mjs')));
  return writeTinyVoice(join(work, 'voice'));
}

export const serveRows = [
  {
    what: 'first byte through `tts serve --engine URL`, added to that of the server',
    most: { 20: 15 },
    unit: 'ms',
    digits: 1,
    async measure(at) {
      const service = await serve(at, ['--engine', at.address('small')]);
      const added = [];
      for (let round = 0; round < ROUNDS; round++) {
        const ours = await ask(service, 'hello', 22_050);
        added.push(ours - (await firstByte(`${at.address('small')}/audio/speech`, {})));
      }
      await service.stop();
      return median(added);
    },
  },
  {
    what: '200 segments through an engine of 50 ms, four at once / the work divided by four',
    most: { 20: 1.15 },
    unit: '×',
    digits: 2,
    async measure(at) {
      // Not in English, for which the content of the sound is checked, too.
      const paragraph = 'Der Kessel ist an und das Brot ist warm in dem alten Haus am Meer.';
      writeFileSync(join(at.work, 'book.txt'), `${paragraph}\n\n`.repeat(SEGMENTS));
      const rate = ['-r', '22050'];
      const speak = at.tts('-q', '-f', 'book.txt', '-o', at.out, ...rate, '--engine', at.address('quick'));
      const values = [];
      for (let round = 0; round < 5; round++)
        values.push((await run(speak, at.withoutService)).milliseconds / 1000);
      return median(values) / ((SEGMENTS * ANSWER_SECONDS) / AT_ONCE);
    },
  },
  {
    what: 'first sound of a model folder (a tiny voice), its process warm',
    most: { 20: 20 },
    unit: 'ms',
    digits: 1,
    async measure(at) {
      const service = await serve(at, ['--engine', await tinyVoice(at.work)]);
      const firsts = [];
      for (let round = 0; round < ROUNDS; round++) firsts.push(await ask(service, 'hello there', 16_000));
      await service.stop();
      return median(firsts);
    },
  },
  {
    what: "first byte of WAV, streamed, through OpenAI's interface / through `POST /tts`",
    most: { 20: 1.1 },
    unit: '×',
    digits: 2,
    async measure(at) {
      const service = await serve(at);
      const ratios = [];
      for (let round = 0; round < ROUNDS; round++) {
        const theirs = await firstByte(`${service.url}/v1/audio/speech`, {
          input: 'hello there',
          voice: 'rms',
          response_format: 'wav',
        });
        const ours = await firstByte(`${service.url}/tts`, {
          text: 'hello there',
          speaker_no: 1,
          config: { use_streaming_response: true },
        });
        ratios.push(theirs / ours);
      }
      await service.stop();
      return median(ratios);
    },
  },
  {
    what: 'a text from the cache of `tts serve --base-url` / a file of the same size from a plain server',
    most: { 20: 3 },
    unit: '×',
    digits: 2,
    async measure(at) {
      const far = await serve(at);
      const near = await serve(at, ['--base-url', far.url], { TTS_API_KEY: 'any', TTS_CACHE: '1' });
      const body = { text: 'The kettle is on, and the bread is warm.', speaker_no: 1 };
      await firstByte(`${near.url}/tts`, body);
      const file = createServer((_, response) => createReadStream(at.out).pipe(response)).listen(0);
      const sound = await fetch(`${near.url}/tts`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
      writeFileSync(at.out, Buffer.from(await sound.arrayBuffer()));
      const plain = `http://127.0.0.1:${file.address().port}/`;
      const ratios = [];
      for (let round = 0; round < ROUNDS; round++)
        ratios.push((await wholeAnswer(`${near.url}/tts`, body)) / (await wholeAnswer(plain, body)));
      file.close();
      await near.stop();
      await far.stop();
      return median(ratios);
    },
  },
];
