import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { Sandbox } from '../support/run.ts';

const ROWS = 250_000;
const MOST_KIB = 400e6 / 1024;

const table = () =>
  `id,text\n${Array.from({ length: ROWS }, (_, row) => `row-${row},This is the text of row ${row}.\n`).join('')}`;

/** Written at the end of the process: the peak of its memory. */
const PRELOAD = `process.on('exit', () => require('node:fs').writeFileSync(process.env.PEAK, require('node:fs').readFileSync('/proc/self/status')))`;

it.runIf(process.platform === 'linux')(
  'A check of 250,000 rows takes less than 400 MB.',
  { timeout: 200_000 },
  async () => {
    const box = new Sandbox();
    box.file('p.csv', table());
    const env = { PEAK: box.path('peak'), NODE_OPTIONS: `--require=${box.file('peak.cjs', PRELOAD)}` };
    const run = await box.tts(['batch', 'p.csv', '--check'], { env, patience: 180_000 });
    expect(run.status).toBe(9);
    // A slow reader gets every line, in order.
    expect(run.stdout.toString('latin1', 0, 60)).toMatch(/^missing: row-0\.wav/);
    expect(run.stdout.toString('latin1', run.stdout.length - 200)).toMatch(
      /row-249998\.wav .*\n.*row-249999\.wav .*\n$/,
    );
    expect(Number(/VmHWM:\s*(\d+)/.exec(readFileSync(box.path('peak'), 'utf8'))?.[1])).toBeLessThan(MOST_KIB);
  },
);
