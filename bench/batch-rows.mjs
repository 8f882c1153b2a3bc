// Rows of the table of docs/speed.md about `tts batch`.
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { median, pairs, run } from './measure.mjs';

const times = { unit: '×', digits: 2 };

const ROWS = 300;
const AT_ONCE = 16;
/** Seconds that the slow service of server.mjs takes for an answer. */
const ANSWER_SECONDS = 0.2;
const MANY = 10_000;

/** 40 characters. */
const textOf = (row) => `The kettle number ${String(row).padStart(5, '0')} is now very hot.`;
const textsOf = (count) => Array.from({ length: count }, (_, row) => textOf(row));
const tableOf = (count) =>
  `id,text\n${textsOf(count)
    .map((text, row) => `${row},${text}\n`)
    .join('')}`;

/** Writes a table of texts, and returns the command that speaks it into a folder of its own. */
function batchOf(count, { work, tts }) {
  const folder = join(work, `rows-${count}`);
  writeFileSync(join(work, `${count}.csv`), tableOf(count));
  const command = (...args) => tts('batch', '-q', `${count}.csv`, '-o', `${folder}/{id}.wav`, ...args);
  return { folder, command, clear: () => rmSync(folder, { recursive: true, force: true }) };
}

const secondsOf = async (command, env) => (await run(command, { env })).milliseconds / 1000;

export const batchRows = [
  {
    what: '300 rows on a service of 200 ms, 16 at once / the work divided by 16',
    most: { 20: 1.15 },
    ...times,
    async measure(at) {
      const { command, clear } = batchOf(ROWS, at);
      const values = [];
      for (let round = 0; round < 5; round++) {
        clear();
        const service = ['-s', '3', '--base-url', at.address('slow'), '--concurrency', String(AT_ONCE)];
        values.push(await secondsOf(command(...service), at.env));
      }
      return median(values) / ((ROWS * ANSWER_SECONDS) / AT_ONCE);
    },
  },
  {
    what: '300 rows with the built-in voice / one text of the same words',
    most: { 20: 1.3 },
    ...times,
    async measure(at) {
      const { command, clear } = batchOf(ROWS, at);
      const { env } = at.withoutService;
      writeFileSync(join(at.work, 'all.txt'), textsOf(ROWS).join(' '));
      const values = [];
      for (let round = 0; round < 3; round++) {
        clear();
        const rows = await secondsOf(command(), env);
        values.push(rows / (await secondsOf(at.tts('-q', '-f', 'all.txt', '-o', at.out), env)));
      }
      return median(values);
    },
  },
  {
    what: '10,000 unchanged rows / `sha256sum` of the same files',
    most: { 20: 2 },
    ...times,
    async measure(at) {
      const { command, clear, folder } = batchOf(MANY, at);
      clear();
      const again = command('-s', '3', '--base-url', at.address('small'));
      await run(again, { env: at.env });
      const sums = ['sh', '-c', `find '${folder}' -name '*.wav' -print0 | xargs -0 sha256sum`];
      const { ratio } = await pairs(again, sums, { rounds: 5, env: at.env });
      clear();
      return ratio;
    },
  },
];
