import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

/**
 * Compares four ways to speak one text: one curl for all of it, a shell loop with a curl per sentence, and tts, complete and
 * streamed. The server is as fast as a good one: 193 ms to the first byte, then 23.8 times real time. The ways take turns
 * for `--rounds` rounds; the medians are printed.
 */
const { rounds: given, sentences: wanted } = parseArgs({
  options: {
    rounds: { type: 'string', default: '3' },
    sentences: { type: 'string', default: '40' },
  },
}).values;
const rounds = Number(given);
const count = Number(wanted);
const tts = fileURLToPath(new URL('../bin/tts.cjs', import.meta.url));

const sentences = Array.from(
  { length: count },
  (_, number) => `This is sentence number ${number}, of a length as most of them have.`,
);

const server = spawn(process.execPath, [fileURLToPath(new URL('text-server.mjs', import.meta.url))], {
  stdio: ['ignore', 'pipe', 'inherit'],
});
const [url] = await once(createInterface(server.stdout), 'line');

const env = {
  ...process.env,
  URL: url,
  TTS_BASE_URL: url,
  TTS_API_KEY: 'key-of-the-bench',
  TTS_SPEAKER: '1',
  TTS_CACHE: '0',
};
const body = (text) => JSON.stringify({ text, speaker_no: 1, config: { use_streaming_response: true } });
const curl = `curl -sN -H 'X-API-KEY: k' -H 'Content-Type: application/json' -d @- "$URL/tts"`;

const ways = [
  { name: 'curl, all of the text', command: curl, stdin: body(sentences.join(' ')) },
  {
    name: 'curl for each sentence',
    command: `while read -r body; do printf %s "$body" | ${curl}; done`,
    stdin: `${sentences.map(body).join('\n')}\n`,
  },
  { name: 'tts', command: `exec "${process.execPath}" "${tts}"`, stdin: sentences.join(' ') },
  {
    name: 'tts --stream',
    command: `exec "${process.execPath}" "${tts}" --stream`,
    stdin: sentences.join(' '),
  },
];

/** Milliseconds from the start to the first sample (after the WAV header), and to the end. */
async function time({ command, stdin }) {
  const begun = performance.now();
  const child = spawn('bash', ['-c', command], { env, stdio: ['pipe', 'pipe', 'inherit'] });
  let first;
  let bytes = 0;
  child.stdout.on('data', (piece) => {
    bytes += piece.length;
    if (bytes > 44) first ??= performance.now() - begun;
  });
  child.stdin.end(stdin);
  const [status] = await once(child, 'close');
  if (status !== 0) throw new Error(`status ${status}: ${command}`);
  return { first, last: performance.now() - begun };
}

function median(numbers) {
  return numbers.toSorted((a, b) => a - b)[numbers.length >> 1];
}

const times = ways.map(() => []);
try {
  for (let round = 0; round < rounds; round++)
    for (const [i, way] of ways.entries()) times[i].push(await time(way));
} finally {
  server.kill();
}

const seconds = (milliseconds) => `${(milliseconds / 1000).toFixed(2)} s`.padStart(9);
console.log(`${count} sentences, ${sentences.join(' ').length} characters, median of ${rounds}`);
console.log(`${''.padEnd(24)}  first audio  last byte`);
for (const [i, { name }] of ways.entries()) {
  const first = median(times[i].map((time) => time.first));
  const last = median(times[i].map((time) => time.last));
  console.log(`${name.padEnd(24)}    ${seconds(first)}  ${seconds(last)}`);
}
