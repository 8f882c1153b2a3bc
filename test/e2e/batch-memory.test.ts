import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { Sandbox } from '../support/run.ts';

const ROWS = 250_000;
const MOST_KIB = 400e6 / 1024;

const table = () =>
  `id,text\n${Array.from({ length: ROWS }, (_, row) => `row-${row},This is the text of row ${row}.\n`).join('')}`;

/** Written at the end of the process: the peak of its memory. */
const PRELOAD = `process.on('exit', () => require('node:fs').writeFileSync(process.env.PEAK, require('node:fs').readFileSync('/proc/self/status')))`;

it.runIf(process.platform === 'linux').each([
  ['--dry-run', 0],
  ['--check', 9],
])('250,000 rows go through %s in less than 400 MB.', { timeout: 400_000 }, async (option, status) => {
  const box = new Sandbox();
  box.file('p.csv', table());
  const env = { PEAK: box.path('peak'), NODE_OPTIONS: `--require=${box.file('peak.cjs', PRELOAD)}` };
  const run = await box.tts(['batch', 'p.csv', option], { env, patience: 350_000 });
  expect(run.status).toBe(status);
  expect(run.stdout.toString().slice(0, 60)).toMatch(/^250000 rows: 250000 new|^missing: row-0\.wav/);
  // A slow reader gets every line, in order.
  if (option === '--check')
    expect(run.stdout.toString('latin1', run.stdout.length - 200)).toMatch(
      /row-249998\.wav .*\n.*row-249999\.wav .*\n$/,
    );
  expect(Number(/VmHWM:\s*(\d+)/.exec(readFileSync(box.path('peak'), 'utf8'))?.[1])).toBeLessThan(MOST_KIB);
});
