// What `npm run bench` measures: each entry is a row of the table of docs/speed.md. `most` is the aim by major version of
// Node; a version without an entry has the aim of the closest older one.
import { batchRows } from './batch-rows.mjs';
import { bookRows } from './book-rows.mjs';
import { marksRows } from './marks-rows.mjs';
import { latency, median, pairs, run } from './measure.mjs';
import { serveRows } from './serve-rows.mjs';
import { talkRows } from './talk-rows.mjs';
import { voicesRows } from './voices-rows.mjs';

const times = { unit: '×', digits: 2 };
const seconds = { unit: 's', digits: 2 };
const milliseconds = { unit: 'ms', digits: 2 };
const megabytes = { unit: 'MB', digits: 0 };

/** The ratio of the times of two commands, run in turn. */
const ratio = async (a, b, { env }, rounds = 31) => (await pairs(a, b, { rounds, env })).ratio;

/** The median of several measurements, one after another. */
async function medianOf(rounds, measure) {
  const values = [];
  for (let round = 0; round < rounds; round++) values.push(await measure());
  return median(values);
}

const secondsOf = async (command, { env }) => (await run(command, { env })).milliseconds / 1000;

/** Peak memory of a run, in MB. */
const peakOf = async (command, { env }) =>
  ((await run(command, { env, watchMemory: true })).peakKiB * 1024) / 1e6;

/** The median of a figure that compares a stream of tts with one of curl, run in turn. */
async function streams({ speak, curl, env }, figure) {
  return medianOf(9, async () => {
    const ours = await latency(speak('frames', '--stream', '-o', '-'), env);
    return figure(ours, await latency(curl('frames', '-N'), env));
  });
}

/**
 * `measure` gets the commands for one version of Node: `tts(...args)`; `speak(body, ...args)`, which asks the service of
 * server.mjs for a body; `address(body)`, its base URL; `curl(body, ...args)`, which asks the same by curl; and `idle`,
 * which is `node -e 0`. In addition it gets an output file `out`, a folder `work`, and `env`.
 */
export const rows = [
  {
    what: '`--version` / `node -e 0`',
    most: { 20: 1.4, 24: 1.5 },
    ...times,
    measure: (at) => ratio(at.tts('--version'), at.idle, at),
  },
  {
    what: '`--help` / `node -e 0`',
    most: { 20: 1.4, 24: 1.5 },
    ...times,
    measure: (at) => ratio(at.tts('--help'), at.idle, at),
  },
  {
    what: 'one 64 KiB request to a file / `node -e 0`',
    most: { 20: 4, 24: 3.5 },
    ...times,
    measure: (at) => ratio(at.speak('small', '-o', at.out), at.idle, at),
  },
  {
    what: '256 MiB to a file / `curl -o`',
    most: { 20: 1.5 },
    ...times,
    measure: (at) => ratio(at.speak('large', '-o', at.out), at.curl('large', '-o', at.out), at, 21),
  },
  {
    what: '50 MiB in chunks of 16 KiB',
    most: { 20: 1 },
    ...seconds,
    measure: (at) => medianOf(11, () => secondsOf(at.speak('chunked', '-o', at.out), at)),
  },
  {
    what: 'first streamed byte / `curl -N`',
    ...times,
    measure: (at) => streams(at, (ours, theirs) => ours.first / theirs.first),
  },
  {
    what: 'added latency of a frame over `curl -N`, median',
    most: { 20: 0.6 },
    ...milliseconds,
    measure: (at) => streams(at, (ours, theirs) => ours.delay - theirs.delay),
  },
  {
    what: 'peak memory, 256 MiB at once or 50 MiB in chunks',
    most: { 20: 140, 24: 170 },
    ...megabytes,
    async measure(at) {
      const bodies = ['large', 'chunked', 'large', 'chunked', 'large', 'chunked'];
      const peaks = [];
      for (const body of bodies) peaks.push(await peakOf(at.speak(body, '-o', at.out), at));
      return Math.max(...peaks);
    },
  },
  {
    what: '`tts hello -o out.wav`, the built-in voice',
    most: { 20: 0.35 },
    ...seconds,
    measure: (at) => medianOf(15, () => secondsOf(at.tts('hello', '-q', '-o', at.out), at.withoutService)),
  },
  ...batchRows,
  ...serveRows,
  ...bookRows,
  ...voicesRows,
  ...marksRows,
  ...talkRows,
];
