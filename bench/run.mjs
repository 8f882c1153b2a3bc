// `npm run bench`: what the README's table shows, measured here and now. NODE_EXTRA_CA_CERTS is removed from both sides,
// since Node 20 parses every certificate in it at start and the ratios would look better than they are.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { latency, median, pairs, run } from './measure.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const work = mkdtempSync(join(process.env.BENCH_DIR ?? tmpdir(), 'tts-bench-'));
const { NODE_EXTRA_CA_CERTS: _, ...inherited } = process.env;
const env = {
  ...inherited,
  HOME: work,
  XDG_CACHE_HOME: join(work, 'cache'),
  TTS_API_KEY: 'bench-key',
  TTS_CACHE: '0',
};

const server = fork(new URL('server.mjs', import.meta.url), { env });
const [port] = await once(server, 'message');
const address = (what) => `http://127.0.0.1:${port}/${what}`;

const out = join(work, 'out.wav');
const node = [process.execPath, '-e', '0'];
const tts = (...args) => [process.execPath, join(root, 'bin/tts.cjs'), ...args];
const speak = (what, ...args) => tts('hello', '-s', '3', '--base-url', address(what), ...args);
const curl = (what, ...args) => ['curl', '-s', ...args, '-d', '{}', `${address(what)}/tts`];

const rows = [];
const row = (what, result, bound) => {
  rows.push(`| ${what} | ${result} | ${bound} |`);
  console.log(rows.at(-1));
};

const quick = { rounds: 31, env };
const shown = ({ ratio, a, b }) => `${ratio.toFixed(2)} × (${a.toFixed(0)} / ${b.toFixed(0)} ms)`;

try {
  console.log('| what | measured | aim |\n|---|---|---|');
  row('`--version` / `node -e 0`', shown(await pairs(tts('--version'), node, quick)), '1.3');
  row('`--help` / `node -e 0`', shown(await pairs(tts('--help'), node, quick)), '1.3');
  row(
    'one 64 KiB request to a file / `node -e 0`',
    shown(await pairs(speak('small', '-o', out), node, quick)),
    '2.2',
  );
  row(
    'the same / `curl -o`',
    shown(await pairs(speak('small', '-o', out), curl('small', '-o', out), quick)),
    '',
  );
  const large = await pairs(speak('large', '-o', out), curl('large', '-o', out), { rounds: 7, env });
  row('256 MiB to a file / `curl -o`', shown(large), '1.5');
  const chunked = [];
  for (let round = 0; round < 11; round++)
    chunked.push((await run(speak('chunked', '-o', out), { env })).milliseconds);
  row('50 MiB in chunks of 16 KiB', `${(median(chunked) / 1000).toFixed(2)} s`, '2 s');
  const streams = [];
  for (let round = 0; round < 15; round++) {
    const ours = await latency(speak('frames', '--stream', '-o', '-'), env);
    streams.push({ ours, theirs: await latency(curl('frames', '-N'), env) });
  }
  const over = (figure) => median(streams.map(figure));
  const first = {
    ratio: over(({ ours, theirs }) => ours.first / theirs.first),
    a: over(({ ours }) => ours.first),
    b: over(({ theirs }) => theirs.first),
  };
  row('first streamed byte / `curl -N`', shown(first), '3.5');
  const added = over(({ ours, theirs }) => ours.delay - theirs.delay);
  row('added latency of a frame over `curl -N`, median', `${added.toFixed(2)} ms`, '0.3 ms');
  const memory = [];
  for (let round = 0; round < 3; round++)
    memory.push(await run(speak('large', '-o', out), { env, watchMemory: true }));
  const peaks = Math.max(...memory.map(({ peakKiB }) => peakKiB));
  row('peak memory, 256 MiB to a file', `${(peaks / 1024).toFixed(0)} MiB`, '100 MB');
  writeTable();
} finally {
  server.kill();
  rmSync(work, { recursive: true, force: true });
}

function writeTable() {
  const path = join(root, 'README.md');
  const table = ['| what | measured | aim |', '|---|---|---|', ...rows].join('\n');
  const readme = readFileSync(path, 'utf8');
  writeFileSync(
    path,
    readme.replace(
      /(<!-- bench: begin.*?-->\n).*?(<!-- bench: end -->)/s,
      (_, begin, end) => `${begin}${table}\n${end}`,
    ),
  );
}
