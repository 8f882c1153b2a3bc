// `node bench/service.mjs` measures how fast `tts serve` speaks, as a process of its own that is asked over HTTP.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { request } from 'node:http';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { median } from './measure.mjs';

const bin = fileURLToPath(new URL('../bin/tts.cjs', import.meta.url));
const cores = availableParallelism();

const HEADER_BYTES = 44;
const BYTES_PER_SECOND = 2 * 22_050;

const SHORT = 'The kettle is on, and the bread is warm.';
const LONG =
  'Nobody in the village could remember a winter in which the river had been frozen for so many weeks, ' +
  'and yet the ferryman went down to the landing every morning to look at the ice. ';
const PAGES = LONG.repeat(10);

/** Starts a service, and resolves when it listens. */
async function serve(...options) {
  const child = spawn(process.execPath, [bin, 'serve', '--port=0', '--json', '--no-auth', ...options], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = await once(child.stdout, 'data');
  const { url } = JSON.parse(line);
  return {
    url,
    async stop() {
      child.kill();
      await once(child, 'close');
    },
  };
}

/** @returns milliseconds until the first and the last sample arrived, and the seconds of audio */
async function speak({ url }, text, streamed = false) {
  const begun = performance.now();
  const asked = request(`${url}/tts`, { method: 'POST', headers: { 'content-type': 'application/json' } });
  asked.end(JSON.stringify({ text, speaker_no: 1, config: { use_streaming_response: streamed } }));
  const [response] = await once(asked, 'response');
  if (response.statusCode !== 200) throw new Error(`status ${response.statusCode}`);
  let bytes = 0;
  let first;
  for await (const piece of response) {
    bytes += piece.length;
    if (bytes > HEADER_BYTES) first ??= performance.now() - begun;
  }
  return { first, last: performance.now() - begun, seconds: (bytes - HEADER_BYTES) / BYTES_PER_SECOND };
}

/** Seconds of audio per second of time, with this many concurrent requests. */
async function throughput(service, requests) {
  const begun = performance.now();
  const spoken = await Promise.all(Array.from({ length: requests }, () => speak(service, PAGES)));
  const passed = (performance.now() - begun) / 1000;
  return spoken.reduce((sum, { seconds }) => sum + seconds, 0) / passed;
}

async function medianOf(rounds, measure) {
  const values = [];
  for (let round = 0; round < rounds; round++) values.push(await measure());
  return median(values);
}

async function firstAtStart() {
  const begun = performance.now();
  const service = await serve();
  const listening = performance.now() - begun;
  const { first } = await speak(service, SHORT, true);
  await service.stop();
  return listening + first;
}

const row = (what, measured, aim = '') => console.log(`| ${what} | ${measured} | ${aim} |`);
const times = (factor) => `${factor.toFixed(0)} × real time`;
const milliseconds = (value) => `${value.toFixed(0)} ms`;

async function benchOneWorker() {
  const service = await serve('--workers=1');
  await speak(service, PAGES);
  row('one request, one worker', times(await medianOf(5, () => throughput(service, 1))), times(60));
  await service.stop();
}

async function benchAllWorkers() {
  const service = await serve();
  await throughput(service, cores);
  row(`one request, ${cores} workers`, times(await medianOf(5, () => throughput(service, 1))));
  row(
    `${cores} requests at once, ${cores} workers`,
    times(await medianOf(5, () => throughput(service, cores))),
    times(60 * cores),
  );
  const first = (text) => medianOf(31, async () => (await speak(service, text, true)).first);
  row('first audio of a stream, short sentence, warm', milliseconds(await first(SHORT)), '60 ms');
  row('first audio of a stream, long sentence, warm', milliseconds(await first(LONG)), '60 ms');
  await service.stop();
}

console.log('| what | measured | aim |\n|---|---|---|');
await benchOneWorker();
await benchAllWorkers();
row('first audio of a stream, from the start of the process', milliseconds(await medianOf(5, firstAtStart)));
